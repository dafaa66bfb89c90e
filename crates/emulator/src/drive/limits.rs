//! Namespaces and priority of threads, and the process's limit of open files.

use super::drive_plan::{DrivePlan, Source};
use crate::failure::Failure;
use crate::namespace;
use crate::sys;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::Path;

/// Descriptors that do not belong to flows.
const OTHERS: u64 = 256;
/// Minimum number of concurrent flows that end for which there must be descriptors.
const AT_A_TIME: u64 = 1000;

/// Below the router's, because a late packet is worse than a late reading.
const PRIORITY: i32 = 5;

/// Moves this thread into the network namespace at `path`, with real-time priority: on a
/// busy machine a sink may otherwise wait up to half a second, which adds to completion times. An
/// empty path changes neither.
pub(super) fn enter(path: &Path) -> Result<(), Failure> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    // If refused, other work of the machine affects completion times; the router reports this.
    let _ = sys::be_real_time(PRIORITY);
    namespace::enter(path)
}

/// Lets the process open a descriptor for each end of each flow.
pub(super) fn raise_open_files(drive_plan: &DrivePlan) -> Result<(), Failure> {
    let (need, want) = descriptors(drive_plan);
    let now = getrlimit(Resource::Nofile);
    let most = now.maximum.unwrap_or(u64::MAX);
    if now.current.is_none_or(|current| current >= want) {
        return Ok(());
    }
    let raise = |current, maximum| {
        let (current, maximum) = (Some(current), Some(maximum));
        setrlimit(Resource::Nofile, Rlimit { current, maximum })
    };
    if raise(want, most.max(want)).is_ok() {
        return Ok(());
    }
    let reached = raise(most.min(want), most);
    if reached.is_ok() && most >= need {
        return Ok(());
    }
    let what = format!("{need} open files, where {most} are allowed");
    let error = reached.err().unwrap_or(rustix::io::Errno::MFILE);
    let hint = "run as root, raise `ulimit -Hn` and fs.nr_open, or write fewer flows";
    Err(Failure::Kernel(what, error.into(), hint))
}

/// Descriptors that are required, and the maximum that may be used.
fn descriptors(drive_plan: &DrivePlan) -> (u64, u64) {
    let count = |which: fn(&Source) -> bool| {
        drive_plan.flows.iter().filter(|flow| which(&flow.source)).count() as u64
    };
    let endless = 2 * count(|source| matches!(source, Source::Endless));
    // A user has two connections if the next one is made in advance.
    let always = endless + 4 * count(|source| matches!(source, Source::Files(..)));
    let once = count(|source| matches!(source, Source::Once(_)));
    let always = always + count(|source| matches!(source, Source::Packets(..))) + OTHERS;
    (always + 2 * once.min(AT_A_TIME), always + 2 * once)
}
