//! BBR, version 3 (draft-ietf-ccwg-bbr, Cardwell, Swett, Beshay; section names below are its own):
//! the model of version 1, bounded by what losses teach: over the long term by the flight at which
//! more than 2 % were lost, over the short term by what was delivered in the last lossy round.
//!
//! Where the draft and its implementation for Linux differ (tcp_bbr.c of google/bbr, branch v3, for Linux 6.4
//! and 6.13), this follows Linux: gains in 256ths, whole segments, the plateau judged with every ACK, drain without a limit
//! of rounds. Left out are its response to marks, which needs a route that asks for it, the undoing of what a
//! spurious recovery did, and losses that a tail loss probe repairs.

mod control;
mod limits;
mod model;
mod probe_bw;
mod probe_rtt;
#[cfg(test)]
mod tests;

use super::bounds::Bounds;
use super::extra_acked::{ExtraAcked, ROUNDS};
use super::hash_choice::HashChoice;
use super::record::{Declared, Decrease, Marks, Record};
use super::rounding::{double, whole_above, whole_below};
use super::{Ack, CongestionEvent, Controller, Phase, RateSample, Window, too_many_lost};
use crate::time::{NEVER, Picos, SECOND};
use limits::{LongTerm, ShortTerm};
use model::{FullPipe, Latest, TwoCycleMax};
use prefetch_index::prefetch_index;
use probe_rtt::MinRtt;
use std::slice::from_ref;

/// In 256ths, as all gains.
const STARTUP_PACING_GAIN: f64 = 710.0 / 256.0;
const DRAIN_PACING_GAIN: f64 = 88.0 / 256.0;
const DOWN_PACING_GAIN: f64 = 232.0 / 256.0;
const CWND_GAIN: f64 = 2.0;
/// MinPipeCwnd.
const MIN_CWND: f64 = 4.0;
const INITIAL_CWND: f64 = 10.0;
/// Beta: what a lossy round leaves of a bound at least.
const BETA: f64 = 180.0 / 256.0;
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
    round_end: u64,
    round_start: bool,
    latest: Latest,
    full_pipe: FullPipe,
    min_rtt: MinRtt,
    long: LongTerm,
    short: ShortTerm,
    extra_acked: ExtraAcked,
    choice: HashChoice,
    cycle_start: Picos,
    probe_wait: Picos,
    rounds_since_probe: u64,
    losses_in_round: u32,
    /// Losses that have been noted.
    noted_losses: u64,
    /// The window held the sender back at some time in this round (Linux, is_cwnd_limited), and the segment that ends it.
    cwnd_limited: bool,
    limited_until: u64,
    prior_cwnd: f64,
    phase: Phase,
    seen_rtt: bool,
    /// Segments in a burst at the pacing rate.
    quantum: f64,
    segment_bytes: f64,
}

impl Default for Bbr3 {
    fn default() -> Self {
        Self {
            state: State::Startup,
            ack_phase: AckPhase::Init,
            max_bw: TwoCycleMax::default(),
            round_end: 0,
            round_start: false,
            latest: Latest::default(),
            full_pipe: FullPipe::default(),
            min_rtt: MinRtt::default(),
            long: LongTerm::default(),
            short: ShortTerm::default(),
            extra_acked: ExtraAcked::default(),
            choice: HashChoice::default(),
            cycle_start: 0,
            probe_wait: 0,
            rounds_since_probe: 0,
            losses_in_round: 0,
            noted_losses: 0,
            cwnd_limited: false,
            limited_until: 0,
            prior_cwnd: 0.0,
            phase: Phase::Open,
            seen_rtt: false,
            quantum: LEAST_QUANTUM,
            segment_bytes: 1448.0,
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
        source: "draft-ietf-ccwg-bbr; google/bbr, branch v3, net/ipv4/tcp_bbr.c",
    };
}

impl Controller for Bbr3 {
    #[inline(always)]
    fn prefetch(&self) {
        prefetch_index(from_ref(&self.max_bw), 0);
        prefetch_index(from_ref(&self.latest), 0);
        prefetch_index(from_ref(&self.full_pipe), 0);
        prefetch_index(from_ref(&self.min_rtt), 0);
        prefetch_index(from_ref(&self.extra_acked), 0);
        prefetch_index(from_ref(&self.noted_losses), 0);
        prefetch_index(from_ref(&self.quantum), 0);
    }

    fn cong_avoid(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn in_startup(&self, _window: &Window) -> bool {
        self.state == State::Startup
    }

    fn set_seed(&mut self, seed: u64) {
        self.choice = HashChoice::seeded(seed);
    }

    fn set_segment_bytes(&mut self, bytes: u32) {
        self.segment_bytes = f64::from(bytes);
    }

    /// "Per-ACK Steps".
    fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
        self.note_limit(window, ack);
        self.note_loss(window, ack);
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

    /// Not modelled: what a spurious recovery did stays.
    fn undo(&mut self, window: &Window, _prior_cwnd: f64) -> f64 {
        window.cwnd
    }

    /// "Modulating cwnd in Loss Recovery": losses bound the model, not ssthresh.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: CongestionEvent) -> f64 {
        self.save_cwnd(window);
        window.ssthresh
    }

    /// "Modulating cwnd in Loss Recovery"; Linux, bbr_set_state.
    fn on_loss_state(&mut self, window: &mut Window, ack: &Ack) {
        self.note_loss(window, ack);
        self.phase = Phase::Loss;
        self.full_pipe.restart(0.0);
        if !self.probes_bandwidth() && self.short.inflight.is_infinite() {
            self.short.inflight = self.prior_cwnd;
        }
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
        let rounds = if full { ROUNDS } else { 1 };
        self.extra_acked.sample(ack, bw, self.round_start, window.cwnd, rounds);
        self.check_startup_loss(ack, rate, round_of_losses);
        self.full_pipe.check(rate, self.round_start);
        self.check_startup_done();
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
            self.rounds_since_probe += 1;
            self.round_start = true;
        }
    }

    fn start_round(&mut self, ack: &Ack) {
        self.round_end = ack.delivered_total;
    }

    /// "BoundBWForModel".
    fn bw(&self) -> f64 {
        self.max_bw.get().at_most(self.short.bw)
    }

    /// "BDPMultiple", of a bandwidth: whole segments.
    fn multiple(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt.least == NEVER {
            return INITIAL_CWND;
        }
        whole_above(gain * bw * double(self.min_rtt.least) / SECOND as f64)
    }

    /// "QuantizationBudget".
    fn with_room(&self, flight: f64) -> f64 {
        let room = flight.at_least(3.0 * self.quantum).at_least(MIN_CWND);
        if self.state == State::Up { room + 2.0 } else { room }
    }

    /// "Inflight", at a bandwidth.
    fn inflight(&self, bw: f64) -> f64 {
        self.with_room(self.multiple(bw, 1.0))
    }

    /// "TargetInflight".
    fn target_inflight(&self, window: &Window) -> f64 {
        self.inflight(self.bw()).at_most(window.cwnd)
    }

    /// How many of `in_flight` are on the path when the pacer lets the next burst go; with that burst, where the
    /// flight is to grow (Linux, bbr_packets_in_net_at_edt).
    fn on_path_at_departure(&self, ack: &Ack, in_flight: f64) -> f64 {
        let burst = if self.gains().0 > 1.0 { self.quantum } else { 0.0 };
        in_flight + burst - ack.delivered_until_departure(self.bw())
    }

    /// The window held the sender back before this ACK, or did so earlier in the same round (Linux, tcp_cwnd_validate).
    fn note_limit(&mut self, window: &Window, ack: &Ack) {
        let full = ack.in_flight_before() >= whole_below(window.cwnd);
        if full || ack.snd_una >= self.limited_until {
            (self.cwnd_limited, self.limited_until) = (full, ack.snd_nxt);
        }
    }

    fn probes_bandwidth(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// "Summary of Control Behavior in the State Machine": pacing and window gain.
    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (STARTUP_PACING_GAIN, CWND_GAIN),
            State::Drain => (DRAIN_PACING_GAIN, CWND_GAIN),
            State::Down => (DOWN_PACING_GAIN, CWND_GAIN),
            State::Cruise | State::Refill => (1.0, CWND_GAIN),
            State::Up => (1.25, 2.25),
            State::ProbeRtt => (1.0, probe_rtt::CWND_GAIN),
        }
    }

    /// "Exiting Startup Based on Packet Loss".
    fn check_startup_loss(&mut self, ack: &Ack, rate: &RateSample, round_of_losses: bool) {
        let lossy = round_of_losses
            && ack.phase == Phase::Recovery
            && self.losses_in_round >= STARTUP_LOSSES
            && loses_too_much(ack, rate);
        if lossy && !self.full_pipe.reached {
            self.full_pipe.reached = true;
            self.long.inflight = self.inflight(self.max_bw.get()).at_least(self.latest.inflight);
        }
    }

    /// "Startup".
    fn check_startup_done(&mut self) {
        if self.state == State::Startup && self.full_pipe.reached {
            self.state = State::Drain;
            self.latest.reset();
        }
    }

    /// "Drain".
    fn check_drain_done(&mut self, ack: &Ack) {
        if self.state == State::Drain {
            let in_flight = self.on_path_at_departure(ack, double(ack.in_flight));
            if in_flight <= self.inflight(self.max_bw.get()) {
                self.start_down(ack);
            }
        }
    }
}

/// "IsInflightTooHigh": of the flight in which a segment left, more than 2 % have been lost.
fn loses_too_much(ack: &Ack, rate: &RateSample) -> bool {
    too_many_lost(ack.lost_total - rate.prior_lost, rate.tx_in_flight)
}
