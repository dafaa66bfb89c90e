//! DCTCP (RFC 8257): reduces the window by the share of segments that met a congestion mark.

use super::record::{Declared, Decrease, Growth, Marks, Record, Response};
use super::reno::Reno;
use super::{Ack, CongestionEvent, Controller, Window};
use crate::time::Picos;

/// RFC 8257, section 4.2: g, the weight of the newest window.
const GAIN: f64 = 1.0 / 16.0;

/// DCTCP (RFC 8257).
pub struct Dctcp {
    reno: Reno,
    /// RFC 8257, section 3.3: the estimated share of marked segments.
    alpha: f64,
    /// The observation window ends when this is acknowledged.
    window_end: u64,
    delivered: u64,
    marked: u64,
}

impl Default for Dctcp {
    /// RFC 8257, section 4.2: alpha starts at 1, so that the first mark halves.
    fn default() -> Self {
        Self { reno: Reno::default(), alpha: 1.0, window_end: 0, delivered: 0, marked: 0 }
    }
}

impl Declared for Dctcp {
    const RECORD: Record = Record {
        paced: false,
        decrease: Decrease::Share(0.5),
        marks: Marks::Fraction,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth::RENO),
        response: Some(Response::Reno),
        needs_every_ack: true,
        source: "RFC 8257",
    };
}

impl Controller for Dctcp {
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        self.reno.cong_avoid(window, ack);
    }

    fn on_ack_received(&mut self, _window: &mut Window, ack: &Ack) {
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        if ack.snd_una >= self.window_end && self.delivered > 0 {
            self.end_window(ack.snd_nxt);
        }
    }

    /// A mark: cwnd (1 - alpha / 2) (RFC 8257, section 3.3, step 9); a loss: as any TCP (section 3.5).
    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
        let half = self.reno.ssthresh(window, now, event);
        match event {
            CongestionEvent::Mark => (window.cwnd * (1.0 - self.alpha / 2.0)).max(2.0),
            CongestionEvent::Loss | CongestionEvent::Timeout => half,
        }
    }
}

impl Dctcp {
    /// alpha (1 - g) + g M (RFC 8257, section 3.3, steps 6 and 7).
    fn end_window(&mut self, next_end: u64) {
        let share = self.marked as f64 / self.delivered as f64;
        self.alpha += GAIN * (share - self.alpha);
        self.window_end = next_end;
        (self.delivered, self.marked) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{IncreaseRule, testing};

    /// Delivers a window of `size` segments of which `marked` carry a mark.
    fn observe(cc: &mut Dctcp, window: &mut Window, size: u64, marked: u64) {
        let start = cc.window_end.max(1000);
        for i in 0..size {
            let mut ack = testing::ack(0, start + 1 - size + i, size, IncreaseRule::PerWindow);
            ack.marked = u64::from(i < marked);
            cc.on_ack_received(window, &ack);
        }
    }

    /// RFC 8257, section 3.3: after k unmarked windows alpha = (1 - 1/16)^k.
    #[test]
    fn alpha_decays_by_a_sixteenth_a_window() {
        let (mut cc, mut window) = (Dctcp::default(), testing::window(10.0));
        assert_eq!(cc.ssthresh(&window, 0, CongestionEvent::Mark), 5.0);
        cc.end_window_after(&mut window, 10);
        let first = cc.alpha;
        observe(&mut cc, &mut window, 10, 0);
        assert!((cc.alpha / first - 15.0 / 16.0).abs() < 1e-12);
    }

    impl Dctcp {
        fn end_window_after(&mut self, window: &mut Window, size: u64) {
            let ack = testing::ack(0, 1000, size, IncreaseRule::PerWindow);
            self.on_ack_received(window, &ack);
        }
    }

    #[test]
    fn alpha_comes_to_the_share_that_is_marked() {
        let (mut cc, mut window) = (Dctcp::default(), testing::window(20.0));
        cc.end_window_after(&mut window, 20);
        (0..200).for_each(|_| observe(&mut cc, &mut window, 20, 5));
        assert!((cc.alpha - 0.25).abs() < 1e-4, "{}", cc.alpha);
        assert!((cc.ssthresh(&window, 0, CongestionEvent::Mark) - 20.0 * 0.875).abs() < 1e-2);
        assert_eq!(cc.ssthresh(&window, 0, CongestionEvent::Loss), 10.0);
    }
}
