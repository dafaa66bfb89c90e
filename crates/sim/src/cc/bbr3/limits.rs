//! What losses teach: bounds of the model.

use super::super::bounds::Bounds;
use super::super::rounding::{double, whole_below};
use super::super::{Ack, Window};
use super::{BETA, Bbr3, MIN_CWND, State};

/// Headroom: the share of the long-term bound that is left to others.
const HEADROOM: f64 = 38.0 / 256.0;

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
        let growth = f64::from(1_u32 << self.rounds_up);
        self.acked_per_increase = whole_below(cwnd / growth).at_least(1.0);
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
        let headroom = whole_below(HEADROOM * self.inflight).at_least(1.0);
        (self.inflight - headroom).at_least(MIN_CWND)
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
    /// "NoteLoss", and "HandleLostPacket" with the flight of the first segment that was one too many.
    #[inline(always)]
    pub(super) fn note_loss(&mut self, window: &Window, ack: &Ack) {
        if ack.lost_total != self.noted_losses {
            self.note_new_loss(window, ack);
        }
    }

    #[inline(never)]
    fn note_new_loss(&mut self, window: &Window, ack: &Ack) {
        self.noted_losses = ack.lost_total;
        if !self.latest.loss_in_round {
            self.latest.round_end = ack.delivered_total;
        }
        self.latest.loss_in_round = true;
        self.losses_in_round += u32::from(ack.newly_lost > 0);
        if let Some(in_flight) = ack.lost_flight
            && self.long.probing
        {
            self.lower_long_term(window, ack, Some(in_flight));
        }
    }

    /// "HandleInflightTooHigh"; a flight that says nothing of the path's volume is left out.
    pub(super) fn lower_long_term(&mut self, window: &Window, ack: &Ack, in_flight: Option<u64>) {
        self.long.too_high = true;
        self.long.probing = false;
        if let Some(in_flight) = in_flight {
            let least = whole_below(self.target_inflight(window) * BETA);
            self.long.inflight = double(in_flight).at_least(least);
        }
        if self.state == State::Up {
            self.start_down(ack);
        }
    }

    /// "AdaptLowerBoundsFromCongestion": once a round.
    pub(super) fn adapt_short_term(&mut self, window: &Window) {
        if self.probes_bandwidth() || !self.latest.loss_in_round {
            return;
        }
        if self.short.bw.is_infinite() {
            self.short.bw = self.max_bw.get();
        }
        if self.short.inflight.is_infinite() {
            self.short.inflight = window.cwnd;
        }
        self.short.bw = self.latest.bw.at_least(BETA * self.short.bw);
        let least = whole_below(BETA * self.short.inflight);
        self.short.inflight = self.latest.inflight.at_least(least);
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
