//! Reno: additive increase of one segment a round trip, halving on loss (RFC 5681).

use super::ai_counter::AiCounter;
use super::record::{Declared, Decrease, Growth, Marks, Record, Response};
use super::{Ack, CongestionEvent, Controller, PlainAck, Window};
use crate::time::Picos;

/// Reno (RFC 5681).
#[derive(Default)]
pub struct Reno {
    ai_counter: AiCounter,
}

impl Declared for Reno {
    const RECORD: Record = Record {
        paced: false,
        decrease: Decrease::Share(0.5),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth::RENO),
        response: Some(Response::Reno),
        needs_every_ack: false,
        source: "RFC 5681",
    };
}

impl Controller for Reno {
    #[inline(always)]
    fn cong_avoid_fast(&mut self, window: &mut Window, ack: PlainAck) -> bool {
        let mut segments = ack.segments;
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        if segments > 0 {
            let segments_per_increment = window.cwnd; // RFC 5681, equation 3
            self.ai_counter.cong_avoid_ai(
                window,
                ack.increase_rule,
                segments,
                segments_per_increment,
            );
        }
        true
    }

    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        self.cong_avoid_fast(window, ack.into());
    }

    /// RFC 5681, equation 4; half the window, not of the flight, as ns-2 and Linux do.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: CongestionEvent) -> f64 {
        self.ai_counter.reset();
        (window.cwnd / 2.0).max(2.0)
    }
}
