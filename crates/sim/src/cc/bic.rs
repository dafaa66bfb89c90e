//! BIC (Xu, Harfoush, Rhee 2004, "Binary Increase Congestion Control for Fast Long-Distance
//! Networks") with the defaults of Linux 2.6.19, which is the BIC of Yang et al. 2013.
//!
//! Left out: Linux compensates for delayed ACKs because it then counted ACKs; we count segments.

use super::ai_counter::{AiCounter, counted};
use super::record::{Declared, Decrease, Growth, Marks, PerRound, Record};
use super::{Ack, CongestionEvent, Controller, IncreaseRule, Window};
use crate::time::{Picos, SECOND};

/// Share of the window kept on loss.
const BETA: f64 = 819.0 / 1024.0;
/// Below this many segments BIC is Reno.
const LOW_WINDOW: f64 = 14.0;
/// S_max: the most segments a round trip.
const MAX_INCREMENT: f64 = 16.0;
/// The search goes this part of the way to the target in a round trip.
const SEARCH: f64 = 4.0;
/// Round trips for the last segments before the target, and the first ones beyond it.
const SMOOTH_PART: f64 = 20.0;
/// Slow start ends here at the latest.
const INITIAL_SSTHRESH: f64 = 100.0;
/// Until the first loss: at least one segment for 20 acknowledged, 5 % a round trip.
const BEFORE_LOSS: f64 = 20.0;
/// With an unchanged window the increase is computed again after this long.
const REFRESH: Picos = SECOND / 32;

/// BIC as in Linux 2.6.19.
#[derive(Default)]
pub struct Bic {
    ai_counter: AiCounter,
    started: bool,
    lost_once: bool,
    /// The window at which the last loss struck, or less (fast convergence); 0 for none.
    last_max: f64,
    segments_per_increment: f64,
    last_cwnd: f64,
    last_time: Picos,
}

/// S_max, or 5 % of a window before the first loss (Linux 2.6.19).
const BIC_MOST: PerRound = PerRound { segments: 16.0, share: 0.05, power: 1.0 };

impl Declared for Bic {
    const RECORD: Record = Record {
        paced: false,
        decrease: Decrease::Share(819.0 / 1024.0),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth { least: PerRound::constant(0.2), most: BIC_MOST }),
        response: None,
        needs_every_ack: false,
        source: "Xu, Harfoush, Rhee 2004; Linux 2.6.19",
    };
}

impl Controller for Bic {
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        if !self.started {
            self.started = true;
            window.ssthresh = window.ssthresh.min(INITIAL_SSTHRESH);
        }
        let mut segments = ack.segments;
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        if segments == 0 {
            return;
        }
        let fresh = window.cwnd == self.last_cwnd && ack.now - self.last_time <= REFRESH;
        if !fresh || self.segments_per_increment == 0.0 {
            self.last_cwnd = window.cwnd;
            self.last_time = ack.now;
            self.segments_per_increment = counted(
                ack.increase_rule,
                self.segments_an_increase(window.cwnd, ack.increase_rule),
            )
            .max(1.0);
        }
        self.ai_counter.cong_avoid_ai(
            window,
            ack.increase_rule,
            segments,
            self.segments_per_increment,
        );
    }

    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: CongestionEvent) -> f64 {
        self.ai_counter.reset();
        self.segments_per_increment = 0.0;
        self.lost_once = true;
        let cwnd = window.cwnd;
        // Fast convergence (Xu 2004, section IV.B): a flow whose maximum falls gives way.
        self.last_max = if cwnd < self.last_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        if cwnd <= LOW_WINDOW { (cwnd / 2.0).max(2.0) } else { (cwnd * BETA).max(2.0) }
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Picos) {
        *self = Self { started: true, ..Self::default() };
    }
}

impl Bic {
    fn segments_an_increase(&self, cwnd: f64, increase_rule: IncreaseRule) -> f64 {
        if cwnd <= LOW_WINDOW {
            return cwnd;
        }
        let segments_per_increment = if cwnd < self.last_max {
            self.search(cwnd, increase_rule)
        } else {
            self.max_probing(cwnd)
        };
        if self.lost_once {
            segments_per_increment
        } else {
            segments_per_increment.min(BEFORE_LOSS)
        }
    }

    /// Binary search increase below the last maximum (Xu 2004, section III.A), S_max at most. Linux
    /// counts whole segments here as well: from less than 8 below the maximum on it goes slowest.
    fn search(&self, cwnd: f64, increase_rule: IncreaseRule) -> f64 {
        let step = counted(increase_rule, (self.last_max - cwnd) / SEARCH);
        if step > MAX_INCREMENT {
            cwnd / MAX_INCREMENT
        } else if step <= 1.0 {
            cwnd * SMOOTH_PART / SEARCH
        } else {
            cwnd / step
        }
    }

    /// Max probing beyond it (Xu 2004, section III.C): slow at first, then ever faster, up to S_max.
    fn max_probing(&self, cwnd: f64) -> f64 {
        let beyond = cwnd - self.last_max;
        if beyond < SEARCH {
            cwnd * SMOOTH_PART / SEARCH
        } else if beyond < MAX_INCREMENT * (SEARCH - 1.0) {
            cwnd * (SEARCH - 1.0) / beyond
        } else {
            cwnd / MAX_INCREMENT
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_loss_at(cwnd: f64) -> Bic {
        let mut bic = Bic::default();
        bic.ssthresh(&crate::cc::testing::window(cwnd), 0, CongestionEvent::Loss);
        bic
    }

    /// Linux 2.6.19's rules by hand, at a last maximum of 1000 segments.
    #[test]
    fn increase_a_round_follows_the_branches() {
        let bic = after_loss_at(1000.0);
        let a_round = |cwnd: f64| cwnd / bic.segments_an_increase(cwnd, IncreaseRule::PerAck);
        assert_eq!(a_round(10.0), 1.0); // Reno
        assert_eq!(a_round(800.0), 16.0); // 200 / 4 > S_max
        assert_eq!(a_round(960.0), 10.0); // 40 / 4
        assert!((a_round(998.0) - 0.2).abs() < 1e-12); // 4 / 20
        assert!((a_round(1003.0) - 0.2).abs() < 1e-12);
        assert_eq!(a_round(1012.0), 4.0); // 12 / 3
        assert_eq!(a_round(1100.0), 16.0);
    }

    /// Linux 2.6.19 divides integers: 7 / 4 is 1, which is the slowest pace, 4 / 20 a round.
    #[test]
    fn whole_segments_search_slowly_from_eight_below() {
        let bic = after_loss_at(1000.0);
        let a_round =
            |cwnd: f64, increase_rule| cwnd / bic.segments_an_increase(cwnd, increase_rule);
        assert!((a_round(993.0, IncreaseRule::PerWindow) - 0.2).abs() < 1e-12);
        assert!((a_round(993.0, IncreaseRule::PerAck) - 1.75).abs() < 1e-12);
        assert_eq!(a_round(961.0, IncreaseRule::PerWindow), 9.0); // 39 / 4
    }

    #[test]
    fn fast_convergence_remembers_less_than_the_window() {
        let mut bic = after_loss_at(1000.0);
        let kept = bic.ssthresh(&crate::cc::testing::window(900.0), 0, CongestionEvent::Loss);
        assert!((kept - 900.0 * 0.8).abs() < 1.0); // beta, Yang 2013, Table II
        assert!((bic.last_max - 900.0 * (1024.0 + 819.0) / 2048.0).abs() < 1e-9);
    }

    /// Yang 2013, Table II: BIC comes from 0.8 to 0.9 of the maximum in "one" round trip of
    /// 0.1 w_max / R. True of windows up to 160 segments; beyond that S_max holds it back.
    #[test]
    fn table_2_of_yang_holds_where_s_max_does_not_bind() {
        let bic = after_loss_at(160.0);
        let step = 128.0 / bic.segments_an_increase(128.0, IncreaseRule::PerAck);
        assert!((step - 8.0).abs() < 1e-9); // (160 - 128) / 4; 0.1 w_max would be 16
    }
}
