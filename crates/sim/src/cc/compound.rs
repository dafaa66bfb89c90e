//! Compound TCP (draft-sridharan-tcpm-ctcp-02; Tan et al. 2006): Reno's window plus one that grows
//! while the path shows no queue and gives way when it does.

use super::ai_counter::AiCounter;
use super::record::{Declared, Decrease, Growth, Marks, PerRound, Record, Response};
use super::{Ack, CongestionEvent, Controller, Window};
use crate::time::{NEVER, Picos};

/// alpha of the increase alpha win^k, k = 3/4 (draft, section 4).
const ALPHA: f64 = 0.125;
/// zeta: what a queue of one segment takes from the delay window.
const ZETA: f64 = 1.0;
/// gamma: segments of one's own in the queue that count as congestion; tuned within these bounds.
const GAMMA: (f64, f64) = (5.0, 30.0);
/// Weight of the newest sample in the tuning of gamma.
const LAMBDA: f64 = 0.8;

/// Compound TCP (draft-sridharan-tcpm-ctcp-02).
pub struct Compound {
    ai_counter: AiCounter,
    /// dwnd; Reno's part of the window is the rest.
    delay_window: f64,
    gamma: f64,
    /// Reno's own queue in the newest round, until a loss has used it.
    reno_queue: Option<f64>,
    round_end: u64,
}

impl Default for Compound {
    fn default() -> Self {
        Self {
            ai_counter: AiCounter::default(),
            delay_window: 0.0,
            gamma: GAMMA.1,
            reno_queue: None,
            round_end: 0,
        }
    }
}

/// Reno's and the delay window's (alpha win^k - 1)+ (draft-sridharan-tcpm-ctcp-02, section 4).
const COMPOUND_MOST: PerRound = PerRound { segments: 1.0, share: 0.125, power: 0.75 };

impl Declared for Compound {
    const RECORD: Record = Record {
        paced: false,
        decrease: Decrease::Share(0.5),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth { least: PerRound::constant(1.0), most: COMPOUND_MOST }),
        response: Some(Response::Reno),
        needs_every_ack: false,
        source: "draft-sridharan-tcpm-ctcp-02; its response is Reno's at a standing queue",
    };
}

impl Controller for Compound {
    /// cwnd grows by 1 / win an ACK; dwnd once a round trip.
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        let mut segments = ack.segments;
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        if segments == 0 {
            return;
        }
        let segments_per_increment = window.cwnd;
        self.ai_counter.cong_avoid_ai(window, ack.increase_rule, segments, segments_per_increment);
        if ack.snd_una >= self.round_end {
            self.round_end = ack.snd_nxt;
            self.end_round(window, ack);
        }
    }

    /// win / 2, of which max(win / 2 - cwnd / 2, 0) = dwnd / 2 is the delay window's.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: CongestionEvent) -> f64 {
        self.ai_counter.reset();
        self.delay_window /= 2.0;
        self.round_end = 0;
        self.tune();
        (window.cwnd / 2.0).max(2.0)
    }

    /// The delay window starts afresh after a timeout.
    fn on_timeout(&mut self, _window: &mut Window, _now: Picos) {
        self.delay_window = 0.0;
    }
}

impl Compound {
    /// diff = win - win baseRTT / RTT, segments in the queue; below gamma dwnd grows by
    /// (alpha win^k - 1)+, above it shrinks by zeta diff.
    fn end_round(&mut self, window: &mut Window, ack: &Ack) {
        if ack.srtt == 0 || ack.min_rtt == NEVER {
            return;
        }
        let win = window.cwnd;
        let before = self.delay_window.min(win - 1.0);
        let queued = (1.0 - ack.min_rtt as f64 / ack.srtt as f64).max(0.0);
        self.reno_queue = Some((win - before) * queued);
        self.delay_window = if win * queued < self.gamma {
            before + (ALPHA * three_quarters_power(win) - 1.0).max(0.0)
        } else {
            (before - ZETA * win * queued).max(0.0)
        };
        window.cwnd += self.delay_window - before;
    }

    /// Tuning of gamma: on a loss it moves to 3/4 of the queue that Reno alone had made.
    fn tune(&mut self) {
        if let Some(queue) = self.reno_queue.take() {
            let moved = (1.0 - LAMBDA) * self.gamma + LAMBDA * 0.75 * queue;
            self.gamma = moved.clamp(GAMMA.0, GAMMA.1);
        }
    }
}

/// By square roots, which are exact on every platform.
fn three_quarters_power(x: f64) -> f64 {
    let root = x.sqrt();
    root * root.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{IncreaseRule, testing};
    use crate::time::SECOND;

    fn round(cc: &mut Compound, window: &mut Window, queue: f64) {
        let size = window.cwnd as u64;
        let end = cc.round_end.max(1_000_000);
        for i in 0..size {
            let mut ack = testing::ack(SECOND, end + 1 + i - size, size, IncreaseRule::PerAck);
            ack.srtt = (testing::RTT as f64 * (1.0 + queue)) as Picos;
            cc.cong_avoid(window, &ack);
        }
    }

    /// Yang 2013, Table II: without a queue w(t) = (t / 32 + (w_max / 2)^(1/4))^4, so that doubling
    /// takes 5.1 w_max^(1/4) round trips. The paper's curve lets the increase work on all of the
    /// window continuously; in rounds it is a little slower.
    #[test]
    fn doubles_as_table_2_of_yang_says() {
        let (mut cc, mut window) = (Compound::default(), testing::window(500.0));
        let mut rounds = 0.0;
        while window.cwnd < 1000.0 {
            round(&mut cc, &mut window, 0.0);
            rounds += 1.0;
        }
        let paper = 5.1 * 1000_f64.powf(0.25);
        assert!((rounds / paper - 1.0).abs() < 0.05, "{rounds} {paper}");
    }

    /// A queue of more than gamma = 30 segments takes that many off the delay window.
    #[test]
    fn a_queue_takes_its_size_off_the_delay_window() {
        let (mut cc, mut window) = (Compound::default(), testing::window(400.0));
        cc.delay_window = 200.0;
        cc.round_end = 1_000_000;
        round(&mut cc, &mut window, 0.25);
        assert!((cc.delay_window - 120.0).abs() < 1.0, "{}", cc.delay_window); // 400 (1 - 1 / 1.25)
        assert!((window.cwnd - 321.0).abs() < 1.5, "{}", window.cwnd);
    }

    /// Half of either part; gamma moves towards 3/4 of Reno's own queue.
    #[test]
    fn a_loss_halves_both_parts_and_tunes_gamma() {
        let (mut cc, window) = (Compound::default(), testing::window(400.0));
        cc.delay_window = 200.0;
        cc.reno_queue = Some(20.0);
        assert_eq!(cc.ssthresh(&window, 0, CongestionEvent::Loss), 200.0);
        assert_eq!(cc.delay_window, 100.0);
        assert!((cc.gamma - (0.2 * 30.0 + 0.8 * 15.0)).abs() < 1e-9);
    }
}
