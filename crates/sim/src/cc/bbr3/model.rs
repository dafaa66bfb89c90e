//! What is read off the samples: bandwidth, the latest deliveries, whether the pipe is full.

use super::super::RateSample;
use super::super::bounds::Bounds;
use super::super::rounding::double;
use crate::time::SECOND;

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

    /// Three rounds in which no ACK showed a growth by a quarter.
    pub fn check(&mut self, rate: &RateSample, round_start: bool) {
        if self.now || rate.app_limited {
            return;
        }
        if delivery_rate(rate) >= self.bw * 1.25 {
            return self.restart(delivery_rate(rate));
        }
        if !round_start {
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= 3;
        self.reached |= self.now;
    }
}
