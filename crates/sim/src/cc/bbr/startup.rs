//! How start-up ends: the pipe is full, then what start-up queued drains.

use super::super::rounding::double;
use super::super::{Ack, Window};
use super::{Bbr, Mode};

/// The pipe is full once the bandwidth has not grown by a quarter for three rounds.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u8 = 3;
impl Bbr {
    /// Draft, section 4.3.2.2.
    pub(super) fn check_full_pipe(&mut self, ack: &Ack) {
        let limited = ack.rate.is_some_and(|rate| self.sent_in_probe_rtt(rate.prior_delivered));
        if self.full_bw_reached || !self.round_start || limited {
            return;
        }
        if self.bw.get() >= self.full_bw * FULL_GROWTH {
            self.full_bw = self.bw.get();
            self.full_bw_rounds = 0;
            return;
        }
        self.full_bw_rounds += 1;
        self.full_bw_reached = self.full_bw_rounds >= FULL_ROUNDS;
    }

    /// Draft, section 4.3.3.
    pub(super) fn check_drained(&mut self, window: &mut Window, ack: &Ack) {
        // Until the gain of start-up is given up, with this ACK, a burst at it is on its way (Linux,
        // bbr_packets_in_net_at_edt).
        let mut burst = 0.0;
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight_at(1.0);
            burst = self.quantum;
        }
        let on_path = || burst + double(ack.in_flight) - ack.delivered_until_departure(self.bw());
        if self.mode == Mode::Drain && on_path() <= self.inflight_at(1.0) {
            self.enter_probe_bw(ack.now);
        }
    }
}
