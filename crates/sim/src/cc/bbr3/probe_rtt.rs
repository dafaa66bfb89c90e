//! "ProbeRTT": every five seconds the flow halves its flight to see the path without its queue.

use super::super::bounds::Bounds;
use super::super::rounding::double;
use super::super::{Ack, Window};
use super::limits::ShortTerm;
use super::{AckPhase, Bbr3, MIN_CWND, State};
use crate::time::{MILLISECOND, NEVER, Picos, SECOND};

/// ProbeRTTCwndGain.
pub const CWND_GAIN: f64 = 0.5;
/// ProbeRTTInterval.
const INTERVAL: Picos = 5 * SECOND;
/// MinRTTFilterLen.
const FILTER: Picos = 10 * SECOND;
/// ProbeRTTDuration.
const DURATION: Picos = 200 * MILLISECOND;

/// Least round-trip times of 10 s and of 5 s, and the visit to ProbeRTT in progress.
pub struct MinRtt {
    pub least: Picos,
    at: Picos,
    recent: Picos,
    recent_at: Picos,
    done: Option<Picos>,
    round_done: bool,
    /// Samples of segments sent between these counts of deliveries do not tell of the path's rate.
    limited: (u64, u64),
}

impl Default for MinRtt {
    fn default() -> Self {
        Self {
            least: NEVER,
            at: 0,
            recent: NEVER,
            recent_at: 0,
            done: None,
            round_done: false,
            limited: (u64::MAX, 0),
        }
    }
}

impl MinRtt {
    pub fn sent_while_probing(&self, prior_delivered: u64) -> bool {
        (self.limited.0..=self.limited.1).contains(&prior_delivered)
    }

    /// "UpdateMinRTT". Gives whether it is time for ProbeRTT.
    #[inline(always)]
    fn update(&mut self, now: Picos, rtt: Option<Picos>) -> bool {
        let expired = self.recent != NEVER && now > self.recent_at + INTERVAL;
        if let Some(rtt) = rtt
            && (rtt < self.recent || expired)
        {
            (self.recent, self.recent_at) = (rtt, now);
        }
        if self.recent <= self.least || now > self.at + FILTER {
            (self.least, self.at) = (self.recent, self.recent_at);
        }
        expired
    }
}

impl Bbr3 {
    /// "CheckProbeRTT".
    #[inline(always)]
    pub(super) fn update_min_rtt(&mut self, window: &mut Window, ack: &Ack) {
        let expired = self.min_rtt.update(ack.now, ack.rtt);
        if expired && self.state != State::ProbeRtt {
            self.enter_probe_rtt(window, ack);
        }
        if self.state == State::ProbeRtt {
            self.min_rtt.limited.1 = ack.delivered_total + ack.in_flight;
            self.stay_in_probe_rtt(window, ack);
        }
    }

    /// "EnterProbeRTT".
    #[cold]
    fn enter_probe_rtt(&mut self, window: &Window, ack: &Ack) {
        self.state = State::ProbeRtt;
        self.save_cwnd(window);
        self.min_rtt.done = None;
        self.min_rtt.limited.0 = ack.delivered_total;
        self.ack_phase = AckPhase::Stopping;
        self.start_round(ack);
    }

    /// "HandleProbeRTT".
    #[inline(never)]
    fn stay_in_probe_rtt(&mut self, window: &mut Window, ack: &Ack) {
        match self.min_rtt.done {
            None if double(ack.in_flight) <= self.probe_rtt_cwnd() => {
                self.min_rtt.done = Some(ack.now + DURATION);
                self.min_rtt.round_done = false;
                self.start_round(ack);
            }
            None => {}
            Some(done) => {
                self.min_rtt.round_done |= self.round_start;
                if self.min_rtt.round_done && ack.now > done {
                    self.min_rtt.recent_at = ack.now;
                    window.cwnd = window.cwnd.at_least(self.prior_cwnd);
                    self.leave_probe_rtt(ack);
                }
            }
        }
    }

    /// "ExitProbeRTT".
    fn leave_probe_rtt(&mut self, ack: &Ack) {
        self.short = ShortTerm::default();
        if self.full_pipe.reached {
            self.start_down(ack);
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }

    /// "ProbeRTTCwnd".
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.multiple(self.bw(), CWND_GAIN).at_least(MIN_CWND)
    }
}
