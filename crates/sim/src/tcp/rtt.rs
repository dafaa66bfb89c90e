//! Round-trip estimation and the retransmission timeout (RFC 6298), and Linux's variant of it.

use super::profile::{MAX_RTO, Profile, RtoRule};
use super::segment::NewlyAcked;
use crate::time::{MILLISECOND, NEVER, Picos, SECOND};
use std::hint::select_unpredictable;

/// srtt, rttvar and the timeout that follows from them.
#[derive(Clone)]
#[repr(C)]
pub struct RttEstimator {
    /// The timeout to arm now, back-off included.
    rto: Picos,
    /// Smoothed round-trip time; 0 before the first sample.
    pub srtt: Picos,
    /// Round-trip variation.
    pub rttvar: Picos,
    /// Least sample; `NEVER` before the first.
    pub min_rtt: Picos,
    /// With `RtoRule::Linux`: four of rttvar's largest value in this window, and in those before.
    mdev_max: Picos,
    rttvar_max: Picos,
    /// The segment whose acknowledgement ends this window.
    window_end: u64,
}

impl Default for RttEstimator {
    /// Rule 2.1: one second until a round trip has been measured.
    fn default() -> Self {
        Self {
            srtt: 0,
            rttvar: 0,
            min_rtt: NEVER,
            mdev_max: 0,
            rttvar_max: 0,
            window_end: 0,
            rto: SECOND,
        }
    }
}

impl RttEstimator {
    /// The timeout to arm now, back-off included (rules 2.4, 2.5, 5.5).
    #[inline]
    pub fn rto(&self) -> Picos {
        self.rto
    }

    /// Takes a sample (rules 2.2, 2.3); a valid one ends the back-off (Karn). `last` is the round
    /// trip without a delayed ACK's wait. `una` and `nxt` are the sender's, and tell where a window
    /// ends.
    #[inline(always)]
    pub fn sample(&mut self, rtt: Picos, last: Picos, (una, nxt): (u64, u64), profile: &Profile) {
        self.min_rtt = self.min_rtt.min(last);
        match profile.rto {
            _ if self.srtt == 0 => self.begin(rtt, nxt, profile),
            RtoRule::Linux => {
                self.smooth_linux(rtt);
                self.update_rttvar_max(una, nxt, profile.min_rto);
                self.rto = (self.srtt + self.rttvar_max).min(MAX_RTO);
            }
            RtoRule::Rfc6298(granularity) => {
                self.smooth(rtt, self.srtt.abs_diff(rtt), 2);
                self.rto = self.rfc_rto(granularity, profile.min_rto);
            }
        }
    }

    /// What an ACK measures of what it delivers. Karn: what was sent twice gives no sample, unless
    /// the ACK `echoes` a timestamp. Two samples: of the segments that an ACK covers the first
    /// counts for the timeout, for a delayed ACK's wait is part of that round trip; the last, which
    /// nothing held back, for the least round trip and for controllers (Linux, tcp_clean_rtx_queue
    /// and tcp_ack_update_rtt).
    #[inline]
    pub(super) fn measure(
        &self,
        newly_acked: &NewlyAcked,
        now: Picos,
        echoes: bool,
    ) -> (Option<Picos>, Option<Picos>) {
        if let Some((sent, _)) = newly_acked.first_never_retransmitted() {
            return (Some(now - sent), Some(now - newly_acked.last_never_retransmitted));
        }
        let newest = newly_acked.newest().filter(|_| echoes);
        let echoed = newest.and_then(|(sent, _)| self.echoed(now, sent));
        (echoed, echoed)
    }

    /// A timestamp's clock ticks in milliseconds (RFC 7323, section 5.4; Linux): a round trip so
    /// measured is whole, and may be up to one shorter than it was.
    fn echoed(&self, now: Picos, sent: Picos) -> Option<Picos> {
        // Faster than ever: it was the original that arrived.
        if now - sent + MILLISECOND < self.min_rtt {
            return None;
        }
        Some((now / MILLISECOND - sent / MILLISECOND).max(1) * MILLISECOND)
    }

    /// Rule 2.2: the first sample.
    #[cold]
    fn begin(&mut self, rtt: Picos, nxt: u64, profile: &Profile) {
        self.srtt = rtt;
        self.rttvar = rtt / 2;
        self.rto = match profile.rto {
            RtoRule::Linux => {
                self.rttvar_max = profile.min_rto.max(4 * self.rttvar);
                (self.mdev_max, self.window_end) = (self.rttvar_max, nxt);
                (self.srtt + self.rttvar_max).min(MAX_RTO)
            }
            RtoRule::Rfc6298(granularity) => self.rfc_rto(granularity, profile.min_rto),
        };
    }

    /// Rule 2.3, and the bounds of rules 2.4 and 2.5.
    #[inline]
    fn rfc_rto(&self, granularity: Picos, least: Picos) -> Picos {
        (self.srtt + granularity.max(4 * self.rttvar)).max(least).min(MAX_RTO)
    }

    /// The deviation counts 2^-`gain_shift` in rttvar.
    #[inline]
    fn smooth(&mut self, rtt: Picos, deviation: Picos, gain_shift: u32) {
        self.rttvar = ((self.rttvar << gain_shift) - self.rttvar + deviation) >> gain_shift;
        self.srtt = (7 * self.srtt + rtt) / 8;
    }

    /// A round trip that is shorter, and by more than rttvar, counts an eighth: a path that gets
    /// faster is no reason to wait longer.
    #[inline]
    fn smooth_linux(&mut self, rtt: Picos) {
        let deviation = self.srtt.abs_diff(rtt);
        let shift = if rtt < self.srtt && deviation > self.rttvar { 5 } else { 2 };
        self.smooth(rtt, deviation, shift);
    }

    /// The margin rises with the deviation at once, and falls by a quarter of the excess a window.
    /// A peak is never below `least`: windows begin there.
    #[inline]
    fn update_rttvar_max(&mut self, una: u64, nxt: u64, least: Picos) {
        self.mdev_max = self.mdev_max.max(4 * self.rttvar);
        self.rttvar_max = self.rttvar_max.max(self.mdev_max);
        // Chosen without a branch: a processor cannot guess when a window ends.
        let ends = una > self.window_end;
        self.rttvar_max -= select_unpredictable(ends, (self.rttvar_max - self.mdev_max) / 4, 0);
        self.window_end = select_unpredictable(ends, nxt, self.window_end);
        self.mdev_max = select_unpredictable(ends, least, self.mdev_max);
    }

    /// Rule 5.5: doubles the timeout.
    pub fn back_off(&mut self) {
        self.rto = (2 * self.rto).min(MAX_RTO);
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
        rtt.sample(100 * MILLISECOND, 100 * MILLISECOND, (1, 10), &profile);
        assert_eq!((rtt.srtt, rtt.rttvar), (100 * MILLISECOND, 50 * MILLISECOND));
        assert_eq!(rtt.rto(), 300 * MILLISECOND);
        rtt.sample(100 * MILLISECOND, 100 * MILLISECOND, (2, 10), &profile);
        assert_eq!(rtt.rttvar, 37_500_000_000);
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), 4 * 250 * MILLISECOND);
        rtt.sample(100 * MILLISECOND, 100 * MILLISECOND, (3, 10), &profile);
        assert!(rtt.rto() < 250 * MILLISECOND);
    }

    #[test]
    fn linux_waits_its_minimum_beyond_srtt_and_forgets_a_peak_window_by_window() {
        let profile = Profile::linux();
        let mut rtt = RttEstimator::default();
        rtt.sample(200 * MILLISECOND, 200 * MILLISECOND, (1, 10), &profile);
        assert_eq!(rtt.rto(), 600 * MILLISECOND, "three round trips");
        for window in 1..60 {
            rtt.sample(
                200 * MILLISECOND,
                200 * MILLISECOND,
                (10 * window + 1, 10 * window + 10),
                &profile,
            );
        }
        assert!(rtt.rto().abs_diff(400 * MILLISECOND) < MILLISECOND, "{}", rtt.rto());
        rtt.sample(600 * MILLISECOND, 600 * MILLISECOND, (602, 610), &profile);
        let mdev_max = rtt.rto();
        assert!(mdev_max > 600 * MILLISECOND, "{mdev_max}");
        rtt.sample(250 * MILLISECOND, 250 * MILLISECOND, (603, 610), &profile);
        assert!(rtt.rto() > 600 * MILLISECOND, "within the window the peak stays");
    }

    /// Of the two round trips of an ACK the one without a delayed ACK's wait counts.
    #[test]
    fn the_least_round_trip_has_no_wait_of_a_delayed_ack() {
        for profile in [Profile::ns2(), Profile::linux()] {
            let mut rtt = RttEstimator::default();
            rtt.sample(140 * MILLISECOND, 100 * MILLISECOND, (1, 10), &profile);
            assert_eq!(rtt.min_rtt, 100 * MILLISECOND);
            assert_eq!(rtt.srtt, 140 * MILLISECOND);
        }
    }

    #[test]
    fn back_off_stops_at_the_bound() {
        let mut rtt = RttEstimator::default();
        (0..100).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), MAX_RTO);
    }
}
