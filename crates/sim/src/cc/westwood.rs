//! Westwood+ (Linux, tcp_westwood; Grieco and Mascolo 2004): Reno until a loss, after which the window
//! is what the path delivered over its least round trip.

use super::record::{Declared, Decrease, Growth, Marks, Record};
use super::reno::Reno;
use super::{Ack, CongestionEvent, Controller, Phase, Window};
use crate::time::{MILLISECOND, NEVER, Picos, SECOND};

/// Linux, TCP_WESTWOOD_RTT_MIN: no bandwidth is sampled over less.
const SHORTEST_SAMPLE: Picos = 50 * MILLISECOND;
/// Linux, westwood_do_filter: the weight of the newest sample, in each of two filters in a row.
const WEIGHT: f64 = 1.0 / 8.0;

/// Westwood+ (Linux, tcp_westwood).
pub struct Westwood {
    reno: Reno,
    /// The bandwidth after the first filter and after both, segments a second; `None` before a sample.
    filtered: Option<(f64, f64)>,
    /// Where the sample that is being taken began, and segments acknowledged since; `NEVER` before
    /// the first ACK.
    sample: (Picos, u64),
    snd_una: u64,
    /// Segments that duplicate ACKs have told of, and that the cumulative ACK will tell of again.
    accounted: u64,
    rtt: Picos,
    /// Least round trip since the last timeout; `NEVER` before the first.
    min_rtt: Picos,
    recovering: bool,
}

impl Default for Westwood {
    fn default() -> Self {
        Self {
            reno: Reno::default(),
            filtered: None,
            sample: (NEVER, 0),
            snd_una: 0,
            accounted: 0,
            rtt: 0,
            min_rtt: NEVER,
            recovering: false,
        }
    }
}

impl Declared for Westwood {
    const RECORD: Record = Record {
        paced: false,
        decrease: Decrease::Bandwidth,
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth::RENO),
        response: None,
        needs_every_ack: true,
        source: "Grieco and Mascolo 2004; Linux, tcp_westwood",
    };
}

impl Controller for Westwood {
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        self.reno.cong_avoid(window, ack);
    }

    /// When recovery ends the window becomes BWE RTTmin (Linux, CA_EVENT_COMPLETE_CWR).
    fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(ack);
        if self.recovering && ack.phase == Phase::Open {
            window.ssthresh = self.product();
            window.cwnd = window.ssthresh;
        }
        self.recovering = ack.phase == Phase::Recovery;
    }

    /// During recovery Reno's half; after a timeout BWE RTTmin (Linux, CA_EVENT_LOSS). A mark has no
    /// recovery that could end: it gives BWE RTTmin at once.
    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
        let half = self.reno.ssthresh(window, now, event);
        match event {
            CongestionEvent::Loss => half,
            CongestionEvent::Mark => self.product().min(window.cwnd.max(2.0)),
            CongestionEvent::Timeout => {
                let product = self.product();
                self.min_rtt = NEVER;
                product
            }
        }
    }
}

impl Westwood {
    /// A sample of bandwidth for each round trip; the ACK that ends one counts towards the next.
    fn measure(&mut self, ack: &Ack) {
        if self.sample.0 == NEVER {
            self.sample.0 = ack.now - ack.rtt.unwrap_or(0).min(ack.now);
        }
        self.rtt = ack.rtt.unwrap_or(self.rtt);
        let span = ack.now - self.sample.0;
        if self.rtt > 0 && span > self.rtt.max(SHORTEST_SAMPLE) {
            self.filter(self.sample.1 as f64 * SECOND as f64 / span as f64);
            self.sample = (ack.now, 0);
        }
        self.sample.1 += self.acknowledged(ack.snd_una);
        if self.rtt > 0 {
            self.min_rtt = self.min_rtt.min(self.rtt);
        }
    }

    fn filter(&mut self, bandwidth: f64) {
        let (mut first, mut second) = self.filtered.unwrap_or((bandwidth, bandwidth));
        first += WEIGHT * (bandwidth - first);
        second += WEIGHT * (first - second);
        self.filtered = Some((first, second));
    }

    /// Linux, westwood_acked_count: a duplicate ACK tells of one segment, and a cumulative one of those
    /// that no duplicate has told of, or of one.
    fn acknowledged(&mut self, snd_una: u64) -> u64 {
        let cumulative = snd_una - self.snd_una;
        self.snd_una = snd_una;
        match cumulative {
            0 => {
                self.accounted += 1;
                1
            }
            1 => 1,
            _ if self.accounted >= cumulative => {
                self.accounted -= cumulative;
                1
            }
            _ => cumulative - std::mem::take(&mut self.accounted),
        }
    }

    /// BWE RTTmin, segments; at least 2 (Linux, tcp_westwood_bw_rttmin).
    fn product(&self) -> f64 {
        let min_rtt = if self.min_rtt == NEVER { self.rtt } else { self.min_rtt };
        let bandwidth = self.filtered.map_or(0.0, |(_, second)| second);
        (bandwidth * (min_rtt as f64 / SECOND as f64)).max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{IncreaseRule, testing};
    use crate::time::SECOND;

    /// One ACK for one segment every `gap`, from `now` to `end`.
    fn deliver(cc: &mut Westwood, window: &mut Window, now: &mut Picos, end: Picos, gap: Picos) {
        while *now < end {
            *now += gap;
            let acked = cc.snd_una + 1;
            let ack = testing::ack(*now, acked, 20, IncreaseRule::PerWindow);
            cc.on_ack_received(window, &ack);
        }
    }

    /// Linux, westwood_filter: the first sample fills both filters, and each holds 7/8 of its past. A
    /// step from a to b leaves of b - a after n samples (7/8)^n in the first, (1 + n/8) (7/8)^n in both.
    #[test]
    fn two_filters_of_7_8_in_a_row() {
        let mut cc = Westwood::default();
        cc.filter(100.0);
        assert_eq!(cc.filtered, Some((100.0, 100.0)));
        for n in 1..=20 {
            cc.filter(500.0);
            let left = 0.875_f64.powi(n);
            let (first, second) = cc.filtered.unwrap();
            assert!((first - (500.0 - 400.0 * left)).abs() < 1e-9);
            assert!((second - (500.0 - 400.0 * left * (1.0 + f64::from(n) / 8.0))).abs() < 1e-9);
        }
    }

    /// 200 segments a second over 100 ms: the window after recovery holds 20, whatever it was before.
    #[test]
    fn after_recovery_the_window_is_the_bandwidth_times_the_least_round_trip() {
        for before in [10.0, 33.0, 80.0] {
            let (mut cc, mut window) = (Westwood::default(), testing::window(before));
            let mut now = SECOND;
            deliver(&mut cc, &mut window, &mut now, 11 * SECOND, 5 * MILLISECOND);
            assert_eq!(cc.ssthresh(&window, now, CongestionEvent::Loss), before / 2.0);
            let during = testing::ack(now, cc.snd_una, 20, IncreaseRule::PerWindow);
            cc.on_ack_received(&mut window, &Ack { phase: Phase::Recovery, ..during });
            assert_eq!(window.cwnd, before);
            let end = testing::ack(now, cc.snd_una + 1, 20, IncreaseRule::PerWindow);
            cc.on_ack_received(&mut window, &end);
            assert!((window.cwnd - 20.0).abs() < 0.5, "{}", window.cwnd);
            assert_eq!(window.cwnd, window.ssthresh);
        }
    }

    /// What duplicates have told of is not counted again with the cumulative ACK that covers it.
    #[test]
    fn duplicates_count_once() {
        let mut cc = Westwood::default();
        let counts = [1, 2, 2, 2, 2, 8, 9, 11].map(|snd_una| cc.acknowledged(snd_una));
        // 2 is acknowledged, then again three times; 8 covers those and three more.
        assert_eq!(counts, [1, 1, 1, 1, 1, 3, 1, 2]);
        assert_eq!(counts.iter().sum::<u64>(), 11);
    }

    /// After a timeout the least round trip is the next one's, though it be longer.
    #[test]
    fn a_timeout_forgets_the_least_round_trip() {
        let (mut cc, mut window) = (Westwood::default(), testing::window(50.0));
        let mut now = SECOND;
        deliver(&mut cc, &mut window, &mut now, 11 * SECOND, 5 * MILLISECOND);
        let product = cc.ssthresh(&window, now, CongestionEvent::Timeout);
        assert!((product - 20.0).abs() < 0.5, "{product}");
        let longer = Some(2 * testing::RTT);
        let ack = testing::ack(now, cc.snd_una + 1, 20, IncreaseRule::PerWindow);
        cc.on_ack_received(&mut window, &Ack { rtt: longer, ..ack });
        assert_eq!(cc.min_rtt, 2 * testing::RTT);
    }
}
