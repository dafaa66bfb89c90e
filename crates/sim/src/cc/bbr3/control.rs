//! Pacing rate, burst and window, as they follow from the model.

use super::super::bounds::Bounds;
use super::super::pacing::paced;
use super::super::rounding::{double, whole_below};
use super::super::{Ack, Phase, Window};
use super::{Bbr3, INITIAL_CWND, LEAST_QUANTUM, MIN_CWND, STARTUP_PACING_GAIN, State};
use crate::time::{MICROSECOND, SECOND};

/// Bytes of the largest burst (GSO_LEGACY_MAX_SIZE less MAX_TCP_HEADER).
const LARGEST_QUANTUM_BYTES: f64 = 65_215.0;

impl Bbr3 {
    /// "Pacing Rate".
    pub(super) fn set_pacing_rate(&mut self, window: &mut Window, ack: &Ack) {
        if !self.seen_rtt {
            self.set_first_pacing_rate(window, ack);
        }
        let rate = paced(self.bw(), self.gains().0);
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
            self.pace_at(window, paced(nominal, STARTUP_PACING_GAIN));
        }
    }

    /// "Pacing Rate", and "Send Quantum": a 1024th of a second's worth and more on short paths, at least two segments.
    pub(super) fn pace_at(&mut self, window: &mut Window, rate: f64) {
        window.pacing_rate = Some(rate);
        let halvings = (self.min_rtt.least / (512 * MICROSECOND)).min(64) as i32;
        let near = 65_536.0 * 0.5_f64.powi(halvings);
        let bytes = (rate * self.segment_bytes / 1024.0 + near).at_most(LARGEST_QUANTUM_BYTES);
        self.quantum = whole_below(bytes / self.segment_bytes).at_least(LEAST_QUANTUM);
    }

    /// "cwnd Adjustment Mechanism".
    pub(super) fn set_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        let before = std::mem::replace(&mut self.phase, ack.phase);
        if before == Phase::Loss && ack.phase != Phase::Loss {
            window.cwnd = window.cwnd.at_least(self.prior_cwnd);
        }
        if ack.delivered > 0 {
            self.grow_cwnd(window, double(ack.delivered));
        }
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.at_most(self.probe_rtt_cwnd());
        }
        window.cwnd = window.cwnd.at_most(self.volume_cap());
    }

    fn grow_cwnd(&mut self, window: &mut Window, delivered: f64) {
        let (bw, gain) = (self.bw(), self.gains().1);
        let target = self.with_room(self.multiple(bw, gain) + self.extra_acked.most(bw));
        if self.full_pipe.reached {
            window.cwnd = (window.cwnd + delivered).at_most(target);
        } else if window.cwnd < target || window.cwnd < 2.0 * INITIAL_CWND {
            window.cwnd += delivered;
        }
        window.cwnd = window.cwnd.at_least(MIN_CWND);
    }

    /// "SaveCwnd".
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let undisturbed = self.phase == Phase::Open && self.state != State::ProbeRtt;
        let before = if undisturbed { 0.0 } else { self.prior_cwnd };
        self.prior_cwnd = before.at_least(window.cwnd);
    }
}
