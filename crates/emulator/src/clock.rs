//! The run's clock: integer picoseconds since its start, as in the simulator.

use forebay_sim::time::Picos;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

const PICOS_PER_NANO: Picos = 1_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Monotonic time since the start of the run; copies read the same time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// CLOCK_MONOTONIC at the start, in nanoseconds, for other processes with the same clock.
    pub began: u64,
}

impl Clock {
    /// The run begins now.
    pub fn start() -> Self {
        Self { began: monotonic() }
    }

    /// Time since the run began.
    #[inline]
    pub fn now_ps(self) -> Picos {
        (monotonic() - self.began) * PICOS_PER_NANO
    }

    /// Sleeps until `at`, or until a signal arrives.
    pub fn sleep_until(self, at: Picos) {
        let nanos = self.began + at.div_ceil(PICOS_PER_NANO);
        let (tv_sec, tv_nsec) = (nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND);
        let until = Timespec { tv_sec: tv_sec as i64, tv_nsec: tv_nsec as i64 };
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &until);
    }

    /// Time from now to `at`; zero once it is past.
    pub fn until(self, at: Picos) -> Duration {
        Duration::from_nanos(at.saturating_sub(self.now_ps()).div_ceil(PICOS_PER_NANO))
    }
}

fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NANOS_PER_SECOND + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_never_ends_before_its_time() {
        let clock = Clock::start();
        let at = clock.now_ps() + 3_000_001;
        std::thread::sleep(clock.until(at));
        assert!(clock.now_ps() >= at);
        assert_eq!(clock.until(at), Duration::ZERO);
        let at = at + 2_000_001;
        clock.sleep_until(at);
        assert!(clock.now_ps() >= at);
    }
}
