//! Round-trip times of a flow: from its handshake, from timestamps, from acknowledgements.
//!
//! A probe is a value that the far end will send back: a TSval (RFC 7323, section 4), or where
//! there are no timestamps the end of a segment. One probe a flow is under way at a time, so a
//! flow gives about a sample a round trip whatever its rate.

use super::holes::before;

/// No time is known.
pub const UNKNOWN: u32 = u32::MAX;

/// Clocks that senders of timestamps have, in microseconds a tick (RFC 7323, section 5.4: 1 ms to
/// 1 s; Linux has 1 ms, and 1 µs by choice).
const TICKS_US: [f64; 6] = [1.0, 1e3, 2e3, 4e3, 1e4, 1e5];
/// Before this a clock's rate cannot be told.
const SETTLED_US: u32 = 2_000_000;
/// After this two clocks that run a ten-thousandth apart differ by 6 ms.
const DRIFTED_US: u32 = 60_000_000;

/// What one direction of a connection knows of its round trip.
#[derive(Clone, Copy)]
pub struct RoundTrip {
    probe: u32,
    probe_us: u32,
    /// From the capture to this direction's receiver and back.
    pub half_us: u32,
    /// When the SYN went by; after the handshake, when its last ACK did, if it has timestamps.
    pub mark_us: u32,
    /// From the SYN to the ACK that ends the handshake.
    pub handshake_us: u32,
    /// The latest whole round trip.
    pub latest_us: u32,
    /// The least whole round trip.
    pub least_us: u32,
    base_echo: u32,
    weighed: u32,
    last_value: u32,
    last_echo: u32,
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
            base_echo: 0,
            weighed: 0,
            last_value: 0,
            last_echo: 0,
        }
    }
}

/// Microseconds that wrap, never the value that means none.
pub fn clock(after_ns: u64) -> u32 {
    ((after_ns / 1000) as u32).min(UNKNOWN - 1)
}

impl RoundTrip {
    /// Sends `value` on its way unless one is under way; a TSval must be new.
    pub fn probe(&mut self, value: u32, now_us: u32) {
        if self.probe_us == UNKNOWN && value != self.last_value {
            (self.probe, self.probe_us) = (value, now_us);
        }
        self.last_value = value;
    }

    /// Gives the probe up: what it measures is a retransmission (Karn; RFC 6298, section 3).
    pub fn forget(&mut self) {
        self.probe_us = UNKNOWN;
    }

    /// The far end has sent `value` back.
    pub fn answered(&mut self, value: u32, now_us: u32) -> bool {
        if self.probe_us == UNKNOWN || before(value, self.probe) {
            return false;
        }
        self.half_us = now_us.wrapping_sub(self.probe_us);
        self.probe_us = UNKNOWN;
        true
    }

    /// A whole round trip was seen.
    pub fn sample(&mut self, us: u32) {
        self.latest_us = us;
        self.least_us = self.least_us.min(us);
    }

    /// What has come since the last sample, now that there have been so many in all.
    pub fn weight(&mut self, all: u32) -> u64 {
        let since = all.saturating_sub(self.weighed);
        self.weighed = all;
        u64::from(since)
    }

    /// The handshake is over: the ACK for the SYN-ACK goes by.
    pub fn shake(&mut self, echo: Option<u32>, now_us: u32) {
        self.handshake_us = now_us.wrapping_sub(self.mark_us);
        self.mark_us = UNKNOWN;
        self.sample(self.handshake_us);
        if let Some(echo) = echo {
            (self.base_echo, self.mark_us, self.last_echo) = (echo, now_us, echo);
        }
    }

    /// A whole round trip from one direction alone: the handshake's, and how much later than its
    /// echo the echo of this segment comes, by the receiver's clock.
    ///
    /// Queues on the way from the capture to the receiver do not count in it.
    pub fn one_way(&mut self, echo: u32, now_us: u32) -> Option<u32> {
        let based = self.handshake_us != UNKNOWN && self.mark_us != UNKNOWN;
        if !based || !before(self.last_echo, echo) {
            return None;
        }
        self.last_echo = echo;
        let elapsed = now_us.wrapping_sub(self.mark_us);
        if !(SETTLED_US..DRIFTED_US).contains(&elapsed) {
            return None;
        }
        let ticks = f64::from(echo.wrapping_sub(self.base_echo));
        let measured = f64::from(elapsed) / ticks;
        let tick = TICKS_US.into_iter().find(|tick| (measured / tick - 1.0).abs() < 0.1)?;
        let us = f64::from(self.handshake_us) + f64::from(elapsed) - ticks * tick;
        (us >= 1.0).then_some(us as u32)
    }
}
