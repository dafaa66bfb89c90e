//! PIE, the proportional integral controller enhanced (RFC 8033; Linux `pie`).
//!
//! The probability is due every `tupdate`. It is brought up to date when a packet arrives: between
//! two arrivals the queue drains at the wire's rate, so that its delay at each time is known and
//! no departure rate has to be estimated (RFC 8033, section 4.3).

mod params;

pub use params::PieParams;

use super::drain::Drain;
use super::{Admission, Arrival, Backlog, Limit};
use crate::chance::Chance;
use crate::time::{MILLISECOND, Picos, SECOND};

/// MAX_BURST (RFC 8033, section 4.4).
const MAX_BURST: Picos = 150 * MILLISECOND;
/// Beyond this delay the probability rises faster (RFC 8033, section 5.5; Linux).
const HIGH_DELAY: Picos = 250 * MILLISECOND;
/// Most that one step may add once the probability is 10 % (RFC 8033, section 5.5).
const LARGEST_STEP: f64 = 0.02;

/// See the module's page.
#[derive(Clone, Debug)]
pub struct Pie {
    params: PieParams,
    largest_packet: u32,
    probability: f64,
    /// Probabilities summed since the last drop (RFC 8033, section 5.4).
    accumulated: f64,
    /// The delay at the last step.
    delay: Picos,
    burst_allowance: Picos,
    next_update: Picos,
    chance: Chance,
    drain: Drain,
}

impl Arrival for Pie {
    #[inline(never)]
    fn admit(&mut self, now: Picos, bytes: u32, ecn: bool, backlog: &Backlog) -> Admission {
        self.drain.observe(now, backlog.delay);
        self.catch_up(now);
        let admission = self.judge(bytes, ecn, backlog);
        if admission == Admission::Drop {
            self.accumulated = 0.0;
        } else {
            self.drain.accept(now, bytes);
        }
        admission
    }

    fn capacity(&self) -> usize {
        self.params.limit as usize
    }

    fn limit(&self) -> Limit {
        Limit::Packets(self.params.limit.into())
    }
}

impl Pie {
    /// The probability of the last step.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    #[inline]
    fn judge(&mut self, bytes: u32, ecn: bool, backlog: &Backlog) -> Admission {
        if backlog.packets >= self.params.limit as usize {
            Admission::Drop
        } else if !self.strikes(bytes, backlog) {
            Admission::Accept
        } else if self.params.ecn && ecn && self.probability <= 0.1 {
            Admission::Mark // RFC 8033, section 5.1: beyond 10 % a mark is no longer enough.
        } else {
            Admission::Drop
        }
    }

    /// RFC 8033, section 4.1 with its safeguards, section 4.4, and section 5.4: neither twice in
    /// short order nor never for long.
    fn strikes(&mut self, bytes: u32, backlog: &Backlog) -> bool {
        let calm = self.delay < self.params.target / 2 && self.probability < 0.2;
        let short = backlog.bytes < 2 * u64::from(self.largest_packet);
        if self.burst_allowance > 0 || calm || short {
            return false;
        }
        let probability = self.probability_for(bytes);
        self.accumulated = if probability > 0.0 { self.accumulated + probability } else { 0.0 };
        if self.accumulated < 0.85 {
            return false;
        }
        let struck = self.accumulated >= 8.5 || self.chance.uniform() < probability;
        if struck {
            self.accumulated = 0.0;
        }
        struck
    }

    fn probability_for(&self, bytes: u32) -> f64 {
        if self.params.bytemode && bytes <= self.largest_packet {
            self.probability * f64::from(bytes) / f64::from(self.largest_packet)
        } else {
            self.probability
        }
    }

    /// Takes the steps that were due up to `now`.
    #[inline]
    fn catch_up(&mut self, now: Picos) {
        while self.next_update <= now {
            let delay = self.drain.delay(self.next_update);
            let rested = self.rests() && delay == 0;
            self.step(delay);
            self.next_update += self.params.tupdate;
            if rested && self.next_update <= now {
                // Further steps on an empty queue change nothing.
                let missed = (now - self.next_update) / self.params.tupdate + 1;
                self.next_update += missed * self.params.tupdate;
            }
        }
    }

    fn rests(&self) -> bool {
        self.probability == 0.0 && self.delay == 0 && self.burst_allowance == MAX_BURST
    }

    /// RFC 8033, section 4.2, with the caps of section 5.5.
    fn step(&mut self, delay: Picos) {
        let (target, before) = (seconds(self.params.target), seconds(self.delay));
        let (alpha, beta) = (self.params.alpha_hz(), self.params.beta_hz());
        let mut step = alpha * (seconds(delay) - target) + beta * (seconds(delay) - before);
        step *= gain(self.probability);
        if self.probability >= 0.1 {
            step = step.min(LARGEST_STEP);
        }
        if delay > HIGH_DELAY {
            step += LARGEST_STEP;
        }
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        if delay == 0 && self.delay == 0 {
            self.probability *= 1.0 - 1.0 / 64.0;
        }
        self.allow_bursts(delay);
        self.delay = delay;
    }

    /// RFC 8033, section 4.4.
    fn allow_bursts(&mut self, delay: Picos) {
        self.burst_allowance = self.burst_allowance.saturating_sub(self.params.tupdate);
        let calm = self.params.target / 2;
        if self.probability == 0.0 && delay < calm && self.delay < calm {
            self.burst_allowance = MAX_BURST;
            self.accumulated = 0.0;
        }
    }
}

/// How much of a step is taken: little while the probability is small (RFC 8033, section 4.2).
fn gain(probability: f64) -> f64 {
    match probability {
        p if p < 1e-6 => 1.0 / 2048.0,
        p if p < 1e-5 => 1.0 / 512.0,
        p if p < 1e-4 => 1.0 / 128.0,
        p if p < 1e-3 => 1.0 / 32.0,
        p if p < 1e-2 => 1.0 / 8.0,
        p if p < 1e-1 => 1.0 / 2.0,
        _ => 1.0,
    }
}

fn seconds(time: Picos) -> f64 {
    time as f64 / SECOND as f64
}

#[cfg(test)]
mod tests;
