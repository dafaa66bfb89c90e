//! What a paced sender keeps of its pacing, besides when it may send next (`Sender::paced_until`).

use crate::events::event_timer::EventTimer;
use crate::time::{Picos, SECOND};

/// The timer that lets the next packet go, and the gap between two packets.
#[derive(Default)]
pub struct Pacer {
    /// When the sender is asked what it may send.
    pub(crate) timer: EventTimer,
    /// Segments a second, and the gap that follows.
    rate: f64,
    gap: Picos,
}

impl Pacer {
    /// The gap between two segments at `rate`, in segments a second. It is divided out only where the rate
    /// has changed: most packets go at that of the packet before.
    #[inline(always)]
    pub(super) fn gap(&mut self, rate: f64) -> Picos {
        if rate != self.rate {
            self.set_rate(rate);
        }
        self.gap
    }

    #[inline(never)]
    fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
        self.gap = (SECOND as f64 / rate) as Picos;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_follows_the_rate() {
        let mut pacer = Pacer::default();
        for rate in [4.0, 4.0, 8.0, 3.0, 4.0] {
            assert_eq!(pacer.gap(rate), (SECOND as f64 / rate) as Picos);
        }
    }
}
