//! "BBR.extra_acked": how far deliveries come in bunches.

use super::super::Ack;
use super::super::bounds::Bounds;
use super::super::rounding::{double, whole_below};
use crate::time::{Picos, SECOND};
use std::hint::select_unpredictable;

/// Rounds of one of the two parts of the window; in start-up one (Linux, bbr_extra_acked_win_rtts).
const ROUNDS: u32 = 5;
/// The window of congestion grows by what arrives in so long at most (Linux, bbr_extra_acked_max_us).
pub const MOST_SECONDS: f64 = 0.1;

/// The most delivered beyond the estimated bandwidth, of the last five to ten rounds, of one or two in start-up.
#[derive(Default)]
pub struct ExtraAcked {
    since: Picos,
    delivered: f64,
    /// Of the rounds before, and of those now.
    most: [f64; 2],
    rounds: u32,
}

impl ExtraAcked {
    pub fn get(&self) -> f64 {
        self.most[0].at_least(self.most[1])
    }

    pub fn sample(&mut self, ack: &Ack, bw: f64, round_start: bool, cwnd: f64, full: bool) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= if full { ROUNDS } else { 1 } {
                (self.most, self.rounds) = ([self.most[1], 0.0], 0);
            }
        }
        let expected = whole_below(bw * double(ack.now - self.since) / SECOND as f64);
        // Chosen without a branch, as in `bbr::extra_acked`: a processor cannot guess which ACK comes late.
        let kept = if self.delivered > expected { self.delivered } else { 0.0 };
        let expected = if kept > 0.0 { expected } else { 0.0 };
        self.since = select_unpredictable(kept.to_bits() > 0, self.since, ack.now);
        self.delivered = kept + double(ack.delivered);
        let extra = (self.delivered - expected).at_most(cwnd);
        self.most[1] = self.most[1].at_least(extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{IncreaseRule, testing};

    /// What came at once is forgotten after five to ten rounds, in start-up after one or two.
    #[test]
    fn the_window_has_two_parts() {
        for (full, kept) in [(true, 10), (false, 2)] {
            let mut extra = ExtraAcked::default();
            let mut rounds = 0;
            let mut sample = |delivered, rounds: u64| {
                let mut ack = testing::ack(rounds * SECOND, rounds, 1, IncreaseRule::PerWindow);
                ack.delivered = delivered;
                extra.sample(&ack, 10.0, true, 100.0, full);
                extra.get()
            };
            sample(1, 1);
            assert_eq!(sample(30, 2), 30.0);
            while sample(1, 3 + rounds) == 30.0 {
                rounds += 1;
            }
            assert!((kept / 2..=kept).contains(&rounds), "{rounds}");
        }
    }
}
