//! CPU time of a thread in the measured window.

use forebay_sim::time::{Picos, SECOND};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU time of the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTime {
    before: Duration,
    taken: Duration,
}

impl CpuTime {
    /// The window begins.
    pub fn begin(&mut self) {
        self.before = now();
    }

    /// The window is over.
    pub fn end(&mut self) {
        self.taken = now().saturating_sub(self.before);
    }

    /// Share of a core.
    pub fn share(&self, window: Picos) -> f64 {
        self.taken.as_secs_f64() / (window as f64 / SECOND as f64)
    }
}

fn now() -> Duration {
    let taken = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(taken.tv_sec as u64, taken.tv_nsec as u32)
}
