//! Round-trip estimation and the retransmission timeout (RFC 6298).

use super::profile::{MAX_RTO, Profile, RtoRule};
use crate::time::{NEVER, Picos, SECOND};

/// srtt, rttvar and the timeout that follows from them.
#[derive(Clone)]
pub struct RttEstimator {
    /// Smoothed round-trip time; 0 before the first sample.
    pub srtt: Picos,
    /// Round-trip variation.
    pub rttvar: Picos,
    /// Least sample; `NEVER` before the first.
    pub min_rtt: Picos,
    base_rto: Picos,
    backoff: u32,
}

impl Default for RttEstimator {
    /// Rule 2.1: one second until a round trip has been measured.
    fn default() -> Self {
        Self { srtt: 0, rttvar: 0, min_rtt: NEVER, base_rto: SECOND, backoff: 0 }
    }
}

impl RttEstimator {
    /// The timeout to arm now, back-off included (rules 2.4, 2.5, 5.5).
    #[inline]
    pub fn rto(&self) -> Picos {
        (self.base_rto << self.backoff).min(MAX_RTO)
    }

    /// Takes a sample (rules 2.2, 2.3); a valid one ends the back-off (Karn).
    #[inline]
    pub fn sample(&mut self, rtt: Picos, profile: &Profile) {
        self.min_rtt = self.min_rtt.min(rtt);
        if self.srtt == 0 {
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(rtt)) / 4;
            self.srtt = (7 * self.srtt + rtt) / 8;
        }
        self.base_rto = match profile.rto {
            RtoRule::Rfc6298(granularity) => {
                (self.srtt + granularity.max(4 * self.rttvar)).max(profile.min_rto)
            }
            RtoRule::Linux => self.srtt + profile.min_rto.max(4 * self.rttvar),
        };
        self.backoff = 0;
    }

    /// Rule 5.5: doubles the timeout.
    pub fn back_off(&mut self) {
        if self.rto() < MAX_RTO {
            self.backoff += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MILLISECOND;

    #[test]
    fn first_and_second_sample_follow_rules_2_2_and_2_3() {
        let profile = Profile::ns2();
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.rto(), SECOND);
        rtt.sample(100 * MILLISECOND, &profile);
        assert_eq!((rtt.srtt, rtt.rttvar), (100 * MILLISECOND, 50 * MILLISECOND));
        assert_eq!(rtt.rto(), 300 * MILLISECOND);
        rtt.sample(100 * MILLISECOND, &profile);
        assert_eq!(rtt.rttvar, 37_500_000_000);
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), 4 * 250 * MILLISECOND);
        rtt.sample(100 * MILLISECOND, &profile);
        assert!(rtt.rto() < 250 * MILLISECOND);
    }

    #[test]
    fn back_off_stops_at_the_bound() {
        let mut rtt = RttEstimator::default();
        (0..100).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), MAX_RTO);
    }
}
