//! Is it the congestion window that holds the sender back (RFC 7661, section 4.3)? As Linux keeps
//! it: for a window of segments the strongest evidence counts.

/// What the sender used of its window.
#[derive(Clone, Copy, Default)]
pub struct CwndLimited {
    /// The window was full at some time in this round.
    full: bool,
    /// It held the last ACK's segments back, though a part of it was free (segmentation offload).
    deferred: bool,
    /// Else, the most segments that were out.
    max_packets_out: u32,
    /// The segment whose acknowledgement ends the round (low 32 bits).
    round_end: u32,
}

impl CwndLimited {
    /// What was in flight and out before an ACK arrives.
    #[inline]
    pub fn update(&mut self, cwnd: f64, in_flight: u32, una: u64, nxt: u64) {
        // No whole segment of the window is left.
        let full = self.deferred || cwnd < f64::from(in_flight) + 1.0;
        let out = (nxt - una) as u32;
        let ended = (una as u32).wrapping_sub(self.round_end) as i32 >= 0;
        if full || ended || (!self.full && out > self.max_packets_out) {
            *self = Self { full, deferred: false, max_packets_out: out, round_end: nxt as u32 };
        }
    }

    /// What the window lets go waits for an ACK with which it is a whole burst (Linux, tcp_tso_should_defer).
    pub fn note_deferral(&mut self) {
        self.deferred = true;
    }

    /// The window was full at some time in this round.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The most segments that were out in this round, as far as it was asked for.
    pub fn max_packets_out(&self) -> u32 {
        self.max_packets_out
    }

    /// The window may grow; in slow start up to twice what was out.
    #[inline]
    pub fn may_grow(&self, cwnd: f64, slow_start: bool) -> bool {
        self.full || (slow_start && cwnd < 2.0 * f64::from(self.max_packets_out))
    }
}
