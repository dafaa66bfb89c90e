//! A timer whose event stays in the event queue when the timer is put off.

use crate::time::{NEVER, Picos};

/// When the event of a timer is due. An event is never taken out of the event queue: one that has been
/// replaced by an earlier one fires in vain, and one that fires too early is scheduled again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventTimer(Picos);

impl Default for EventTimer {
    fn default() -> Self {
        Self(NEVER)
    }
}

impl EventTimer {
    /// An event is scheduled.
    #[inline(always)]
    pub(crate) fn is_armed(self) -> bool {
        self.0 != NEVER
    }

    /// The scheduled event comes no later than `at`.
    #[inline(always)]
    pub(crate) fn fires_by(self, at: Picos) -> bool {
        self.0 <= at
    }

    /// An event at `at` is needed: true if it has to be scheduled.
    #[inline(always)]
    pub(crate) fn arm(&mut self, at: Picos) -> bool {
        let earlier = at < self.0;
        if earlier {
            self.0 = at;
        }
        earlier
    }

    /// An event fires: true if it is the one that is waited for, which then is no longer.
    #[inline(always)]
    pub(crate) fn fire(&mut self, now: Picos) -> bool {
        let due = self.0 == now;
        if due {
            self.0 = NEVER;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_earliest_event_counts() {
        let mut timer = EventTimer::default();
        assert!(!timer.is_armed() && !timer.fire(5));
        assert!(timer.arm(20) && timer.arm(10), "an earlier one replaces a later one");
        assert!(!timer.arm(10) && !timer.arm(15), "it comes early enough");
        assert!(timer.fires_by(10) && !timer.fires_by(9));
        assert!(timer.fire(10) && !timer.is_armed());
        assert!(!timer.fire(20), "the event that was replaced");
    }
}
