//! Drops that a stall of the machine may have caused.
//!
//! While the router does not run, senders and ACKs wait; then all come at once. A stall that lets a good part of a
//! buffer's worth of packets wait can fill the buffer, and its bursts return with their ACKs a round trip later.

use crate::plan::Plan;
use forebay_sim::time::{MICROSECOND, Picos, serialization};

/// Stalls in the time that the shortest buffer drains in, of which one is counted.
const IN_A_DRAIN: Picos = 4;
/// Shorter stalls are not counted: every wake-up is late by some microseconds.
pub const LEAST_STALL: Picos = 100 * MICROSECOND;

/// Counts drops within a round trip and a drain time after a stall.
pub struct StallDrops {
    /// A stall of this length counts.
    least: Picos,
    /// How long its effect lasts.
    lasts: Picos,
    until: Picos,
    drops: u64,
}

impl StallDrops {
    /// For a plan.
    pub fn new(plan: &Plan) -> Self {
        let drain = shortest_drain(plan);
        let rtt = plan.flows.rtt_ps.iter().copied().max().unwrap_or(0);
        let least = (drain / IN_A_DRAIN).max(LEAST_STALL);
        Self { least, lasts: drain.saturating_add(rtt), until: 0, drops: 0 }
    }

    /// A thread of the router ran at `now`, so much later than it should have.
    #[inline]
    pub fn ran_late(&mut self, now: Picos, late: Picos) {
        if late >= self.least {
            self.until = self.until.max(now.saturating_add(self.lasts));
        }
    }

    /// A data packet is dropped at `now`, in the window.
    pub fn dropped(&mut self, now: Picos) {
        self.drops += u64::from(now < self.until);
    }

    /// Drops after stalls so far.
    pub fn drops(&self) -> u64 {
        self.drops
    }
}

/// Time in which the shortest buffer of all links drains.
pub fn shortest_drain(plan: &Plan) -> Picos {
    let drains = plan.links.iter().map(|link| {
        let packet = serialization(link.packet_bytes, link.rate_bps);
        packet.saturating_mul(link.buffer_packets.into())
    });
    drains.min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{link, plan};
    use super::*;
    use serde_json::json;

    /// 40 packets of 120 µs: 4.8 ms; the longer round trip is 30 ms.
    fn drops() -> StallDrops {
        let mut plan = plan(vec![link(40), link(80)], &[(&[0], &[]), (&[0, 1], &[])]);
        plan["flows"]["rtt_ps"] = json!([20_000 * MICROSECOND, 30_000 * MICROSECOND]);
        StallDrops::new(&serde_json::from_value(plan).unwrap())
    }

    fn counted(late_us: Picos, dropped_at_us: Picos) -> u64 {
        let mut drops = drops();
        drops.ran_late(100 * MICROSECOND, late_us * MICROSECOND);
        drops.dropped(dropped_at_us * MICROSECOND);
        drops.drops()
    }

    #[test]
    fn of_a_stall_of_a_quarter_of_the_drain_time() {
        assert_eq!([1_199, 1_200, 5_000].map(|late| counted(late, 200)), [0, 1, 1]);
    }

    #[test]
    fn for_a_round_trip_and_a_drain_time() {
        assert_eq!([34_899, 34_900].map(|at| counted(2_000, at)), [1, 0]);
    }

    #[test]
    fn a_shorter_stall_does_not_end_a_longer_ones_effect() {
        let mut drops = drops();
        drops.ran_late(50 * MICROSECOND, 2_000 * MICROSECOND);
        drops.ran_late(60 * MICROSECOND, 10 * MICROSECOND);
        drops.dropped(70 * MICROSECOND);
        assert_eq!(drops.drops(), 1);
    }
}
