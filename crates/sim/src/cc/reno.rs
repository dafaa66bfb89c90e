//! Reno: additive increase of one segment a round trip, halving on loss (RFC 5681).

use super::{Ack, Cause, Controller, Growth, Window};
use crate::time::Picos;

/// See the module's page.
#[derive(Default)]
pub struct Reno {
    /// Segments acknowledged towards the next increase.
    credit: u32,
}

impl Controller for Reno {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let mut segments = ack.segments;
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        if segments == 0 {
            return;
        }
        match ack.growth {
            Growth::PerAck => window.cwnd += 1.0 / window.cwnd,
            Growth::PerWindow => self.grow_per_window(window, segments),
        }
    }

    /// RFC 5681, equation 4; half the window, not of the flight, as ns-2 and Linux do.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: Cause) -> f64 {
        self.credit = 0;
        (window.cwnd / 2.0).max(2.0)
    }
}

impl Reno {
    fn grow_per_window(&mut self, window: &mut Window, segments: u32) {
        self.credit += segments;
        let size = window.cwnd as u32;
        if self.credit >= size {
            window.cwnd += f64::from(self.credit / size);
            self.credit %= size;
        }
    }
}
