//! One suite that every controller passes: it runs over the list, so nobody can forget it, and over a controller
//! from outside where it is asked to.
//!
//! The toy path takes a window at a time: 100 ms for up to `PRODUCT` segments, and as much longer as
//! there are more; what exceeds that and its buffer is lost. It marks nothing. `declared` compares each
//! controller with its record; `mutants` shows that the comparison fails where it should.

#[cfg(test)]
pub(super) mod declared;
#[cfg(test)]
mod mutants;

use super::testing::RTT;
use super::*;
use crate::time::{Picos, SECOND};

/// Segments that the path delivers in 100 ms.
const PRODUCT: f64 = 200.0;

/// Makes controllers of one kind.
pub type Make<'a> = &'a dyn Fn() -> Cc;
/// A property, and whether controllers of a kind have it under a rule of growth: else what was seen.
pub type Property = (&'static str, Holds);
/// The latter.
pub type Holds = fn(Make<'_>, IncreaseRule) -> Result<(), String>;

/// What a controller has to do.
pub const PROPERTIES: [Property; 6] = [
    ("slow start grows by half or more a round", slow_start_grows),
    ("the window does not shrink before the path is full, and grows", grows_in_time),
    ("a loss backs off, and never below two segments", backs_off),
    ("it recovers after a timeout", recovers),
    ("windows stay finite", stays_finite),
    ("a path with a buffer is used, and not overrun", uses_the_path),
];

fn expect(holds: bool, seen: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(seen()) }
}

struct Toy {
    cc: Cc,
    window: Window,
    now: Picos,
    acked: u64,
    lost: u64,
    increase_rule: IncreaseRule,
    buffer: f64,
    min_rtt: Picos,
}

impl Toy {
    fn new(make: Make<'_>, cwnd: f64, ssthresh: f64, increase_rule: IncreaseRule) -> Self {
        let cc = make();
        let window = Window { cwnd, ssthresh, pacing_rate: None };
        let (buffer, min_rtt) = (f64::INFINITY, RTT);
        Self { cc, window, now: SECOND, acked: 1000, lost: 0, increase_rule, buffer, min_rtt }
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

    fn ack(&mut self, size: u64, end: u64, rtt: Picos, newly_lost: u64) -> Ack {
        self.min_rtt = self.min_rtt.min(rtt);
        let plain = super::testing::ack(self.now, self.acked, size, self.increase_rule);
        let lost_total = self.lost;
        let rate = plain.rate.map(|rate| RateSample {
            interval: rtt,
            prior_lost: lost_total - newly_lost,
            ..rate
        });
        let (rtt, srtt, min_rtt, snd_nxt) = (Some(rtt), rtt, self.min_rtt, end);
        Ack { rtt, srtt, min_rtt, snd_nxt, newly_lost, lost_total, rate, ..plain }
    }

    /// Half a round trip of recovery, on a path that has become shorter and marks; the controller is
    /// told of it or not.
    #[cfg(test)]
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

fn slow_start_grows(make: Make<'_>, rule: IncreaseRule) -> Result<(), String> {
    let mut toy = Toy::new(make, 10.0, f64::INFINITY, rule);
    toy.rounds(2);
    let cwnd = toy.window.cwnd;
    expect((22.0..=40.0).contains(&cwnd), || format!("cwnd is {cwnd} after two rounds from 10"))
}

fn grows_in_time(make: Make<'_>, rule: IncreaseRule) -> Result<(), String> {
    let mut toy = Toy::new(make, 10.0, 10.0, rule);
    let owns = toy.cc.controls_cwnd();
    for _ in 0..200 {
        let before = toy.window.cwnd;
        if before >= PRODUCT {
            break; // a queue begins, and may tell it to shrink
        }
        toy.round();
        let cwnd = toy.window.cwnd;
        expect(owns || cwnd >= before, || format!("cwnd goes from {before} to {cwnd}"))?;
        expect(cwnd >= 1.0, || format!("cwnd is {cwnd}"))?;
    }
    let cwnd = toy.window.cwnd;
    expect(owns || cwnd > 12.0, || format!("cwnd is {cwnd} after 200 rounds from 10"))
}

fn backs_off(make: Make<'_>, rule: IncreaseRule) -> Result<(), String> {
    for cwnd in [1.0, 2.0, 3.5, 10.0, 100.0, 1e6] {
        let mut toy = Toy::new(make, cwnd, cwnd, rule);
        toy.lose();
        let reduced = toy.window.ssthresh;
        // Those that own their window answer losses in the model of the path, not here.
        let holds = toy.cc.controls_cwnd() || (reduced >= 2.0 && (reduced < cwnd || cwnd < 3.0));
        expect(holds, || format!("ssthresh is {reduced} after a loss at {cwnd}"))?;
    }
    Ok(())
}

fn recovers(make: Make<'_>, rule: IncreaseRule) -> Result<(), String> {
    let mut toy = Toy::new(make, 40.0, 40.0, rule);
    toy.time_out();
    toy.rounds(40);
    let cwnd = toy.window.cwnd;
    expect(cwnd > 8.0, || format!("cwnd is {cwnd} 40 rounds after a timeout at 40"))
}

fn stays_finite(make: Make<'_>, rule: IncreaseRule) -> Result<(), String> {
    let mut toy = Toy::new(make, 10.0, f64::INFINITY, rule);
    for step in 0_u32..300 {
        match step % 17 {
            5 | 11 => toy.lose(),
            16 => toy.time_out(),
            _ if toy.window.cwnd < 1e4 => toy.rounds(1),
            _ => toy.lose(),
        }
        let (cwnd, rate) = (toy.window.cwnd, toy.window.pacing_rate);
        expect(cwnd.is_finite() && cwnd >= 1.0, || format!("cwnd is {cwnd} in step {step}"))?;
        let paces = rate.is_none_or(|rate| rate.is_finite() && rate > 0.0);
        expect(paces, || format!("the pacing rate is {rate:?} in step {step}"))?;
    }
    Ok(())
}

/// Physics: nobody carries more than the path, everybody carries a fair part of it, and the window
/// stays within a few times what the path and its buffer hold.
fn uses_the_path(make: Make<'_>, rule: IncreaseRule) -> Result<(), String> {
    let mut toy = Toy::new(make, 10.0, f64::INFINITY, rule);
    toy.buffer = PRODUCT / 2.0;
    toy.rounds(200);
    let rounds = 600;
    let (acked, lost, mut busy) = (toy.acked, toy.lost, 0.0);
    for _ in 0..rounds {
        busy += toy.round() / f64::from(rounds);
        let cwnd = toy.window.cwnd;
        expect(cwnd <= 3.0 * 1.5 * PRODUCT, || format!("cwnd is {cwnd} where 300 fit"))?;
    }
    let loss = (toy.lost - lost) as f64 / (toy.acked - acked) as f64;
    expect(busy > 0.8, || format!("the path is used {busy:.3} of the time"))?;
    expect(loss < 0.05, || format!("{loss:.3} of the segments are lost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_of_the_list_has_every_property() {
        for name in NAMES {
            for rule in [IncreaseRule::PerAck, IncreaseRule::PerWindow] {
                for (property, holds) in PROPERTIES {
                    let seen = holds(&|| Cc::by_name(name).expect("listed"), rule);
                    assert_eq!(seen, Ok(()), "{name} {rule:?}: {property}");
                }
            }
        }
    }

    /// The sender tells no controller of the ACKs of recovery but those that ask for every ACK. One that
    /// would learn of them and does not ask has forgotten to.
    #[test]
    fn whoever_learns_in_recovery_asks_for_every_ack() {
        for name in NAMES {
            for rule in [IncreaseRule::PerAck, IncreaseRule::PerWindow] {
                let make = || Cc::by_name(name).expect("listed");
                let course = |told| {
                    let mut toy = Toy::new(&make, 10.0, f64::INFINITY, rule);
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
                assert_eq!(learns, make().needs_every_ack(), "{name} {rule:?}");
            }
        }
    }
}
