//! What losses teach: bounds of the model.

use super::super::bounds::Bounds;
use super::super::rounding::{double, whole_below};
use super::super::{Ack, RateSample, Window};
use super::{BETA, Bbr3, MIN_CWND, State, loses_too_much};

/// Headroom: the share of the long-term bound that is left to others.
const HEADROOM: f64 = 0.15;

/// "Probing for Bandwidth In ProbeBW": the flight that the path bears, and how it is raised.
pub struct LongTerm {
    pub inflight: f64,
    /// Samples of segments sent while probing arrive, and have not yet lowered the bound.
    pub probing: bool,
    pub too_high: bool,
    pub precautionary: bool,
    rounds_up: u32,
    acked: f64,
    acked_per_increase: f64,
}

impl Default for LongTerm {
    fn default() -> Self {
        Self {
            inflight: f64::INFINITY,
            probing: false,
            too_high: false,
            precautionary: false,
            rounds_up: 0,
            acked: 0.0,
            acked_per_increase: f64::INFINITY,
        }
    }
}

impl LongTerm {
    pub fn stop_raising(&mut self) {
        self.acked_per_increase = f64::INFINITY;
    }

    pub fn restart_raising(&mut self) {
        (self.rounds_up, self.acked, self.precautionary) = (0, 0.0, false);
    }

    /// "RaiseInflightLongtermSlope": by 1, 2, 4, … segments a round.
    pub fn steepen(&mut self, cwnd: f64) {
        self.acked_per_increase = (cwnd / f64::from(1_u32 << self.rounds_up)).at_least(1.0);
        self.rounds_up = (self.rounds_up + 1).min(30);
    }

    /// "ProbeInflightLongtermUpward".
    pub fn raise(&mut self, delivered: u64, cwnd: f64, round_start: bool) {
        self.acked += double(delivered);
        let steps = whole_below(self.acked / self.acked_per_increase);
        if steps > 0.0 {
            self.acked -= steps * self.acked_per_increase;
            self.inflight += steps;
        }
        if round_start {
            self.steepen(cwnd);
        }
    }

    /// "InflightWithHeadroom".
    pub fn with_headroom(&self) -> f64 {
        if self.inflight == f64::INFINITY {
            return self.inflight;
        }
        (self.inflight - (HEADROOM * self.inflight).at_least(1.0)).at_least(MIN_CWND)
    }
}

/// "When not Probing for Bandwidth": bounds that the next probe lifts.
pub struct ShortTerm {
    pub bw: f64,
    pub inflight: f64,
}

impl Default for ShortTerm {
    fn default() -> Self {
        Self { bw: f64::INFINITY, inflight: f64::INFINITY }
    }
}

impl Bbr3 {
    /// "NoteLoss", and "HandleLostPacket" with the ACK's own sample.
    pub(super) fn note_loss(&mut self, window: &Window, ack: &Ack) {
        if !self.latest.loss_in_round {
            self.latest.round_end = ack.delivered_total;
        }
        self.latest.loss_in_round = true;
        self.losses_in_round += 1;
        if let Some(rate) = ack.rate
            && self.long.probing
            && loses_too_much(ack, &rate)
        {
            self.lower_long_term(window, ack, &rate);
        }
    }

    /// "HandleInflightTooHigh".
    fn lower_long_term(&mut self, window: &Window, ack: &Ack, rate: &RateSample) {
        self.long.too_high = true;
        self.long.probing = false;
        let limited = rate.app_limited || self.min_rtt.sent_while_probing(rate.prior_delivered);
        if !limited {
            let least = self.target_inflight(window) * BETA;
            self.long.inflight = double(rate.tx_in_flight).at_least(least);
        }
        if self.state == State::Up {
            self.start_down(ack);
        }
    }

    /// "AdaptLowerBoundsFromCongestion": once a round.
    pub(super) fn adapt_short_term(&mut self, window: &Window) {
        let probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        if probing || !self.latest.loss_in_round {
            return;
        }
        if self.short.bw.is_infinite() {
            self.short.bw = self.max_bw.get();
        }
        if self.short.inflight.is_infinite() {
            self.short.inflight = window.cwnd;
        }
        self.short.bw = self.latest.bw.at_least(BETA * self.short.bw);
        self.short.inflight = self.latest.inflight.at_least(BETA * self.short.inflight);
    }

    /// "Bounding cwnd Based on Recent Congestion".
    pub(super) fn volume_cap(&self) -> f64 {
        let kind = match self.state {
            State::Down | State::Refill | State::Up => 0,
            State::Cruise | State::ProbeRtt => 1,
            State::Startup | State::Drain => 2,
        };
        // From a list, not by a branch: which state a flow is in is chance.
        let long = [self.long.inflight, self.long.with_headroom(), f64::INFINITY][kind];
        long.at_most(self.short.inflight).at_least(MIN_CWND)
    }
}
