//! When a wire that serves a first-in-first-out queue runs empty.

use crate::queue::parameters::Wire;
use crate::time::Picos;

/// Follows the work that was accepted, so that the queue is known between two arrivals.
#[derive(Clone, Debug)]
pub(super) struct BusyUntil {
    wire: Wire,
    busy_until: Picos,
}

impl BusyUntil {
    pub fn new(wire: &Wire) -> Self {
        Self { wire: *wire, busy_until: 0 }
    }

    /// An arrival at `now` found `delay` in front of it: what we know is corrected by what is.
    #[inline]
    pub fn observe(&mut self, now: Picos, delay: Picos) {
        self.busy_until = if delay > 0 { now + delay } else { self.busy_until.min(now) };
    }

    /// The arrival just observed was accepted.
    #[inline]
    pub fn accept(&mut self, now: Picos, bytes: u32) {
        self.busy_until = self.busy_until.max(now) + self.serialization(bytes);
    }

    /// The delay that a packet would have met at `time`, had nothing come since the last arrival.
    #[inline]
    pub fn delay(&self, time: Picos) -> Picos {
        self.busy_until.saturating_sub(time)
    }

    /// For how long the wire has been idle at `now`.
    #[inline]
    pub fn idle(&self, now: Picos) -> Picos {
        now.saturating_sub(self.busy_until)
    }

    pub fn serialization(&self, bytes: u32) -> Picos {
        self.wire.serialization(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testbench::WIRE;

    #[test]
    fn it_knows_the_queue_between_arrivals() {
        let mut busy_until = BusyUntil::new(&Wire { rate_bps: 8e12, ..WIRE }); // A byte a picosecond.
        busy_until.observe(100, 0);
        busy_until.accept(100, 50);
        assert_eq!(
            (busy_until.delay(100), busy_until.delay(120), busy_until.delay(200)),
            (50, 30, 0)
        );
        assert_eq!((busy_until.idle(149), busy_until.idle(190)), (0, 40));
        busy_until.observe(140, 10);
        busy_until.accept(140, 50);
        assert_eq!(busy_until.delay(140), 60);
        // Somebody else dropped that: the wire is idle.
        busy_until.observe(150, 0);
        assert_eq!((busy_until.delay(150), busy_until.idle(155)), (0, 5));
    }
}
