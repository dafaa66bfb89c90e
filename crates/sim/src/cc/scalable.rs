//! Scalable TCP (Kelly 2003, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks",
//! section 3): the time to recover from a loss does not depend on the rate.

use super::increase::Increase;
use super::{Ack, Cause, Controller, Window};
use crate::time::Picos;

/// Kelly's a = 0.01: one segment for 100 acknowledged.
const SEGMENTS_AN_INCREASE: f64 = 100.0;
/// Kelly's b = 0.125: the share that a loss takes away.
const DECREASE: f64 = 0.125;

/// See the module's page.
#[derive(Default)]
pub struct Scalable {
    increase: Increase,
}

impl Controller for Scalable {
    /// cwnd + a an ACK (Kelly 2003, section 3); below 100 segments Linux grows as Reno does, which
    /// is the faster there.
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let mut segments = ack.segments;
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        if segments > 0 {
            let per = window.cwnd.min(SEGMENTS_AN_INCREASE);
            self.increase.step(window, ack.growth, segments, per);
        }
    }

    /// cwnd - b cwnd (Kelly 2003, section 3). Linux rounds the part taken away down, we what is left.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: Cause) -> f64 {
        self.increase.reset();
        (window.cwnd - DECREASE * window.cwnd).max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Growth, testing};

    /// Kelly 2003, section 3: recovery takes log(1 - b) / log(1 + a) = 13.4 round trips at any rate.
    #[test]
    fn recovery_takes_13_or_14_rounds_whatever_the_window() {
        for growth in [Growth::PerAck, Growth::PerWindow] {
            for before in [2_000.0, 20_000.0] {
                let (mut cc, mut window) = (Scalable::default(), testing::window(before));
                window.ssthresh = cc.ssthresh(&window, 0, Cause::Loss);
                window.cwnd = window.ssthresh;
                let mut rounds = 0;
                while window.cwnd < before {
                    testing::round(&mut cc, &mut window, growth);
                    rounds += 1;
                }
                assert!((13..=14).contains(&rounds), "{before}: {rounds}");
            }
        }
    }
}
