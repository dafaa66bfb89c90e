//! What is read off the samples: bandwidth, the latest deliveries, whether the pipe is full, how
//! far deliveries come in bunches.

use super::super::bounds::Bounds;
use super::super::max_filter::MaxFilter;
use super::super::rounding::double;
use super::super::{Ack, RateSample};
use crate::time::{Picos, SECOND};
use std::hint::select_unpredictable;

/// Delivery rate of a sample, segments a second.
pub fn delivery_rate(rate: &RateSample) -> f64 {
    double(rate.delivered) * SECOND as f64 / double(rate.interval)
}

/// "BBR.max_bw Max Filter": the maximum of this cycle of probing and of the one before.
#[derive(Default)]
pub struct TwoCycleMax {
    this: f64,
    last: f64,
}

impl TwoCycleMax {
    pub fn get(&self) -> f64 {
        self.this.at_least(self.last)
    }

    /// "UpdateMaxBw".
    pub fn update(&mut self, rate: &RateSample) {
        let bw = delivery_rate(rate);
        if !rate.app_limited || bw >= self.get() {
            self.this = self.this.at_least(bw);
        }
    }

    /// "AdvanceMaxBwFilter"; a cycle without a sample does not make the maximum forgotten.
    pub fn advance(&mut self) {
        if self.this > 0.0 {
            self.last = std::mem::take(&mut self.this);
        }
    }
}

/// "When not Probing for Bandwidth": maxima over the last round trip.
#[derive(Default)]
pub struct Latest {
    pub bw: f64,
    pub inflight: f64,
    pub loss_in_round: bool,
    /// A sample sent after so many were delivered ends the round of losses.
    pub round_end: u64,
    ends: bool,
}

impl Latest {
    /// "UpdateLatestDeliverySignals". Gives whether the round ends.
    pub fn update(&mut self, rate: &RateSample, delivered: u64) -> bool {
        self.bw = self.bw.at_least(delivery_rate(rate));
        self.inflight = self.inflight.at_least(double(rate.delivered));
        self.ends = rate.prior_delivered >= self.round_end;
        if self.ends {
            self.round_end = delivered;
        }
        self.ends
    }

    /// "AdvanceLatestDeliverySignals".
    pub fn advance(&mut self, rate: &RateSample) {
        if std::mem::take(&mut self.ends) {
            self.bw = delivery_rate(rate);
            self.inflight = double(rate.delivered);
        }
    }

    /// "ResetCongestionSignals".
    pub fn reset(&mut self) {
        (self.bw, self.inflight, self.loss_in_round) = (0.0, 0.0, false);
    }
}

/// "Exiting Acceleration Based on Bandwidth Plateau".
#[derive(Default)]
pub struct FullPipe {
    bw: f64,
    rounds: u8,
    pub now: bool,
    pub reached: bool,
}

impl FullPipe {
    /// "ResetFullBW", with a new baseline.
    pub fn restart(&mut self, bw: f64) {
        *self = Self { bw, reached: self.reached, ..Self::default() };
    }

    /// Three rounds without a growth by a quarter.
    pub fn check(&mut self, rate: &RateSample, round_start: bool) {
        if self.now || !round_start || rate.app_limited {
            return;
        }
        if delivery_rate(rate) >= self.bw * 1.25 {
            return self.restart(delivery_rate(rate));
        }
        self.rounds += 1;
        self.now = self.rounds >= 3;
        self.reached |= self.now;
    }
}

/// "BBR.extra_acked": the most delivered beyond the estimated bandwidth, of a round in start-up and
/// of ten later.
#[derive(Default)]
pub struct ExtraAcked {
    since: Picos,
    delivered: f64,
    most: MaxFilter,
}

impl ExtraAcked {
    pub fn get(&self) -> f64 {
        self.most.get()
    }

    pub fn sample(&mut self, ack: &Ack, bw: f64, round: u64, cwnd: f64, full: bool) {
        let expected = bw * double(ack.now - self.since) / SECOND as f64;
        // Chosen without a branch, as in `bbr::extra_acked`: a processor cannot guess which ACK comes late.
        let kept = if self.delivered > expected { self.delivered } else { 0.0 };
        let expected = if kept > 0.0 { expected } else { 0.0 };
        self.since = select_unpredictable(kept.to_bits() > 0, self.since, ack.now);
        self.delivered = kept + double(ack.delivered);
        let extra = (self.delivered - expected).at_most(cwnd);
        self.most.update(round, extra, if full { 10 } else { 1 });
    }
}
