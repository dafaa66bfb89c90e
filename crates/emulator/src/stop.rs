//! Early end of a run: by a signal, or by the end of standard input, when the parent has
//! ended.

use crate::failure::Failure;
use rustix::process::{Signal, set_parent_process_death_signal};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Signals that end a run.
pub struct Stop {
    /// The signal received; 0 if none.
    signal: Arc<AtomicUsize>,
    /// Whether standard input has ended.
    orphaned: Arc<AtomicBool>,
}

impl Stop {
    /// Listens from now on.
    pub fn listen() -> Result<Self, Failure> {
        let refused = |error: io::Error| {
            let hint = "this is a defect of forebay-emulator; please report it";
            Failure::Kernel("listening for signals".into(), error, hint)
        };
        let stop = Self { signal: Arc::default(), orphaned: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_usize(signal, stop.signal.clone(), signal as usize)
                .map_err(refused)?;
        }
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|error| refused(error.into()))?;
        let orphaned = stop.orphaned.clone();
        thread::spawn(move || {
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            orphaned.store(true, Ordering::Relaxed);
        });
        Ok(stop)
    }

    /// Whether to stop.
    pub fn asked(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0 || self.orphaned.load(Ordering::Relaxed)
    }

    /// The reason.
    pub fn failure(&self) -> Failure {
        Failure::Stopped(self.signal.load(Ordering::Relaxed) as i32)
    }
}
