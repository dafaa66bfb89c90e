//! For how long a wire is busy, and for how long idle, at a stretch.

use super::histogram::Histogram;
use crate::time::Picos;

/// Stretches of one kind.
#[derive(Clone, Default)]
pub struct Stretches {
    /// Their lengths.
    pub lengths: Histogram,
    /// Sum of the lengths, exact.
    pub total: Picos,
}

impl Stretches {
    fn record(&mut self, length: Picos) {
        if length > 0 {
            self.lengths.record(length);
            self.total += length;
        }
    }
}

/// Busy and idle periods in turn. A wire never rests while it has work, so that the work accepted
/// since a busy period began says when it ended: only the ends of idle periods need to be told.
///
/// A period that reaches beyond an end of the window counts with its part inside.
#[derive(Clone)]
pub struct Periods {
    begun: Picos,
    accepted_before: u128,
    /// The wire was sending.
    pub busy: Stretches,
    /// It was not.
    pub idle: Stretches,
}

impl Periods {
    /// The window begins at `now`; `sent` is the work done before it.
    pub(super) fn new(now: Picos, sent: u128) -> Self {
        let (busy, idle) = (Stretches::default(), Stretches::default());
        Self { begun: now, accepted_before: sent, busy, idle }
    }

    /// The wire is free at `now` and takes more work; `accepted` is all work before that.
    pub(super) fn wake(&mut self, now: Picos, accepted: u128) {
        let idle_from = self.idle_from(accepted);
        if idle_from < now {
            self.busy.record(idle_from - self.begun);
            self.idle.record(now - idle_from);
            (self.begun, self.accepted_before) = (now, accepted);
        }
    }

    /// The window ends at `now`.
    pub(super) fn end(&mut self, now: Picos, accepted: u128) {
        let idle_from = self.idle_from(accepted).min(now);
        self.busy.record(idle_from - self.begun);
        self.idle.record(now - idle_from);
    }

    fn idle_from(&self, accepted: u128) -> Picos {
        self.begun + (accepted - self.accepted_before) as Picos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_lasts_as_long_as_its_work() {
        let mut periods = Periods::new(100, 0);
        periods.wake(110, 0); // idle from 100 to 110
        periods.wake(130, 15); // busy from 110 to 125, idle to 130
        periods.wake(140, 25); // work of 10 until 140: no gap
        periods.end(160, 100); // busy from 130 on
        assert_eq!((periods.busy.total, periods.idle.total), (45, 15));
        assert_eq!(periods.busy.lengths.counts().iter().sum::<u64>(), 2);
        assert_eq!(periods.idle.lengths.counts().iter().sum::<u64>(), 2);
    }

    #[test]
    fn a_window_that_begins_in_a_busy_period_has_its_part() {
        let mut periods = Periods::new(100, 70); // 20 of the 90 accepted are still to be done
        periods.wake(150, 90);
        periods.end(151, 91);
        assert_eq!((periods.busy.total, periods.idle.total), (21, 30));
    }
}
