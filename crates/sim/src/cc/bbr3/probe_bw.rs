//! "ProbeBW": down, cruise, refill, up.

use super::super::bounds::{Bounds, if_counts};
use super::super::rounding::double;
use super::super::{Ack, RateSample, Window};
use super::limits::ShortTerm;
use super::model::delivery_rate;
use super::{AckPhase, Bbr3, State, loses_too_much};
use crate::time::SECOND;

/// Rounds after which a flow probes at the latest, so that Reno may live beside it.
const RENO_ROUNDS: f64 = 63.0;

impl Bbr3 {
    /// "UpdateProbeBWCyclePhase".
    pub(super) fn update_probe_bw(&mut self, window: &Window, ack: &Ack, rate: &RateSample) {
        if !self.full_pipe.reached || self.adapt_long_term(window, ack, rate) {
            return;
        }
        match self.state {
            State::Down if self.time_to_probe(window, ack) => self.start_refill(ack),
            State::Down if self.time_to_cruise(ack) => self.start_cruise(),
            State::Cruise if self.time_to_probe(window, ack) => self.start_refill(ack),
            State::Refill if self.round_start => {
                self.long.probing = true;
                self.start_up(window, ack, rate);
            }
            State::Up => self.go_down_in_time(window, ack, rate),
            _ => {}
        }
    }

    fn in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    pub(super) fn start_down(&mut self, ack: &Ack) {
        self.latest.reset();
        self.long.stop_raising();
        // "PickProbeWait": T_bbr of 2 to 3 s; 0 or 1 rounds of T_reno have passed.
        self.rounds_since_probe = u64::from(self.choice.below(2, ack.now));
        let wait = 2.0 + self.choice.fraction(ack.now);
        self.probe_wait = (wait * SECOND as f64) as u64;
        self.cycle_start = ack.now;
        self.ack_phase = AckPhase::Stopping;
        self.start_round(ack);
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        if self.short.inflight.is_finite() {
            self.short.inflight = self.short.inflight.at_most(self.long.inflight);
        }
        self.state = State::Cruise;
    }

    fn start_refill(&mut self, ack: &Ack) {
        self.short = ShortTerm::default();
        self.long.restart_raising();
        self.ack_phase = AckPhase::Refilling;
        self.start_round(ack);
        self.state = State::Refill;
    }

    fn start_up(&mut self, window: &Window, ack: &Ack, rate: &RateSample) {
        self.ack_phase = AckPhase::Starting;
        self.start_round(ack);
        self.full_pipe.restart(delivery_rate(rate));
        self.state = State::Up;
        self.long.steepen(window.cwnd);
    }

    /// "IsTimeToProbeBW": min(T_bbr, T_reno).
    fn time_to_probe(&self, window: &Window, ack: &Ack) -> bool {
        let reno = self.target_inflight(window).at_most(RENO_ROUNDS);
        ack.now > self.cycle_start + self.probe_wait || double(self.rounds_since_probe) >= reno
    }

    /// "IsTimeToCruise".
    fn time_to_cruise(&self, ack: &Ack) -> bool {
        let flight = self.on_path_at_departure(ack, ack.in_flight_before());
        flight <= self.long.with_headroom() && flight <= self.inflight(self.max_bw.get())
    }

    fn go_down_in_time(&mut self, window: &Window, ack: &Ack, rate: &RateSample) {
        if self.time_to_go_down(window, ack, rate) {
            self.long.too_high = false;
            self.start_down(ack);
        }
    }

    /// "IsTimeToGoDown".
    fn time_to_go_down(&mut self, window: &Window, ack: &Ack, rate: &RateSample) -> bool {
        let flight = self.on_path_at_departure(ack, ack.in_flight_before());
        if self.long.too_high && flight >= self.long.inflight {
            self.long.precautionary = true;
            return true;
        }
        if self.cwnd_limited && window.cwnd >= self.long.inflight {
            self.full_pipe.restart(delivery_rate(rate));
            return false;
        }
        self.full_pipe.now
    }

    /// "AdaptLongTermModel". Gives whether it has decided a transition.
    pub(super) fn adapt_long_term(
        &mut self,
        window: &Window,
        ack: &Ack,
        rate: &RateSample,
    ) -> bool {
        if self.ack_phase == AckPhase::Starting && self.round_start {
            self.ack_phase = AckPhase::Feedback;
        }
        if self.ack_phase == AckPhase::Stopping && self.round_start && self.end_feedback(ack, rate)
        {
            return true;
        }
        // Chosen without a branch: a processor cannot guess which ACK tells of losses.
        let lossy = loses_too_much(ack, rate);
        let borne = if_counts(!lossy, double(rate.tx_in_flight));
        self.long.inflight = self.long.inflight.at_least(borne);
        if lossy & self.long.probing {
            let limited = rate.app_limited || self.min_rtt.sent_while_probing(rate.prior_delivered);
            self.lower_long_term(window, ack, (!limited).then_some(rate.tx_in_flight));
        }
        if window.cwnd >= self.long.inflight
            && self.state == State::Up
            && !lossy
            && self.cwnd_limited
        {
            self.long.raise(ack.delivered, window.cwnd, self.round_start);
        }
        false
    }

    /// The last sample of the probe has arrived. After a cautious probe that went well, another one.
    fn end_feedback(&mut self, ack: &Ack, rate: &RateSample) -> bool {
        self.long.probing = false;
        self.ack_phase = AckPhase::Init;
        if self.in_probe_bw() && !rate.app_limited {
            self.max_bw.advance();
        }
        let again = self.in_probe_bw() && self.long.precautionary && !self.long.too_high;
        if again {
            self.start_refill(ack);
        }
        again
    }
}
