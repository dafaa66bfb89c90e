//! One suite that every controller passes: it runs over the list, so nobody can forget it.
//!
//! The toy path delivers a window a round trip of 100 ms and marks nothing.

use super::*;
use crate::time::{MILLISECOND, SECOND};

struct Toy {
    cc: Cc,
    window: Window,
    now: Picos,
    acked: u64,
    growth: Growth,
}

const RTT: Picos = 100 * MILLISECOND;

impl Toy {
    fn new(name: &str, cwnd: f64, ssthresh: f64, growth: Growth) -> Self {
        let cc = Cc::by_name(name).expect("listed");
        let window = Window { cwnd, ssthresh, pacing_rate: None };
        Self { cc, window, now: SECOND, acked: 1000, growth }
    }

    /// One round trip: every segment of the window is acknowledged, evenly spaced.
    fn round(&mut self) {
        let size = self.window.cwnd.max(1.0) as u64;
        let sent = self.acked + size;
        for _ in 0..size {
            self.now += RTT / size;
            self.acked += 1;
            let ack = self.ack(size, sent);
            self.cc.on_any_ack(&mut self.window, &ack);
            self.cc.on_ack(&mut self.window, &ack);
        }
    }

    fn ack(&self, size: u64, sent: u64) -> Ack {
        Ack {
            now: self.now,
            segments: 1,
            growth: self.growth,
            rtt: Some(RTT),
            srtt: RTT,
            min_rtt: RTT,
            in_flight: size,
            snd_una: self.acked,
            snd_nxt: sent,
            delivered: 1,
            delivered_total: self.acked,
            newly_lost: 0,
            lost_total: 0,
            marked: 0,
            phase: Phase::Open,
            rate: Some(RateSample {
                delivered: size,
                interval: RTT,
                prior_delivered: self.acked - size,
                tx_in_flight: size,
                prior_lost: 0,
                app_limited: false,
            }),
        }
    }

    fn lose(&mut self) {
        self.window.ssthresh = self.cc.ssthresh(&self.window, self.now, Cause::Loss);
        if !self.cc.owns_window() {
            self.window.cwnd = self.window.ssthresh;
        }
        self.cc.on_recovered(&mut self.window, self.now);
    }

    fn time_out(&mut self) {
        self.window.ssthresh = self.cc.ssthresh(&self.window, self.now, Cause::Timeout);
        self.cc.on_timeout(&mut self.window, self.now);
        self.window.cwnd = 1.0;
    }
}

fn each(check: impl Fn(&str, Growth)) {
    for name in NAMES {
        for growth in [Growth::PerAck, Growth::PerWindow] {
            check(name, growth);
        }
    }
}

#[test]
fn slow_start_grows_by_half_or_more_a_round() {
    each(|name, growth| {
        let mut toy = Toy::new(name, 10.0, f64::INFINITY, growth);
        (0..2).for_each(|_| toy.round());
        assert!(toy.window.cwnd >= 22.0, "{name}: {}", toy.window.cwnd);
        assert!(toy.window.cwnd <= 40.0, "{name}: {}", toy.window.cwnd);
    });
}

#[test]
fn windows_never_shrink_without_loss_and_grow_in_time() {
    each(|name, growth| {
        let mut toy = Toy::new(name, 10.0, 10.0, growth);
        let owns = toy.cc.owns_window();
        for _ in 0..200 {
            let before = toy.window.cwnd;
            toy.round();
            assert!(owns || toy.window.cwnd >= before, "{name}: {before} {}", toy.window.cwnd);
            assert!(toy.window.cwnd >= 1.0, "{name}");
        }
        assert!(owns || toy.window.cwnd > 12.0, "{name}: {}", toy.window.cwnd);
    });
}

#[test]
fn a_loss_backs_off_and_never_below_two() {
    each(|name, growth| {
        for cwnd in [1.0, 2.0, 3.5, 10.0, 100.0, 1e6] {
            let mut toy = Toy::new(name, cwnd, cwnd, growth);
            toy.lose();
            let reduced = toy.window.ssthresh;
            assert!(reduced >= 2.0, "{name}");
            assert!(toy.cc.owns_window() || reduced < cwnd || cwnd < 3.0, "{name}: {cwnd}");
        }
    });
}

#[test]
fn it_recovers_after_a_timeout() {
    each(|name, growth| {
        let mut toy = Toy::new(name, 40.0, 40.0, growth);
        toy.time_out();
        (0..40).for_each(|_| toy.round());
        assert!(toy.window.cwnd > 8.0, "{name}: {}", toy.window.cwnd);
    });
}

#[test]
fn windows_stay_finite_through_any_mixture() {
    each(|name, growth| {
        let mut toy = Toy::new(name, 10.0, f64::INFINITY, growth);
        for step in 0_u32..300 {
            match step % 17 {
                5 | 11 => toy.lose(),
                16 => toy.time_out(),
                _ if toy.window.cwnd < 1e4 => toy.round(),
                _ => toy.lose(),
            }
            assert!(toy.window.cwnd.is_finite() && toy.window.cwnd >= 1.0, "{name}");
            assert!(
                toy.window.pacing_rate.is_none_or(|rate| rate.is_finite() && rate > 0.0),
                "{name}"
            );
        }
    });
}
