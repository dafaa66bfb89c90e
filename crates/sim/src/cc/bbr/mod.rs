//! BBR, version 1, as Linux has it (Cardwell et al. 2016, "BBR: Congestion-Based Congestion Control";
//! draft-cardwell-iccrg-bbr-congestion-control-00): a model of the path, its bandwidth and its least
//! round-trip time, sets the pacing rate and bounds the window. Losses do not.
//!
//! Not modelled: idle restarts, for senders here always have data.

mod bandwidth;
mod cycle;
mod lt_bw;
mod probe_rtt;
mod quantum;
mod startup;
#[cfg(test)]
mod tests;

use super::bounds::{Bounds, if_counts};
use super::extra_acked::{ExtraAcked, ROUNDS};
use super::hash_choice::HashChoice;
use super::max_filter::MaxFilter;
use super::pacing::paced;
use super::record::{Declared, Decrease, Marks, Record};
use super::rounding::{double, whole_above};
use super::{Ack, CongestionEvent, Controller, Phase, RateSample, Window};
use crate::time::{MICROSECOND, NEVER, Picos, SECOND};
use bandwidth::bandwidth;
use cycle::Cycle;
use lt_bw::LongTermBw;
use prefetch_index::prefetch_index;
use quantum::quantum;
use std::slice::from_ref;

/// 2 / ln 2, in the kernel's 1/256: the least gain at which pacing doubles a round trip.
const HIGH_GAIN: f64 = 739.0 / 256.0;
/// Its inverse drains in one round trip what start-up queued.
const DRAIN_GAIN: f64 = 88.0 / 256.0;
const CWND_GAIN: f64 = 2.0;
/// Round trips that the bandwidth filter remembers.
const BW_ROUNDS: u64 = 10;
const MIN_CWND: f64 = 4.0;
const INITIAL_CWND: f64 = 10.0;
/// Payload of a segment until it is told: the kernel's quanta are in bytes, ours in segments.
const SEGMENT_BYTES: f64 = 1448.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR version 1 as in Linux. Rates are in segments a second. What most ACKs touch comes first.
#[repr(C, align(64))]
pub struct Bbr {
    bw: MaxFilter,
    rounds: u64,
    /// A sample sent after so many were delivered ends the round.
    round_end: u64,
    extra_acked: ExtraAcked,
    lt_bw: LongTermBw,
    /// When the last segment was delivered.
    delivered_at: Picos,
    min_rtt: Picos,
    min_rtt_at: Picos,
    /// Samples of segments sent between these counts of deliveries tell of the window's minimum in
    /// ProbeRtt, not of the path.
    small_window: (u64, u64),
    cycle: Cycle,
    prior_cwnd: f64,
    /// Segments in a burst at the pacing rate.
    quantum: f64,
    mode: Mode,
    phase: Phase,
    round_start: bool,
    packet_conservation: bool,
    seen_rtt: bool,
    full_bw_reached: bool,
    probe_rtt_round_done: bool,
    full_bw_rounds: u8,
    full_bw: f64,
    probe_rtt_done: Option<Picos>,
    choice: HashChoice,
    segment_bytes: f64,
}

impl Default for Bbr {
    fn default() -> Self {
        Self {
            mode: Mode::Startup,
            bw: MaxFilter::default(),
            rounds: 0,
            round_end: 0,
            round_start: false,
            delivered_at: 0,
            min_rtt: NEVER,
            min_rtt_at: 0,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            small_window: (u64::MAX, 0),
            full_bw: 0.0,
            full_bw_rounds: 0,
            full_bw_reached: false,
            cycle: Cycle::default(),
            choice: HashChoice::default(),
            extra_acked: ExtraAcked::default(),
            lt_bw: LongTermBw::default(),
            prior_cwnd: 0.0,
            phase: Phase::Open,
            packet_conservation: false,
            seen_rtt: false,
            quantum: quantum(0.0, SEGMENT_BYTES),
            segment_bytes: SEGMENT_BYTES,
        }
    }
}

impl Declared for Bbr {
    const RECORD: Record = Record {
        paced: true,
        decrease: Decrease::Model,
        marks: Marks::Ignored,
        timeout_reduces_ssthresh: false,
        growth: None,
        response: None,
        needs_every_ack: true,
        source: "draft-cardwell-iccrg-bbr-congestion-control-00; Linux, tcp_bbr",
    };
}

impl Controller for Bbr {
    #[inline(always)]
    fn prefetch(&self) {
        prefetch_index(from_ref(&self.bw), 0);
        prefetch_index(from_ref(&self.extra_acked), 0);
        prefetch_index(from_ref(&self.lt_bw), 0);
        prefetch_index(from_ref(&self.delivered_at), 0);
        prefetch_index(from_ref(&self.cycle), 0);
        prefetch_index(from_ref(&self.mode), 0);
    }

    fn cong_avoid(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn in_startup(&self, _window: &Window) -> bool {
        self.mode == Mode::Startup
    }

    fn set_seed(&mut self, seed: u64) {
        self.choice = HashChoice::seeded(seed);
    }

    fn set_segment_bytes(&mut self, bytes: u32) {
        self.segment_bytes = bytes.into();
        self.lt_bw.set_segment_bytes(self.segment_bytes);
    }

    fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
        if ack.delivered > 0 {
            self.delivered_at = ack.now;
        }
        self.take_sample(window, ack);
        self.advance_cycle(ack);
        self.check_full_pipe(ack);
        self.check_drained(window, ack);
        self.update_min_rtt(window, ack);
        self.set_pacing_rate(window, ack);
        self.set_cwnd(window, ack);
    }

    /// Losses do not set it; the window is kept for the end of the recovery.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: CongestionEvent) -> f64 {
        self.save_cwnd(window);
        window.ssthresh
    }

    /// What was taken for losses told of no full pipe and no policer (Linux, bbr_undo_cwnd).
    fn undo(&mut self, window: &Window, _prior_cwnd: f64) -> f64 {
        (self.full_bw, self.full_bw_rounds) = (0.0, 0);
        self.lt_bw.forget();
        window.cwnd
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Picos) {
        self.phase = Phase::Loss;
        self.full_bw = 0.0;
    }

    /// For the policer's detector a timeout is a loss that ends a round (Linux, bbr_set_state).
    fn on_loss_state(&mut self, _window: &mut Window, ack: &Ack) {
        let loss = Ack { now: self.delivered_at, newly_lost: 1, ..*ack };
        self.sample_lt_bw(&loss, false, true);
    }
}

impl Bbr {
    /// The bandwidth in use: the filter's, or the policer's where one has been found.
    fn bw(&self) -> f64 {
        self.lt_bw.rate_or(self.bw.get())
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (self.cycle_gain(), CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    /// A policer's rate is not probed.
    fn cycle_gain(&self) -> f64 {
        self.cycle.gain_unless(self.lt_bw.is_in_use())
    }

    /// Draft, section 4.1: rounds, the bandwidth filter, and what depends on a valid sample.
    fn take_sample(&mut self, window: &Window, ack: &Ack) {
        self.round_start = false;
        // Too short an interval: the segment of the sample was retransmitted without need.
        let whole = |time: Picos| time / MICROSECOND;
        let long = |rate: &RateSample| whole(rate.interval) >= whole(ack.min_rtt);
        let Some(rate) = ack.rate.filter(long) else { return };
        if rate.prior_delivered >= self.round_end {
            self.round_end = ack.delivered_total;
            self.rounds += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        let limited = rate.app_limited || self.sent_in_probe_rtt(rate.prior_delivered);
        self.sample_lt_bw(ack, limited, self.round_start);
        let bw = bandwidth(rate.delivered, rate.interval);
        if !limited || bw >= self.bw.get() {
            self.bw.update(self.rounds, bw, BW_ROUNDS);
        }
        let bw = self.bw();
        self.extra_acked.sample(ack, bw, self.round_start, window.cwnd, ROUNDS);
    }

    #[inline(always)]
    fn sample_lt_bw(&mut self, ack: &Ack, limited: bool, round_start: bool) {
        let in_cycle = self.mode == Mode::ProbeBw;
        if self.lt_bw.sample(ack, limited, round_start, in_cycle) {
            self.enter_probe_bw(ack.now);
        }
    }

    /// Draft, section 4.2.1. Before the pipe is full the rate never falls.
    fn set_pacing_rate(&mut self, window: &mut Window, ack: &Ack) {
        if !self.seen_rtt {
            self.set_first_pacing_rate(window, ack);
        }
        let rate = paced(self.bw(), self.gains().0);
        if let Some(current) = window.pacing_rate
            && rate != current
            && self.bw() > 0.0
            && (self.full_bw_reached || rate > current)
        {
            self.pace_at(window, rate);
        }
    }

    #[cold]
    fn set_first_pacing_rate(&mut self, window: &mut Window, ack: &Ack) {
        if ack.srtt > 0 {
            self.seen_rtt = true;
            let bw = bandwidth(window.cwnd as u64, ack.srtt);
            self.pace_at(window, paced(bw, HIGH_GAIN));
        }
    }

    fn pace_at(&mut self, window: &mut Window, rate: f64) {
        window.pacing_rate = Some(rate);
        self.quantum = quantum(rate, self.segment_bytes);
    }

    fn bdp(&self, gain: f64) -> f64 {
        if self.min_rtt == NEVER {
            return INITIAL_CWND;
        }
        whole_above(self.bw() * gain * double(self.min_rtt) / SECOND as f64)
    }

    /// Room for bursts at both ends; even, for delayed ACKs; more while probing.
    fn with_room(&self, cwnd: f64) -> f64 {
        let even = whole_above((cwnd + 3.0 * self.quantum) / 2.0) * 2.0;
        even + if_counts((self.mode == Mode::ProbeBw) & self.cycle.probes(), 2.0)
    }

    fn save_cwnd(&mut self, window: &Window) {
        let undisturbed = self.phase == Phase::Open && self.mode != Mode::ProbeRtt;
        let before = if undisturbed { 0.0 } else { self.prior_cwnd };
        self.prior_cwnd = before.at_least(window.cwnd);
    }

    /// Draft, section 4.2.3.
    fn set_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        let delivered = double(ack.delivered);
        if ack.delivered > 0 && !self.conserve(window, ack) {
            let most = self.with_room(self.bdp(self.gains().1) + self.extra_acked_allowance());
            if self.full_bw_reached {
                window.cwnd = (window.cwnd + delivered).at_most(most);
            } else if window.cwnd < most || double(ack.delivered_total) < INITIAL_CWND {
                window.cwnd += delivered;
            }
            window.cwnd = window.cwnd.at_least(MIN_CWND);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.at_most(MIN_CWND);
        }
    }

    /// Draft, section 4.2.3.4: a segment for each delivered in the first round of a recovery, up to
    /// two later; the old window at its end. Gives whether it conserves.
    fn conserve(&mut self, window: &mut Window, ack: &Ack) -> bool {
        let flight = double(ack.in_flight + ack.delivered);
        let before = std::mem::replace(&mut self.phase, ack.phase);
        window.cwnd = (window.cwnd - double(ack.newly_lost)).at_least(1.0);
        if ack.phase == Phase::Recovery && before != Phase::Recovery {
            self.packet_conservation = true;
            self.round_end = ack.delivered_total;
            window.cwnd = flight;
        } else if ack.phase == Phase::Open && before != Phase::Open {
            self.packet_conservation = false;
            window.cwnd = window.cwnd.at_least(self.prior_cwnd);
        }
        if self.packet_conservation {
            window.cwnd = window.cwnd.at_least(flight);
        }
        self.packet_conservation
    }

    fn extra_acked_allowance(&self) -> f64 {
        if self.full_bw_reached { self.extra_acked.most(self.bw()) } else { 0.0 }
    }
}
