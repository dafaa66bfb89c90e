//! BBR, version 3 (draft-ietf-ccwg-bbr, Cardwell, Swett, Beshay; section names below are its own):
//! the model of version 1, bounded by what losses teach: over the long term by the flight at which
//! more than 2 % were lost, over the short term by what was delivered in the last lossy round.
//!
//! The draft specifies no response to congestion marks, so neither do we. Undoing what a spurious
//! recovery did is left out, for nothing here reorders packets. Losses are judged with the ACK that
//! tells of them, by the newest delivered segment, and not for each lost one.

mod limits;
mod model;
mod probe_bw;
mod probe_rtt;
#[cfg(test)]
mod tests;

use super::bounds::{Bounds, if_counts};
use super::hash_choice::HashChoice;
use super::record::{Declared, Decrease, Marks, Record};
use super::rounding::double;
use super::{Ack, CongestionEvent, Controller, Phase, RateSample, Window};
use crate::time::{NEVER, Picos, SECOND};
use limits::{LongTerm, ShortTerm};
use model::{FullPipe, Latest, TwoCycleMax};
use probe_rtt::MinRtt;

const STARTUP_PACING_GAIN: f64 = 2.77;
const DRAIN_PACING_GAIN: f64 = 0.5;
const CWND_GAIN: f64 = 2.0;
const PACING_MARGIN: f64 = 0.99;
/// MinPipeCwnd.
const MIN_CWND: f64 = 4.0;
const INITIAL_CWND: f64 = 10.0;
/// LossThresh: the loss rate of a round that bandwidth probing tolerates.
const LOSS_THRESHOLD: f64 = 0.02;
/// Beta: the most that a lossy round takes from a bound.
const BETA: f64 = 0.7;
/// Lossy places in a round that end start-up (BBRStartupFullLossCnt).
const STARTUP_LOSSES: u32 = 6;
const LEAST_QUANTUM: f64 = 2.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// What the ACKs that arrive now tell of the last bandwidth probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// BBR version 3 as in the draft. Rates are in segments a second.
pub struct Bbr3 {
    state: State,
    ack_phase: AckPhase,
    max_bw: TwoCycleMax,
    rounds: u64,
    round_end: u64,
    round_start: bool,
    latest: Latest,
    full_pipe: FullPipe,
    min_rtt: MinRtt,
    long: LongTerm,
    short: ShortTerm,
    extra_acked: model::ExtraAcked,
    choice: HashChoice,
    drain_start: u64,
    cycle_start: Picos,
    probe_wait: Picos,
    rounds_since_probe: u64,
    losses_in_round: u32,
    recovery_rounds: u64,
    prior_cwnd: f64,
    phase: Phase,
    seen_rtt: bool,
    /// Segments in a burst at the pacing rate.
    quantum: f64,
    largest_quantum: f64,
}

impl Default for Bbr3 {
    fn default() -> Self {
        Self {
            state: State::Startup,
            ack_phase: AckPhase::Init,
            max_bw: TwoCycleMax::default(),
            rounds: 0,
            round_end: 0,
            round_start: false,
            latest: Latest::default(),
            full_pipe: FullPipe::default(),
            min_rtt: MinRtt::default(),
            long: LongTerm::default(),
            short: ShortTerm::default(),
            extra_acked: model::ExtraAcked::default(),
            choice: HashChoice::default(),
            drain_start: 0,
            cycle_start: 0,
            probe_wait: 0,
            rounds_since_probe: 0,
            losses_in_round: 0,
            recovery_rounds: 0,
            prior_cwnd: 0.0,
            phase: Phase::Open,
            seen_rtt: false,
            quantum: LEAST_QUANTUM,
            largest_quantum: 45.0, // of 1448 bytes in 64 KiB
        }
    }
}

impl Declared for Bbr3 {
    const RECORD: Record = Record {
        paced: true,
        decrease: Decrease::Model,
        marks: Marks::Ignored,
        timeout_reduces_ssthresh: false,
        growth: None,
        response: None,
        needs_every_ack: true,
        source: "draft-ietf-ccwg-bbr",
    };
}

impl Controller for Bbr3 {
    fn cong_avoid(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn in_startup(&self, _window: &Window) -> bool {
        self.state == State::Startup
    }

    fn set_seed(&mut self, seed: u64) {
        self.choice = HashChoice::seeded(seed);
    }

    fn set_segment_bytes(&mut self, bytes: u32) {
        self.largest_quantum = f64::from(65_536 / bytes).max(LEAST_QUANTUM);
    }

    /// "Per-ACK Steps".
    fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
        if ack.newly_lost > 0 {
            self.note_loss(window, ack);
        }
        let sample = ack.rate.filter(|rate| rate.interval >= ack.min_rtt);
        self.round_start = false;
        if let Some(rate) = sample {
            let limited = self.min_rtt.sent_while_probing(rate.prior_delivered);
            let rate = RateSample { app_limited: rate.app_limited || limited, ..rate };
            self.update_model(window, ack, &rate);
        }
        self.update_min_rtt(window, ack);
        if let Some(rate) = sample {
            self.latest.advance(&rate);
        }
        self.set_pacing_rate(window, ack);
        self.set_cwnd(window, ack);
    }

    /// "Modulating cwnd in Loss Recovery": losses bound the model, not ssthresh.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: CongestionEvent) -> f64 {
        self.save_cwnd(window);
        window.ssthresh
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Picos) {
        self.phase = Phase::Loss;
    }
}

impl Bbr3 {
    fn update_model(&mut self, window: &mut Window, ack: &Ack, rate: &RateSample) {
        let round_of_losses = self.latest.update(rate, ack.delivered_total);
        self.update_round(rate, ack);
        self.max_bw.update(rate);
        if round_of_losses {
            self.adapt_short_term(window);
        }
        let (bw, full) = (self.bw(), self.full_pipe.reached);
        self.extra_acked.sample(ack, bw, self.rounds, window.cwnd, full);
        self.full_pipe.check(rate, self.round_start);
        self.check_startup_done(ack, round_of_losses);
        if round_of_losses {
            self.latest.loss_in_round = false;
            self.losses_in_round = 0;
        }
        self.check_drain_done(ack);
        self.update_probe_bw(window, ack, rate);
    }

    /// "BBR.round_count: Tracking Packet-Timed Round Trips".
    fn update_round(&mut self, rate: &RateSample, ack: &Ack) {
        if rate.prior_delivered >= self.round_end {
            self.start_round(ack);
            self.rounds += 1;
            self.rounds_since_probe += 1;
            self.round_start = true;
            let recovering = ack.phase == Phase::Recovery;
            self.recovery_rounds = if recovering { self.recovery_rounds + 1 } else { 0 };
        }
    }

    fn start_round(&mut self, ack: &Ack) {
        self.round_end = ack.delivered_total;
    }

    /// "BoundBWForModel".
    fn bw(&self) -> f64 {
        self.max_bw.get().at_most(self.short.bw)
    }

    fn bdp(&self) -> f64 {
        self.multiple(1.0)
    }

    /// "BDPMultiple".
    fn multiple(&self, gain: f64) -> f64 {
        if self.min_rtt.least == NEVER {
            return INITIAL_CWND;
        }
        gain * self.bw() * double(self.min_rtt.least) / SECOND as f64
    }

    /// "QuantizationBudget".
    fn with_room(&self, flight: f64) -> f64 {
        let room = flight.at_least(3.0 * self.quantum).at_least(MIN_CWND);
        if self.state == State::Up { room + 2.0 } else { room }
    }

    fn inflight(&self, gain: f64) -> f64 {
        self.with_room(self.multiple(gain))
    }

    /// "TargetInflight".
    fn target_inflight(&self, window: &Window) -> f64 {
        self.bdp().at_most(window.cwnd)
    }

    /// "Summary of Control Behavior in the State Machine": pacing and window gain.
    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (STARTUP_PACING_GAIN, CWND_GAIN),
            State::Drain => (DRAIN_PACING_GAIN, CWND_GAIN),
            State::Down => (0.9, CWND_GAIN),
            State::Cruise | State::Refill => (1.0, CWND_GAIN),
            State::Up => (1.25, 2.25),
            State::ProbeRtt => (1.0, probe_rtt::CWND_GAIN),
        }
    }

    /// "Startup", with "Exiting Startup Based on Packet Loss".
    fn check_startup_done(&mut self, ack: &Ack, round_of_losses: bool) {
        if self.state != State::Startup {
            return;
        }
        let lossy = round_of_losses
            && self.recovery_rounds >= 1
            && self.losses_in_round >= STARTUP_LOSSES
            && ack.rate.is_some_and(|rate| loses_too_much(ack, &rate));
        if lossy && !self.full_pipe.reached {
            self.full_pipe.reached = true;
            self.long.inflight = self.bdp().at_least(self.latest.inflight);
        }
        if self.full_pipe.reached {
            self.state = State::Drain;
            self.drain_start = self.rounds;
        }
    }

    /// "Drain".
    fn check_drain_done(&mut self, ack: &Ack) {
        let drained = || double(ack.in_flight) <= self.inflight(1.0);
        if self.state == State::Drain && (self.rounds > self.drain_start + 3 || drained()) {
            self.start_down(ack);
        }
    }

    /// "Pacing Rate".
    fn set_pacing_rate(&mut self, window: &mut Window, ack: &Ack) {
        if !self.seen_rtt {
            self.set_first_pacing_rate(window, ack);
        }
        let rate = self.gains().0 * self.bw() * PACING_MARGIN;
        if let Some(current) = window.pacing_rate
            && rate != current
            && rate > 0.0
            && (self.full_pipe.reached || rate > current)
        {
            self.pace_at(window, rate);
        }
    }

    #[cold]
    fn set_first_pacing_rate(&mut self, window: &mut Window, ack: &Ack) {
        if ack.srtt > 0 {
            self.seen_rtt = true;
            let nominal = window.cwnd * SECOND as f64 / ack.srtt as f64;
            self.pace_at(window, STARTUP_PACING_GAIN * nominal);
        }
    }

    /// "Pacing Rate", and "Send Quantum": a millisecond's worth, at least two segments.
    fn pace_at(&mut self, window: &mut Window, rate: f64) {
        window.pacing_rate = Some(rate);
        self.quantum = (rate / 1000.0).clamp(LEAST_QUANTUM, self.largest_quantum);
    }

    /// "cwnd Adjustment Mechanism".
    fn set_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        let before = std::mem::replace(&mut self.phase, ack.phase);
        // Without a branch: which flows repair losses is chance.
        let repaired = (ack.phase == Phase::Open) & (before != Phase::Open);
        window.cwnd = window.cwnd.at_least(if_counts(repaired, self.prior_cwnd));
        let delivered = double(ack.delivered);
        let extra = self.extra_acked.get();
        let most = self.with_room(self.multiple(self.gains().1) + extra);
        if self.full_pipe.reached {
            window.cwnd = (window.cwnd + delivered).at_most(most);
        } else if window.cwnd < most || double(ack.delivered_total) < INITIAL_CWND {
            window.cwnd += delivered;
        }
        window.cwnd = window.cwnd.at_least(MIN_CWND);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.at_most(self.probe_rtt_cwnd());
        }
        window.cwnd = window.cwnd.at_most(self.volume_cap());
    }

    /// "SaveCwnd".
    fn save_cwnd(&mut self, window: &Window) {
        let undisturbed = self.phase == Phase::Open && self.state != State::ProbeRtt;
        let before = if undisturbed { 0.0 } else { self.prior_cwnd };
        self.prior_cwnd = before.at_least(window.cwnd);
    }
}

/// "IsInflightTooHigh": of the flight in which a segment left, more than 2 % have been lost.
fn loses_too_much(ack: &Ack, rate: &RateSample) -> bool {
    double(ack.lost_total - rate.prior_lost) > double(rate.tx_in_flight) * LOSS_THRESHOLD
}
