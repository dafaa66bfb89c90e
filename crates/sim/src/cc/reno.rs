//! Reno: additive increase of one segment a round trip, halving on loss (RFC 5681).

use super::increase::Increase;
use super::{Ack, Cause, Controller, Growth, Window};
use crate::time::Picos;

/// See the module's page.
#[derive(Default)]
pub struct Reno {
    increase: Increase,
}

impl Controller for Reno {
    #[inline(always)]
    fn grow(&mut self, window: &mut Window, mut segments: u32, growth: Growth) -> bool {
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        if segments > 0 {
            let per = window.cwnd; // RFC 5681, equation 3
            self.increase.step(window, growth, segments, per);
        }
        true
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.grow(window, ack.segments, ack.growth);
    }

    /// RFC 5681, equation 4; half the window, not of the flight, as ns-2 and Linux do.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: Cause) -> f64 {
        self.increase.reset();
        (window.cwnd / 2.0).max(2.0)
    }
}
