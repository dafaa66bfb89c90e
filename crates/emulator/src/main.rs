//! The testbed's router in user space between TUN devices in network namespaces, and
//! the driver of the flows that cross it.
//!
//! `forebay-emulator run PLAN.json` runs a plan in real time. It writes events as JSON
//! lines to standard output, and the readings to the file that the plan names.

#[cfg(not(target_os = "linux"))]
compile_error!("forebay-emulator needs Linux: its network namespaces and TUN devices");

mod clock;
mod drive;
mod event;
mod failure;
mod namespace;
mod plan;
mod result;
mod router;
mod run;
mod stop;
mod sys;

use failure::Failure;
use std::process::ExitCode;
use stop::Stop;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match words[..] {
        ["run", path] => Stop::listen().and_then(|stop| run::run(path, &stop)),
        ["--version"] => {
            println!("forebay-emulator {}", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        _ => Err(Failure::Usage),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            event::failed(&failure);
            ExitCode::from(failure.exit_status())
        }
    }
}
