//! PIE, the proportional integral controller enhanced (RFC 8033; Linux `pie`).
//!
//! The probability is due every `tupdate`. It is brought up to date when a packet arrives: between
//! two arrivals the queue drains at the wire's rate, so that its delay at each time is known and
//! no departure rate has to be estimated (RFC 8033, section 4.3).

mod params;

pub use params::PieParams;

use super::busy_until::BusyUntil;
use super::{Backlog, EnqueueDecision, EnqueueDiscipline, Limit};
use crate::rng::RandomStream;
use crate::time::{MILLISECOND, Picos, SECOND};

/// MAX_BURST (RFC 8033, section 4.4).
const MAX_BURST: Picos = 150 * MILLISECOND;
/// Beyond this delay the probability rises faster (RFC 8033, section 5.5; Linux).
const HIGH_DELAY: Picos = 250 * MILLISECOND;
/// Most that one step may add once the probability is 10 % (RFC 8033, section 5.5).
const LARGEST_STEP: f64 = 0.02;

/// PIE on one first-in-first-out queue.
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
    random: RandomStream,
    busy_until: BusyUntil,
}

impl EnqueueDiscipline for Pie {
    #[inline(never)]
    fn on_enqueue(
        &mut self,
        now: Picos,
        bytes: u32,
        ecn: bool,
        backlog: &Backlog,
    ) -> EnqueueDecision {
        self.busy_until.observe(now, backlog.delay);
        self.catch_up(now);
        let decision = self.judge(bytes, ecn, backlog);
        if decision == EnqueueDecision::Drop {
            self.accumulated = 0.0;
        } else {
            self.busy_until.accept(now, bytes);
        }
        decision
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
    fn judge(&mut self, bytes: u32, ecn: bool, backlog: &Backlog) -> EnqueueDecision {
        if backlog.packets >= self.params.limit as usize {
            EnqueueDecision::Drop
        } else if !self.drops_early(bytes, backlog) {
            EnqueueDecision::Accept
        } else if self.params.ecn && ecn && self.probability <= 0.1 {
            EnqueueDecision::Mark // RFC 8033, section 5.1: beyond 10 % a mark is no longer enough.
        } else {
            EnqueueDecision::Drop
        }
    }

    /// RFC 8033, section 4.1 with its safeguards, section 4.4, and section 5.4: neither twice in
    /// short order nor never for long.
    fn drops_early(&mut self, bytes: u32, backlog: &Backlog) -> bool {
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
        let struck = self.accumulated >= 8.5 || self.random.uniform() < probability;
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
            let delay = self.busy_until.delay(self.next_update);
            let rested = self.is_quiescent() && delay == 0;
            self.step(delay);
            self.next_update += self.params.tupdate;
            if rested && self.next_update <= now {
                // Further steps on an empty queue change nothing.
                let missed = (now - self.next_update) / self.params.tupdate + 1;
                self.next_update += missed * self.params.tupdate;
            }
        }
    }

    fn is_quiescent(&self) -> bool {
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
