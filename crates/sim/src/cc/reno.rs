//! Reno: additive increase of one segment a round trip, halving on loss (RFC 5681).

use super::{Acked, Controller, Growth, Window};

/// Segments acknowledged towards the next increase.
#[derive(Default)]
pub struct Reno {
    credit: u32,
}

impl Controller for Reno {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, acked: Acked) {
        let mut segments = acked.segments;
        if window.in_slow_start() {
            segments = slow_start(window, segments);
        }
        if segments == 0 {
            return;
        }
        match acked.growth {
            Growth::PerAck => window.cwnd += 1.0 / window.cwnd,
            Growth::PerWindow => self.grow_per_window(window, segments),
        }
    }

    /// RFC 5681, equation 4; half the window, not of the flight, as ns-2 and Linux do.
    fn ssthresh(&mut self, window: &Window) -> f64 {
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

/// RFC 5681, section 3.1, up to ssthresh; gives back the segments beyond it.
fn slow_start(window: &mut Window, segments: u32) -> u32 {
    let target = (window.cwnd + f64::from(segments)).min(window.ssthresh.max(window.cwnd));
    let used = (target - window.cwnd).ceil() as u32;
    window.cwnd = target;
    segments - used.min(segments)
}
