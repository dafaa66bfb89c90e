//! How far deliveries run ahead of the estimated bandwidth: ACKs come in bunches, and the window
//! has to bridge the silences between them.

use super::Ack;
use super::bounds::Bounds;
use super::rounding::{double, whole_below};
use crate::time::{Picos, SECOND};
use std::hint::select_unpredictable;

/// Rounds after which the older of the two maxima is dropped, once the pipe is full.
pub const ROUNDS: u8 = 5;
/// The bridge is at most so many seconds at the estimated bandwidth.
const LONGEST: f64 = 0.1;

/// Maximum, over n to 2n rounds, of the excess delivered since the rate last fell behind.
#[derive(Default)]
pub struct ExtraAcked {
    since: Picos,
    delivered: f64,
    /// Maximum of the rounds since the older one was dropped, and of those before.
    newest: f64,
    older: f64,
    age: u8,
}

impl ExtraAcked {
    /// Takes a sample; n is `rounds`.
    pub fn sample(&mut self, ack: &Ack, bw: f64, round_start: bool, cwnd: f64, rounds: u8) {
        if ack.delivered == 0 {
            return;
        }
        if round_start {
            self.age += 1;
            if self.age >= rounds {
                self.age = 0;
                self.older = std::mem::take(&mut self.newest);
            }
        }
        let expected = whole_below(bw * double(ack.now - self.since) / SECOND as f64);
        // Chosen without a branch: a processor cannot guess which ACK comes late. The time is chosen by a comparison of
        // its own, for compilers choose doubles only by one that nothing else uses.
        let surplus = (self.delivered - expected).at_least(0.0);
        self.since = select_unpredictable(surplus > 0.0, self.since, ack.now);
        let kept = select_unpredictable(self.delivered <= expected, 0.0, self.delivered);
        self.delivered = kept + double(ack.delivered);
        let excess = (surplus + double(ack.delivered)).at_most(cwnd);
        self.newest = self.newest.at_least(excess);
    }

    pub fn most(&self, bw: f64) -> f64 {
        self.newest.at_least(self.older).at_most(whole_below(bw * LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{IncreaseRule, testing};

    /// What came at once is forgotten after five to ten rounds, in start-up after one or two.
    #[test]
    fn the_window_has_two_parts() {
        for rounds_kept in [ROUNDS, 1] {
            let mut extra = ExtraAcked::default();
            let mut rounds = 0;
            let mut sample = |delivered, rounds: u64| {
                let mut ack = testing::ack(rounds * SECOND, rounds, 1, IncreaseRule::PerWindow);
                ack.delivered = delivered;
                extra.sample(&ack, 10.0, true, 100.0, rounds_kept);
                extra.most(1000.0)
            };
            sample(1, 1);
            assert_eq!(sample(30, 2), 30.0);
            while sample(1, 3 + rounds) == 30.0 {
                rounds += 1;
            }
            let kept = u64::from(rounds_kept);
            assert!((kept..=2 * kept).contains(&rounds), "{rounds}");
        }
    }
}
