//! PROBE_BW: eight phases of about a round trip (draft, section 4.3.4).

use super::super::Ack;
use super::super::rounding::{double, whole_above, whole_below};
use super::{Bbr, Mode};
use crate::time::{Picos, SECOND};
use std::hint::select_unpredictable;

/// Probe for more; give back what that queued; cruise.
const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// A phase that neither probes nor gives back.
const CRUISE: u8 = 2;

/// The phase and when it began.
#[derive(Default)]
pub struct Cycle {
    pub phase: u8,
    start: Picos,
}

impl Cycle {
    /// That of the phase, or of cruising where a policer is `found`.
    pub fn gain_unless(&self, found: bool) -> f64 {
        GAINS[usize::from(select_unpredictable(found, CRUISE, self.phase) % 8)]
    }

    pub fn probes(&self) -> bool {
        self.phase == 0
    }

    fn begin(&mut self, phase: u8, now: Picos) {
        self.phase = phase % 8;
        self.start = now;
    }
}

impl Bbr {
    /// Starts in any phase but the one that gives back: the kernel draws it at random.
    pub(super) fn enter_probe_bw(&mut self, now: Picos) {
        self.mode = Mode::ProbeBw;
        let draw = self.choice.below(7, now);
        self.cycle.begin(8 - draw, now);
    }

    pub(super) fn advance_cycle(&mut self, ack: &Ack) {
        if self.mode == Mode::ProbeBw && self.phase_is_over(ack) {
            self.cycle.begin(self.cycle.phase + 1, ack.now);
        }
    }

    /// A round trip; longer if the probe has not filled the pipe by then without loss, shorter if
    /// what it queued has drained.
    fn phase_is_over(&self, ack: &Ack) -> bool {
        let full_length = ack.now - self.cycle.start > self.min_rtt;
        let gain = self.gains().0;
        if gain == 1.0 {
            return full_length;
        }
        let before = double(ack.in_flight + ack.delivered + ack.newly_lost);
        let before = self.on_path_at_departure(ack, before);
        if gain > 1.0 {
            let reached = before + self.quantum >= self.inflight_at(gain);
            return full_length && (ack.newly_lost > 0 || reached);
        }
        full_length || before <= self.inflight_at(1.0)
    }

    /// How many of `in_flight` are on the path when the pacer lets the next burst go (Linux, bbr_packets_in_net_at_edt).
    pub(super) fn on_path_at_departure(&self, ack: &Ack, in_flight: f64) -> f64 {
        let wait = ack.next_departure.saturating_sub(ack.now);
        in_flight - whole_below(self.bw() * double(wait) / SECOND as f64)
    }

    /// Segments in flight at `gain` times the filter's bandwidth, also while a policer's is in use.
    fn inflight_at(&self, gain: f64) -> f64 {
        let bdp = self.bw.get() * gain * self.min_rtt as f64 / SECOND as f64;
        self.with_room(whole_above(bdp))
    }
}
