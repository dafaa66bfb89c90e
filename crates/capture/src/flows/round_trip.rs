//! Round-trip times of a flow: from its handshake, from timestamps, from acknowledgements.
//!
//! A probe is a value that the far end returns: a TSval (RFC 7323, section 4), or if
//! there are no timestamps the end of a segment. A flow has one probe at a time, so a
//! flow gives about one sample in each round trip at any rate.

use super::holes::before;

/// An unknown time.
pub const UNKNOWN: u32 = u32::MAX;

/// Spreads times over their top bits (Fibonacci hashing: Knuth, volume 3, section 6.4).
const SPREAD: u32 = 0x9e37_79b1;

/// State of the round-trip measurement of one direction of a connection.
#[derive(Clone, Copy)]
pub struct RoundTrip {
    probe: u32,
    probe_us: u32,
    /// From the capture to this direction's receiver and back.
    pub half_us: u32,
    /// Time of the SYN; after the handshake, time of its last ACK, if it has timestamps.
    pub mark_us: u32,
    /// From the SYN to the ACK that ends the handshake.
    pub handshake_us: u32,
    /// The latest complete round trip.
    pub latest_us: u32,
    /// The minimum complete round trip.
    pub least_us: u32,
    /// TSval of the SYN, and what the ACK that ends the handshake echoes.
    pub bases: (u32, u32),
    weighed: u32,
    last_value: u32,
}

impl Default for RoundTrip {
    fn default() -> Self {
        Self {
            probe: 0,
            probe_us: UNKNOWN,
            half_us: UNKNOWN,
            mark_us: UNKNOWN,
            handshake_us: UNKNOWN,
            latest_us: UNKNOWN,
            least_us: UNKNOWN,
            bases: (0, 0),
            weighed: 0,
            last_value: 0,
        }
    }
}

/// Wrapping microseconds, never equal to `UNKNOWN`.
pub fn clock(after_ns: u64) -> u32 {
    ((after_ns / 1000) as u32).min(UNKNOWN - 1)
}

/// A pseudo-random number below `bound`, from a time.
pub fn drawn(at_us: u32, bound: u16) -> u16 {
    (at_us.wrapping_mul(SPREAD) >> 16) as u16 % bound.max(1)
}

impl RoundTrip {
    /// Whether there is no current probe.
    pub fn is_free(&self) -> bool {
        self.probe_us == UNKNOWN
    }

    /// Records a value that is not a probe.
    pub fn pass(&mut self, value: u32) {
        self.last_value = value;
    }

    /// Starts a probe with `value` unless there is one; a TSval must be new.
    pub fn probe(&mut self, value: u32, now_us: u32) {
        if self.probe_us == UNKNOWN && value != self.last_value {
            (self.probe, self.probe_us) = (value, now_us);
        }
        self.last_value = value;
    }

    /// Discards the probe, because its segment was sent again (Karn; RFC 6298, section 3).
    pub fn forget(&mut self) {
        self.probe_us = UNKNOWN;
    }

    /// The far end has returned `value`. A timestamp after the probe's answers a later segment:
    /// the probe was not the first segment of an ACK, or caused no data, and gives no round trip.
    pub fn answered(&mut self, value: u32, stamped: bool, now_us: u32) -> bool {
        if self.probe_us == UNKNOWN || before(value, self.probe) {
            return false;
        }
        if stamped && value != self.probe {
            self.forget();
            return false;
        }
        self.half_us = now_us.wrapping_sub(self.probe_us);
        self.probe_us = UNKNOWN;
        true
    }

    /// Records a complete round trip.
    pub fn sample(&mut self, us: u32) {
        self.latest_us = us;
        self.least_us = self.least_us.min(us);
    }

    /// The time since the SYN, once a handshake with timestamps has ended.
    pub fn since_syn(&self, now_us: u32) -> Option<u32> {
        let known = self.handshake_us != UNKNOWN && self.mark_us != UNKNOWN;
        known.then(|| now_us.wrapping_sub(self.mark_us).wrapping_add(self.handshake_us))
    }

    /// The count at the last sample, plus some more.
    pub fn more(&self, weight: u32) -> u32 {
        self.weighed.saturating_add(weight)
    }

    /// The count since the last sample, from the total.
    pub fn weight(&mut self, all: u32) -> u64 {
        let since = all.saturating_sub(self.weighed);
        self.weighed = all;
        u64::from(since)
    }

    /// Resets the state of a connection with one direction, because the other direction was seen.
    pub fn meet(&mut self) {
        if self.handshake_us != UNKNOWN {
            self.half_us = UNKNOWN;
            self.forget();
        }
    }

    /// Handles the end of the handshake: the ACK of the SYN-ACK.
    pub fn shake(&mut self, echo: Option<u32>, now_us: u32) {
        self.forget();
        self.handshake_us = now_us.wrapping_sub(self.mark_us);
        self.mark_us = UNKNOWN;
        self.sample(self.handshake_us);
        if let Some(echo) = echo {
            (self.bases.1, self.mark_us) = (echo, now_us);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_timestamp_answers_a_later_segment_and_tells_no_round_trip() {
        let mut trip = RoundTrip::default();
        trip.probe(10, 1_000);
        assert!(!trip.answered(9, true, 1_500), "an earlier segment's");
        assert!(trip.answered(10, true, 2_000));
        assert_eq!(trip.half_us, 1_000);
        trip.probe(20, 3_000);
        assert!(!trip.answered(21, true, 9_000), "it waited for a timer, or another ACK");
        assert_eq!(trip.half_us, 1_000);
        trip.probe(22, 10_000);
        assert!(trip.answered(22, true, 10_700), "the next one is watched");
    }

    #[test]
    fn an_ack_number_answers_all_that_is_before_it() {
        let mut trip = RoundTrip::default();
        trip.probe(1_448, 0);
        assert!(trip.answered(2_896, false, 400), "an ACK for two segments");
    }
}
