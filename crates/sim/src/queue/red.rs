//! Random early detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", IEEE/ACM Transactions on Networking 1(4), 1993; Linux `red`).
//!
//! The queue that is averaged is in bytes, and is the one before the arriving packet joins.

mod params;

pub use params::RedParams;

use super::busy_until::BusyUntil;
use super::{Backlog, EnqueueDecision, EnqueueDiscipline, Limit};
use crate::rng::RandomStream;
use crate::time::Picos;
use params::Thresholds;

/// RED on one first-in-first-out queue.
#[derive(Clone, Debug)]
pub struct Red {
    params: RedParams,
    thresholds: Thresholds,
    capacity: usize,
    /// Transmission time of a packet of `avpkt`.
    typical: Picos,
    average: f64,
    /// Packets since the last mark while the average was between the thresholds; −1: none yet.
    count: i64,
    /// R of the paper's figure 17.
    draw: f64,
    random: RandomStream,
    busy_until: BusyUntil,
}

enum Signal {
    None,
    /// With the probability of the band between the thresholds.
    Early,
    /// The average is beyond all thresholds.
    Forced,
}

impl EnqueueDiscipline for Red {
    #[inline(never)]
    fn on_enqueue(
        &mut self,
        now: Picos,
        bytes: u32,
        ecn: bool,
        backlog: &Backlog,
    ) -> EnqueueDecision {
        self.busy_until.observe(now, backlog.delay);
        let idle = (backlog.delay == 0).then(|| self.busy_until.idle(now));
        let decision = self.judge(bytes, ecn, backlog.bytes, idle);
        if decision != EnqueueDecision::Drop {
            self.busy_until.accept(now, bytes);
        }
        decision
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn limit(&self) -> Limit {
        Limit::Bytes(self.params.limit)
    }
}

impl Red {
    /// The average queue, bytes.
    pub fn average_bytes(&self) -> f64 {
        self.average
    }

    /// Section 4, equation 1; after an idle time as if m typical packets had found the queue
    /// empty. A whole number of them, so that no machine's `pow` decides a run.
    #[inline]
    fn average(&mut self, waiting_bytes: u64, idle: Option<Picos>) {
        let weight = self.thresholds.weight;
        if let Some(idle) = idle {
            self.average *= power(1.0 - weight, idle / self.typical.max(1));
        } else {
            self.average += weight * (waiting_bytes as f64 - self.average);
        }
    }

    /// Judges a packet that finds so many bytes waiting, or the queue `idle` for so long.
    #[inline]
    pub(super) fn judge(
        &mut self,
        bytes: u32,
        ecn: bool,
        waiting_bytes: u64,
        idle: Option<Picos>,
    ) -> EnqueueDecision {
        self.average(waiting_bytes, idle);
        let may_mark = ecn && self.params.ecn;
        let fate = match self.signal() {
            Signal::None => EnqueueDecision::Accept,
            Signal::Early if may_mark => EnqueueDecision::Mark,
            Signal::Forced if may_mark && !self.params.harddrop => EnqueueDecision::Mark,
            Signal::Early | Signal::Forced => EnqueueDecision::Drop,
        };
        let full = waiting_bytes + u64::from(bytes) > self.params.limit;
        if full { EnqueueDecision::Drop } else { fate }
    }

    /// Figure 17: one draw for each mark makes the gaps between marks uniform.
    fn signal(&mut self) -> Signal {
        if self.average < self.thresholds.min {
            self.count = -1;
            return Signal::None;
        }
        let Some(probability) = self.probability() else {
            self.count = -1;
            return Signal::Forced;
        };
        self.count += 1;
        let due = self.count > 0 && self.count as f64 * probability >= self.draw;
        if due {
            self.count = 0;
        }
        if self.count == 0 {
            self.draw = self.random.uniform();
        }
        if due { Signal::Early } else { Signal::None }
    }

    /// p_b for an average not below `min`: section 4, equation 2; if gentle, on from max_p to 1
    /// over [max, 2 max). `None` beyond.
    fn probability(&self) -> Option<f64> {
        let Thresholds { min, max, .. } = self.thresholds;
        let most = self.params.probability;
        if self.average < max {
            Some(most * (self.average - min) / (max - min))
        } else if self.params.gentle && self.average < 2.0 * max {
            Some(most + (1.0 - most) * (self.average - max) / max)
        } else {
            None
        }
    }
}

/// base^exponent by squaring: the same on every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 && base > 0.0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    if exponent > 0 { 0.0 } else { result }
}

#[cfg(test)]
mod tests;
