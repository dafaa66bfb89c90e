//! The least round-trip time, and the mode that measures it with a small window.

use super::{Bbr, MIN_CWND, Mode};
use crate::cc::bounds::Bounds;
use crate::cc::rounding::double;
use crate::cc::{Ack, Window};
use crate::time::{MICROSECOND, MILLISECOND, NEVER, Picos, SECOND};

/// How long a least round-trip time counts.
const MIN_RTT_WINDOW: Picos = 10 * SECOND;
/// How long the window stays at its least.
pub(super) const PROBE_RTT_TIME: Picos = 200 * MILLISECOND;

impl Bbr {
    /// Whether the sample of a segment that was sent after `prior_delivered` deliveries tells of the window's minimum.
    pub(super) fn sent_in_probe_rtt(&self, prior_delivered: u64) -> bool {
        (self.small_window.0..=self.small_window.1).contains(&prior_delivered)
    }

    /// Draft, sections 4.1.2 and 4.3.5; Linux, bbr_update_min_rtt, since 5.10.
    pub(super) fn update_min_rtt(&mut self, window: &mut Window, ack: &Ack) {
        let expired = self.min_rtt_at > 0 && ack.now > self.min_rtt_at + MIN_RTT_WINDOW;
        // In the kernel's microseconds. A round trip that equals the least one does not renew it; before Linux 5.10 it did.
        let rtt = ack.rtt.unwrap_or(NEVER);
        if (rtt < self.min_rtt) | (expired & ack.rtt.is_some()) {
            self.min_rtt = rtt - rtt % MICROSECOND;
            self.min_rtt_at = ack.now;
        }
        if expired && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt_done = None;
            self.small_window.0 = ack.delivered_total;
        }
        if self.mode == Mode::ProbeRtt {
            self.small_window.1 = ack.delivered_total + ack.in_flight;
            self.stay_in_probe_rtt(window, ack);
        }
    }

    /// At least 200 ms and a round trip at the least window.
    fn stay_in_probe_rtt(&mut self, window: &mut Window, ack: &Ack) {
        match self.probe_rtt_done {
            None if double(ack.in_flight) <= MIN_CWND => {
                self.probe_rtt_done = Some(ack.now + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.round_end = ack.delivered_total;
            }
            None => {}
            Some(done) => {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done && ack.now > done {
                    self.min_rtt_at = ack.now;
                    window.cwnd = window.cwnd.at_least(self.prior_cwnd);
                    self.leave_probe_rtt(ack.now);
                }
            }
        }
    }

    fn leave_probe_rtt(&mut self, now: Picos) {
        if self.full_bw_reached {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
