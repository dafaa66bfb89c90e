//! PROBE_BW: eight phases of about a round trip (draft, section 4.3.4).

use super::super::Ack;
use super::super::rounding::whole_above;
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
        let on_path = ack.in_flight_before() - ack.delivered_until_departure(self.bw());
        if gain > 1.0 {
            let reached = on_path + self.quantum >= self.inflight_at(gain);
            return full_length && (ack.newly_lost > 0 || reached);
        }
        full_length || on_path <= self.inflight_at(1.0)
    }

    /// Segments in flight at `gain` times the filter's bandwidth, also while a policer's is in use.
    pub(super) fn inflight_at(&self, gain: f64) -> f64 {
        let bdp = self.bw.get() * gain * self.min_rtt as f64 / SECOND as f64;
        self.with_room(whole_above(bdp))
    }
}
