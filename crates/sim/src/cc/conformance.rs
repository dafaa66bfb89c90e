//! One suite that every controller passes: it runs over the list, so nobody can forget it.
//!
//! The toy path takes a window at a time: 100 ms for up to `PRODUCT` segments, and as much longer as
//! there are more; what exceeds that and its buffer is lost. It marks nothing. `declared` compares each
//! controller with its record; `mutants` shows that the comparison fails where it should.

pub(super) mod declared;
mod mutants;

use super::testing::RTT;
use super::*;
use crate::time::{Picos, SECOND};

/// Segments that the path delivers in 100 ms.
const PRODUCT: f64 = 200.0;

struct Toy {
    cc: Cc,
    window: Window,
    now: Picos,
    acked: u64,
    lost: u64,
    increase_rule: IncreaseRule,
    buffer: f64,
}

impl Toy {
    fn new(name: &str, cwnd: f64, ssthresh: f64, increase_rule: IncreaseRule) -> Self {
        let cc = Cc::by_name(name).expect("listed");
        let window = Window { cwnd, ssthresh, pacing_rate: None };
        Self { cc, window, now: SECOND, acked: 1000, lost: 0, increase_rule, buffer: f64::INFINITY }
    }

    /// What window and pacing let go in a round trip is sent, and delivered, evenly spaced, or lost.
    /// Gives the share of the time in which the path was busy.
    fn round(&mut self) -> f64 {
        let most = self.window.pacing_rate.map_or(f64::INFINITY, |rate| rate * 0.1);
        let sent = self.window.cwnd.min(most).max(1.0).floor();
        let kept = sent.min((PRODUCT + self.buffer).floor());
        let rtt = ((kept / PRODUCT).max(1.0) * RTT as f64) as Picos;
        let lost = (sent - kept) as u64;
        self.deliver(kept as u64, rtt, lost);
        if lost > 0 {
            self.lose();
        }
        (kept / PRODUCT).min(1.0)
    }

    fn rounds(&mut self, count: u32) {
        for _ in 0..count {
            self.round();
        }
    }

    fn deliver(&mut self, size: u64, rtt: Picos, lost: u64) {
        let end = self.acked + size;
        self.lost += lost;
        for i in 0..size {
            self.now += rtt / size;
            self.acked += 1;
            let ack = self.ack(size, end, rtt, if i + 1 == size { lost } else { 0 });
            self.cc.on_ack_received(&mut self.window, &ack);
            self.cc.cong_avoid(&mut self.window, &ack);
        }
    }

    fn ack(&self, size: u64, end: u64, rtt: Picos, newly_lost: u64) -> Ack {
        let plain = super::testing::ack(self.now, self.acked, size, self.increase_rule);
        let lost_total = self.lost;
        let rate = plain.rate.map(|rate| RateSample {
            interval: rtt,
            prior_lost: lost_total - newly_lost,
            ..rate
        });
        let (rtt, srtt, snd_nxt) = (Some(rtt), rtt, end);
        Ack { rtt, srtt, snd_nxt, newly_lost, lost_total, rate, ..plain }
    }

    /// Half a round trip of recovery, on a path that has become shorter and marks; the controller is
    /// told of it or not.
    fn recover(&mut self, told: bool) {
        for _ in 0..50 {
            self.now += RTT / 100;
            self.acked += 1;
            let ack = self.ack(50, self.acked + 50, RTT / 2, 0);
            if told {
                let ack = Ack { phase: Phase::Recovery, marked: 1, ..ack };
                self.cc.on_ack_received(&mut self.window, &ack);
            }
        }
    }

    fn lose(&mut self) {
        self.window.ssthresh = self.cc.ssthresh(&self.window, self.now, CongestionEvent::Loss);
        if !self.cc.controls_cwnd() {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    fn time_out(&mut self) {
        self.window.ssthresh = self.cc.ssthresh(&self.window, self.now, CongestionEvent::Timeout);
        self.cc.on_timeout(&mut self.window, self.now);
        self.window.cwnd = 1.0;
    }
}

fn each(check: impl Fn(&str, IncreaseRule)) {
    for name in NAMES {
        for increase_rule in [IncreaseRule::PerAck, IncreaseRule::PerWindow] {
            check(name, increase_rule);
        }
    }
}

#[test]
fn slow_start_grows_by_half_or_more_a_round() {
    each(|name, increase_rule| {
        let mut toy = Toy::new(name, 10.0, f64::INFINITY, increase_rule);
        toy.rounds(2);
        assert!(toy.window.cwnd >= 22.0, "{name}: {}", toy.window.cwnd);
        assert!(toy.window.cwnd <= 40.0, "{name}: {}", toy.window.cwnd);
    });
}

#[test]
fn windows_never_shrink_before_the_path_is_full_and_grow_in_time() {
    each(|name, increase_rule| {
        let mut toy = Toy::new(name, 10.0, 10.0, increase_rule);
        let owns = toy.cc.controls_cwnd();
        for _ in 0..200 {
            let before = toy.window.cwnd;
            if before >= PRODUCT {
                break; // a queue begins, and may tell it to shrink
            }
            toy.round();
            assert!(owns || toy.window.cwnd >= before, "{name}: {before} {}", toy.window.cwnd);
            assert!(toy.window.cwnd >= 1.0, "{name}");
        }
        assert!(owns || toy.window.cwnd > 12.0, "{name}: {}", toy.window.cwnd);
    });
}

#[test]
fn a_loss_backs_off_and_never_below_two() {
    each(|name, increase_rule| {
        for cwnd in [1.0, 2.0, 3.5, 10.0, 100.0, 1e6] {
            let mut toy = Toy::new(name, cwnd, cwnd, increase_rule);
            toy.lose();
            let reduced = toy.window.ssthresh;
            // Those that own their window answer losses in the model of the path, not here.
            assert!(toy.cc.controls_cwnd() || reduced >= 2.0, "{name}");
            assert!(toy.cc.controls_cwnd() || reduced < cwnd || cwnd < 3.0, "{name}: {cwnd}");
        }
    });
}

/// The sender tells no controller of the ACKs of recovery but those that ask for every ACK. One that
/// would learn of them and does not ask has forgotten to.
#[test]
fn whoever_learns_in_recovery_asks_for_every_ack() {
    each(|name, increase_rule| {
        let course = |told| {
            let mut toy = Toy::new(name, 10.0, f64::INFINITY, increase_rule);
            toy.buffer = PRODUCT / 2.0;
            toy.rounds(30);
            toy.lose();
            toy.recover(told);
            let step = |_| {
                toy.round();
                (toy.window.cwnd, toy.window.ssthresh, toy.window.pacing_rate)
            };
            let steps = (0..100).map(step).collect::<Vec<_>>();
            (steps, toy.cc.ssthresh(&toy.window, toy.now, CongestionEvent::Mark))
        };
        let learns = course(true) != course(false);
        assert_eq!(
            learns,
            Cc::by_name(name).expect("listed").needs_every_ack(),
            "{name} {increase_rule:?}"
        );
    });
}

#[test]
fn it_recovers_after_a_timeout() {
    each(|name, increase_rule| {
        let mut toy = Toy::new(name, 40.0, 40.0, increase_rule);
        toy.time_out();
        toy.rounds(40);
        assert!(toy.window.cwnd > 8.0, "{name}: {}", toy.window.cwnd);
    });
}

#[test]
fn windows_stay_finite_through_any_mixture() {
    each(|name, increase_rule| {
        let mut toy = Toy::new(name, 10.0, f64::INFINITY, increase_rule);
        for step in 0_u32..300 {
            match step % 17 {
                5 | 11 => toy.lose(),
                16 => toy.time_out(),
                _ if toy.window.cwnd < 1e4 => toy.rounds(1),
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

/// Physics: nobody carries more than the path, everybody carries a fair part of it, and the window
/// stays within a few times what the path and its buffer hold.
#[test]
fn a_path_with_a_buffer_is_used_and_not_overrun() {
    each(|name, increase_rule| {
        let mut toy = Toy::new(name, 10.0, f64::INFINITY, increase_rule);
        toy.buffer = PRODUCT / 2.0;
        toy.rounds(200);
        let rounds = 600;
        let (acked, lost, mut busy) = (toy.acked, toy.lost, 0.0);
        for _ in 0..rounds {
            busy += toy.round() / f64::from(rounds);
            assert!(toy.window.cwnd <= 3.0 * 1.5 * PRODUCT, "{name}: {}", toy.window.cwnd);
        }
        let loss = (toy.lost - lost) as f64 / (toy.acked - acked) as f64;
        assert!(busy > 0.8, "{name} {increase_rule:?}: {busy}");
        assert!(loss < 0.05, "{name} {increase_rule:?}: {loss}");
    });
}
