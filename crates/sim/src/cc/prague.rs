//! Prague (draft-briscoe-iccrg-prague-congestion-control; Linux, tcp_prague of the L4S team): DCTCP's
//! response to marks for the Internet. It sends ECT(1), is paced, and grows on every ACK without a mark.

use super::record::{Declared, Decrease, Growth, Marks, Record, Response};
use super::{Ack, CongestionEvent, Controller, Phase, Window};
use crate::time::{Picos, SECOND};

/// g, the weight of the newest round trip (Linux, PRAGUE_SHIFT_G).
const GAIN: f64 = 1.0 / 16.0;
/// Least window (Linux, MIN_CWND).
const MIN_CWND: f64 = 2.0;

/// Prague.
pub struct Prague {
    /// The estimated share of marked segments.
    alpha: f64,
    /// There is a queue on the path that marks: alpha says nothing before.
    saw_ce: bool,
    /// The round trip ends when this is acknowledged.
    round_end: u64,
    delivered: u64,
    marked: u64,
    /// No mark reduces again before this is acknowledged.
    cut_end: u64,
}

impl Default for Prague {
    /// alpha starts at 1, so that the first mark halves.
    fn default() -> Self {
        Self { alpha: 1.0, saw_ce: false, round_end: 0, delivered: 0, marked: 0, cut_end: 0 }
    }
}

impl Declared for Prague {
    const RECORD: Record = Record {
        paced: true,
        decrease: Decrease::Share(0.5),
        marks: Marks::L4s,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth::RENO),
        response: Some(Response::Reno),
        needs_every_ack: true,
        source: "draft-briscoe-iccrg-prague-congestion-control",
    };
}

impl Controller for Prague {
    /// Slow start, or 1/cwnd for each segment without a mark, also while marks reduce the window.
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        if ack.marked > 0 {
            return;
        }
        let mut segments = ack.segments;
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        window.cwnd += f64::from(segments) / window.cwnd;
    }

    fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
        self.saw_ce |= ack.marked > 0;
        if ack.marked > 0 && ack.phase == Phase::Open && ack.snd_una >= self.cut_end {
            window.ssthresh = self.reduced(window);
            window.cwnd = window.ssthresh;
            self.cut_end = ack.snd_nxt + 1;
        }
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        if ack.snd_una >= self.round_end && self.delivered > 0 {
            self.end_round(ack.snd_nxt);
        }
        window.pacing_rate = pacing_rate(window, ack.srtt).or(window.pacing_rate);
    }

    /// A loss halves; marks are answered above.
    fn ssthresh(&mut self, window: &Window, _now: Picos, event: CongestionEvent) -> f64 {
        match event {
            CongestionEvent::Mark => self.reduced(window),
            CongestionEvent::Loss | CongestionEvent::Timeout => (window.cwnd / 2.0).max(MIN_CWND),
        }
    }
}

impl Prague {
    /// cwnd (1 - alpha / 2).
    fn reduced(&self, window: &Window) -> f64 {
        (window.cwnd * (1.0 - self.alpha / 2.0)).max(MIN_CWND)
    }

    /// alpha (1 - g) + g F, F the share of the round trip's segments that were marked.
    fn end_round(&mut self, next_end: u64) {
        if self.saw_ce {
            self.alpha += GAIN * (self.marked as f64 / self.delivered as f64 - self.alpha);
        }
        self.round_end = next_end;
        (self.delivered, self.marked) = (0, 0);
    }
}

/// A window a round trip, and twice that while slow start is far from its end (Linux,
/// prague_update_pacing_rate).
fn pacing_rate(window: &Window, srtt: Picos) -> Option<f64> {
    let gain = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.0 };
    (srtt > 0).then(|| gain * window.cwnd * SECOND as f64 / srtt as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{IncreaseRule, testing};

    /// A round trip of a window, in which every ACK whose number `is_marked` tells of a mark.
    fn round(
        cc: &mut Prague,
        window: &mut Window,
        from: u64,
        is_marked: impl Fn(u64) -> bool,
    ) -> u64 {
        let size = (window.cwnd as u64).max(1);
        for i in from..from + size {
            let mut ack = testing::ack(SECOND, i, size, IncreaseRule::PerWindow);
            ack.snd_nxt = i + size;
            ack.marked = u64::from(is_marked(i));
            cc.on_ack_received(window, &ack);
            cc.cong_avoid(window, &ack);
        }
        from + size
    }

    /// One mark in N: alpha comes to p = 1/N, each round trip loses p W / 2 and gains 1 - p, so that
    /// W = 2 (1 - p) / p, with a mark or two in each round trip.
    #[test]
    fn the_window_is_two_over_the_share_that_is_marked() {
        for every in [10, 30] {
            let (mut cc, mut window) = (Prague::default(), testing::window(20.0));
            let (mut next, mut sum, rounds) = (1000, 0.0, 4000);
            for count in 0..rounds + 500 {
                next = round(&mut cc, &mut window, next, |i| i % every == 0);
                sum += if count >= 500 { window.cwnd / f64::from(rounds) } else { 0.0 };
            }
            let p = 1.0 / every as f64;
            let expected = 2.0 * (1.0 - p) / p;
            assert!((cc.alpha - p).abs() < 0.3 * p, "{} {p}", cc.alpha);
            assert!((sum / expected - 1.0).abs() < 0.1, "{sum} {expected}");
        }
    }

    /// Marks at random: the one that reduces comes 1/x round trips after the round trip of the one before,
    /// x = p W, so that x^2 / (2 (1 + x)) = 1 - p.
    #[test]
    fn random_marks_cut_a_little_less_often() {
        for p in [0.03, 0.1] {
            let mut random = crate::rng::RandomStream::new(5);
            let marks: Vec<bool> = (0..1_000_000).map(|_| random.uniform() < p).collect();
            let (mut cc, mut window) = (Prague::default(), testing::window(20.0));
            let (mut next, mut sum, rounds) = (1000, 0.0, 8000);
            for count in 0..rounds + 500 {
                next = round(&mut cc, &mut window, next, |i| marks[i as usize % marks.len()]);
                sum += if count >= 500 { window.cwnd / f64::from(rounds) } else { 0.0 };
            }
            let room = 1.0 - p;
            let expected = (room + (room * room + 2.0 * room).sqrt()) / p;
            assert!((sum / expected - 1.0).abs() < 0.1, "{p}: {sum} {expected}");
        }
    }

    #[test]
    fn marks_cut_once_a_round_trip_and_do_not_hold_growth() {
        let (mut cc, mut window) = (Prague::default(), testing::window(100.0));
        (cc.alpha, cc.round_end) = (0.2, u64::MAX);
        round(&mut cc, &mut window, 1000, |i| i == 1000 || i == 1050);
        // 100 (1 - 0.1), then 98 ACKs of 1 / cwnd.
        assert!((window.cwnd - 91.08).abs() < 0.05, "{}", window.cwnd);
        assert_eq!(cc.ssthresh(&window, 0, CongestionEvent::Loss), window.cwnd / 2.0);
    }

    /// The first mark ends slow start with a half; before it alpha stands still.
    #[test]
    fn without_a_mark_alpha_waits() {
        let (mut cc, mut window) = (Prague::default(), testing::window(10.0));
        window.ssthresh = f64::INFINITY;
        let mut next = 1000;
        for _ in 0..3 {
            next = round(&mut cc, &mut window, next, |_| false);
        }
        assert_eq!((cc.alpha, window.cwnd), (1.0, 80.0));
        let rate = window.pacing_rate.expect("paced");
        assert!((rate / (2.0 * window.cwnd / 0.1) - 1.0).abs() < 0.02, "{rate}");
        round(&mut cc, &mut window, next, |i| i == next);
        assert!(window.ssthresh == 40.0 && window.cwnd < 43.0, "{}", window.cwnd);
    }
}
