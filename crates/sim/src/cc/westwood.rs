//! Westwood+ (Linux, tcp_westwood; Grieco and Mascolo 2004): Reno until a loss, after which the window
//! is what the path delivered over its least round trip.

use super::record::{Declared, Decrease, Growth, Marks, Record};
use super::reno::Reno;
use super::{Ack, CongestionEvent, Controller, Phase, Window};
use crate::time::{MILLISECOND, Picos};

/// A tick of the kernel's clock, in which it measures times: that of HZ = 1000.
const JIFFY: Picos = MILLISECOND;
/// Linux, TCP_WESTWOOD_RTT_MIN in jiffies: no bandwidth is sampled over less.
const SHORTEST_SAMPLE: u64 = 50;
/// Linux, TCP_WESTWOOD_INIT_RTT: a round trip before any is measured.
const INITIAL_RTT: u64 = 20_000;

/// Westwood+ (Linux, tcp_westwood), in its whole bytes a jiffy.
pub struct Westwood {
    reno: Reno,
    segment_bytes: u64,
    /// The bandwidth after the first filter and after both, bytes a jiffy.
    filtered: (u64, u64),
    /// When the sample that is being taken began, in jiffies; `None` before the first ACK.
    since: Option<u64>,
    /// Bytes acknowledged since then.
    acknowledged: u64,
    snd_una: u64,
    /// Segments that duplicate ACKs have told of, and that the cumulative ACK will tell of again.
    accounted: u64,
    /// The last round trip in jiffies, and the least since the last timeout; `None` before there was one.
    rtt: u64,
    min_rtt: Option<u64>,
    recovering: bool,
}

impl Default for Westwood {
    fn default() -> Self {
        Self {
            reno: Reno::default(),
            segment_bytes: 1448,
            filtered: (0, 0),
            since: None,
            acknowledged: 0,
            snd_una: 0,
            accounted: 0,
            rtt: INITIAL_RTT,
            min_rtt: None,
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
                self.min_rtt = None;
                product
            }
        }
    }

    fn set_segment_bytes(&mut self, bytes: u32) {
        self.segment_bytes = bytes.into();
    }
}

impl Westwood {
    /// A sample of bandwidth for each round trip; the ACK that ends one counts towards the next.
    fn measure(&mut self, ack: &Ack) {
        let now = ack.now / JIFFY;
        let began = ack.now.saturating_sub(ack.rtt.unwrap_or(0)) / JIFFY;
        let since = *self.since.get_or_insert(began);
        self.rtt = ack.rtt.map_or(self.rtt, |rtt| rtt.div_ceil(JIFFY));
        let span = now - since;
        if self.rtt > 0 && span > self.rtt.max(SHORTEST_SAMPLE) {
            self.filter(self.acknowledged / span);
            (self.since, self.acknowledged) = (Some(now), 0);
        }
        self.acknowledged += self.segment_bytes * self.newly_acknowledged(ack);
        self.min_rtt = Some(self.min_rtt.map_or(self.rtt, |least| least.min(self.rtt)));
    }

    /// Linux, westwood_filter: the first sample fills both filters; each keeps 7/8 of what it held.
    fn filter(&mut self, bandwidth: u64) {
        self.filtered = match self.filtered {
            (0, 0) => (bandwidth, bandwidth),
            (first, second) => {
                let first = (7 * first + bandwidth) >> 3;
                (first, (7 * second + first) >> 3)
            }
        };
    }

    /// On the fast path an ACK tells of what it takes off (Linux, westwood_fast_bw).
    fn newly_acknowledged(&mut self, ack: &Ack) -> u64 {
        if ack.on_slow_path() {
            return self.acknowledged(ack.snd_una);
        }
        let cumulative = ack.snd_una - self.snd_una;
        self.snd_una = ack.snd_una;
        cumulative
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
        let bytes = self.filtered.1 * self.min_rtt.unwrap_or(self.rtt);
        ((bytes / self.segment_bytes) as f64).max(2.0)
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
    /// step from a to b leaves of b - a after n samples (7/8)^n in the first, (1 + n/8) (7/8)^n in both,
    /// but for what is rounded down.
    #[test]
    fn two_filters_of_7_8_in_a_row() {
        let mut cc = Westwood::default();
        cc.filter(100_000);
        assert_eq!(cc.filtered, (100_000, 100_000));
        for n in 1..=20 {
            cc.filter(500_000);
            let left = 0.875_f64.powi(n);
            let (first, second) = cc.filtered;
            assert!((first as f64 - (5e5 - 4e5 * left)).abs() < 8.0);
            assert!((second as f64 - (5e5 - 4e5 * left * (1.0 + f64::from(n) / 8.0))).abs() < 16.0);
        }
    }

    /// Linux divides whole bytes by whole jiffies: 1448 bytes in 5.4 ms are counted over 5 or 6.
    #[test]
    fn times_are_whole_jiffies() {
        let mut cc = Westwood { segment_bytes: 1000, ..Westwood::default() };
        let ack = testing::ack(SECOND, 1, 20, IncreaseRule::PerWindow);
        let rtt = Some(100 * MILLISECOND + MILLISECOND / 10);
        cc.measure(&Ack { rtt, ..ack });
        assert_eq!((cc.rtt, cc.since), (101, Some(899)));
    }

    /// 200 segments a second over 100 ms: the window after recovery holds 20, whatever it was before, less what each
    /// filter rounds down, up to 7 of the 289 bytes a jiffy.
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
            assert!((18.0..=20.0).contains(&window.cwnd), "{}", window.cwnd);
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
        assert!((18.0..=20.0).contains(&product), "{product}");
        let longer = Some(2 * testing::RTT); // in whole jiffies
        let ack = testing::ack(now, cc.snd_una + 1, 20, IncreaseRule::PerWindow);
        cc.on_ack_received(&mut window, &Ack { rtt: longer, ..ack });
        assert_eq!(cc.min_rtt, Some(2 * testing::RTT / JIFFY));
    }
}
