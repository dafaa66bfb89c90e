//! For how long a wire is busy, and for how long idle, at a stretch.

use super::histogram::Histogram;
use crate::time::Picos;

/// Stretches of one kind.
#[derive(Clone, Default)]
pub struct PeriodStats {
    /// Their lengths.
    pub lengths: Histogram,
    /// Sum of the lengths, exact.
    pub total: Picos,
}

impl PeriodStats {
    fn record(&mut self, length: Picos) {
        if length > 0 {
            self.lengths.record(length);
            self.total += length;
        }
    }
}

/// Busy and idle periods in turn. A wire never rests while it has work: only the ends of idle
/// periods need to be told, with the time since when the wire was free.
///
/// A period that reaches beyond an end of the window counts with its part inside.
#[derive(Clone)]
pub struct Periods {
    begun: Picos,
    /// The wire was sending.
    pub busy: PeriodStats,
    /// It was not.
    pub idle: PeriodStats,
}

impl Periods {
    /// The window begins at `now`.
    pub(super) fn new(now: Picos) -> Self {
        Self { begun: now, busy: PeriodStats::default(), idle: PeriodStats::default() }
    }

    /// The wire, free since `free_at`, takes more work at `now`.
    pub(super) fn wake(&mut self, now: Picos, free_at: Picos) {
        let idle_from = free_at.max(self.begun);
        if idle_from < now {
            self.busy.record(idle_from - self.begun);
            self.idle.record(now - idle_from);
            self.begun = now;
        }
    }

    /// The window ends at `now`; the wire is free, or will be, from `free_at` on.
    pub(super) fn end(&mut self, now: Picos, free_at: Picos) {
        let idle_from = free_at.clamp(self.begun, now);
        self.busy.record(idle_from - self.begun);
        self.idle.record(now - idle_from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_lasts_while_there_is_work() {
        let mut periods = Periods::new(100);
        periods.wake(110, 70); // idle from 100 to 110
        periods.wake(130, 125); // busy from 110 to 125, idle to 130
        periods.wake(140, 140); // work of 10 until 140: no gap
        periods.end(160, 215); // busy from 130 on
        assert_eq!((periods.busy.total, periods.idle.total), (45, 15));
        assert_eq!(periods.busy.lengths.counts().iter().sum::<u64>(), 2);
        assert_eq!(periods.idle.lengths.counts().iter().sum::<u64>(), 2);
    }

    #[test]
    fn a_window_that_begins_in_a_busy_period_has_its_part() {
        let mut periods = Periods::new(100); // with work for 20 to be done
        periods.wake(150, 120);
        periods.end(151, 151);
        assert_eq!((periods.busy.total, periods.idle.total), (21, 30));
    }
}
