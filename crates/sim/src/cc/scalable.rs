//! Scalable TCP (Kelly 2003, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks",
//! section 3): the time to recover from a loss does not depend on the rate.

use super::ai_counter::{AiCounter, counted};
use super::record::{Declared, Decrease, Growth, Marks, PerRound, Record, Response};
use super::{Ack, CongestionEvent, Controller, IncreaseRule, Window};
use crate::time::Picos;

/// Kelly's a = 0.01: one segment for 100 acknowledged.
const SEGMENTS_AN_INCREASE: f64 = 100.0;
/// Kelly's b = 0.125: the share that a loss takes away.
const DECREASE: f64 = 0.125;

/// Scalable TCP (Kelly 2003).
#[derive(Default)]
pub struct Scalable {
    ai_counter: AiCounter,
    increase_rule: IncreaseRule,
}

/// 1 / 100 of a window (Kelly 2003, section 3), and Reno's below 100 segments (Linux).
const SCALABLE_GROWTH: PerRound = PerRound { segments: 1.0, share: 0.01, power: 1.0 };

impl Declared for Scalable {
    const RECORD: Record = Record {
        paced: false,
        decrease: Decrease::Share(0.875),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth { least: SCALABLE_GROWTH, most: SCALABLE_GROWTH }),
        response: Some(Response::Scalable),
        needs_every_ack: false,
        source: "Kelly 2003",
    };
}

impl Controller for Scalable {
    /// cwnd + a an ACK (Kelly 2003, section 3); below 100 segments Linux grows as Reno does, which
    /// is the faster there.
    #[inline]
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        self.increase_rule = ack.increase_rule;
        let mut segments = ack.segments;
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        if segments > 0 {
            let segments_per_increment = window.cwnd.min(SEGMENTS_AN_INCREASE);
            self.ai_counter.cong_avoid_ai(
                window,
                ack.increase_rule,
                segments,
                segments_per_increment,
            );
        }
    }

    /// cwnd - b cwnd (Kelly 2003, section 3). Linux takes whole segments away.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: CongestionEvent) -> f64 {
        self.ai_counter.reset();
        (window.cwnd - counted(self.increase_rule, DECREASE * window.cwnd)).max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing;

    /// Linux, tcp_scalable_ssthresh: of 130 segments 130 >> 3 = 16 are taken away, of 15 one.
    #[test]
    fn whole_segments_are_taken_away() {
        for (before, left) in [(130.0, 114.0), (15.0, 14.0), (7.0, 7.0), (2.0, 2.0)] {
            let mut cc = Scalable { increase_rule: IncreaseRule::PerWindow, ..Default::default() };
            let window = testing::window(before);
            assert_eq!(cc.ssthresh(&window, 0, CongestionEvent::Loss), left);
        }
    }

    /// Kelly 2003, section 3: recovery takes log(1 - b) / log(1 + a) = 13.4 round trips at any rate.
    #[test]
    fn recovery_takes_13_or_14_rounds_whatever_the_window() {
        for increase_rule in [IncreaseRule::PerAck, IncreaseRule::PerWindow] {
            for before in [2_000.0, 20_000.0] {
                let (mut cc, mut window) = (Scalable::default(), testing::window(before));
                window.ssthresh = cc.ssthresh(&window, 0, CongestionEvent::Loss);
                window.cwnd = window.ssthresh;
                let mut rounds = 0;
                while window.cwnd < before {
                    testing::round(&mut cc, &mut window, increase_rule);
                    rounds += 1;
                }
                assert!((13..=14).contains(&rounds), "{before}: {rounds}");
            }
        }
    }
}
