//! What a class has sent, held against a rate.

use crate::time::{Picos, serialization};

/// Bytes that are paid off at a rate (Linux, htb: tokens that may be below none). The class is within
/// its rate once all that it has sent is paid for.
#[derive(Clone, Debug)]
pub(super) struct RateMeter {
    rate_bps: f64,
    /// How far back it may make up for time in which it could have sent and was not served.
    burst: Picos,
    paid_at: Picos,
}

impl RateMeter {
    pub fn new(rate_bps: f64, burst_bytes: u64) -> Self {
        let burst = 8e12 * burst_bytes as f64 / rate_bps;
        Self { rate_bps, burst: burst as Picos, paid_at: 0 }
    }

    /// From when on the class is within its rate.
    #[inline]
    pub fn conforms_at(&self) -> Picos {
        self.paid_at
    }

    /// A packet is sent.
    #[inline]
    pub fn take(&mut self, now: Picos, bytes: u32) {
        let from = self.paid_at.max(now.saturating_sub(self.burst));
        self.paid_at = from + serialization(bytes, self.rate_bps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MILLISECOND;

    #[test]
    fn what_was_missed_is_made_up_for_as_far_as_the_burst_goes() {
        let mut meter = RateMeter::new(8e6, 3000); // 1000 B are 1 ms; 3 ms back
        let mut at = |now: u64| {
            meter.take(now * MILLISECOND, 1000);
            meter.conforms_at() / MILLISECOND
        };
        assert_eq!([at(0), at(1), at(3), at(4)], [1, 2, 3, 4], "late by two, and made up for");
        assert_eq!(
            [at(20), at(20), at(20), at(20)],
            [18, 19, 20, 21],
            "and no more than the burst"
        );
    }
}
