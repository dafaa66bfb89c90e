//! What a batch of it was: time at each level, waiting times, and the packets of each class.

use super::{FixedSizeFifo, LevelCount};
use crate::meters::link::{AtBatchEnd, LinkMeter};
use crate::time::Picos;

impl FixedSizeFifo {
    /// Hands over the readings since the last call.
    pub(in crate::link) fn settle(&mut self, now: Picos, meter: &mut LinkMeter) -> AtBatchEnd {
        self.count_arrivals(meter);
        let backlog = self.free_at.saturating_sub(now);
        self.report_levels(meter.unread(now), backlog, meter);
        self.report_counts(self.level(backlog), meter);
        self.levels.fill(LevelCount::default());
        self.backlog = backlog;
        self.at_batch_end(backlog)
    }

    fn at_batch_end(&self, backlog: Picos) -> AtBatchEnd {
        let held = self.level(backlog);
        let class = || match self.recent.len() {
            0 => 0,
            places => self.recent[(self.accepted - held - 1) % places],
        };
        AtBatchEnd {
            free_at: self.free_at,
            backlog,
            on_wire: (backlog > 0).then(|| (class(), backlog - held as u64 * self.tx_time)),
            held: held as u64,
            decides_on_arrival: true,
            lost: 0,
        }
    }

    /// How long the queue was at each level, by the formula above.
    fn report_levels(&self, batch: Picos, backlog: Picos, meter: &mut LinkMeter) {
        let (begin, end) = (self.level(self.backlog), self.level(backlog));
        let residual = |delay: Picos, level: usize| delay - level as u64 * self.tx_time;
        let mut below = self.levels[0].residuals;
        let mut above_0 = 0;
        // A packet accepted at the last level lifts the queue beyond it.
        for k in 1..=self.levels.len() {
            let at = self.levels.get(k).copied().unwrap_or_default();
            let mut entered = (at.packets + u64::from(begin > k)) * self.tx_time + below;
            let mut left = u64::from(end > k) * self.tx_time + at.residuals;
            if begin == k {
                entered += residual(self.backlog, k);
            }
            if end == k {
                left += residual(backlog, k);
            }
            // Bins reach only as far as the queue can.
            if entered != left {
                meter.add_time_at(k, entered - left);
                above_0 += entered - left;
            }
            below = at.residuals;
        }
        meter.add_time_at(0, batch - above_0);
    }

    /// Counts the packets accepted since the last call.
    fn count_arrivals(&mut self, meter: &mut LinkMeter) {
        if !self.recent.is_empty() {
            return self.count_recent(meter);
        }
        let not_idle: u64 = self.levels.iter().map(|level| level.packets).sum();
        meter.arrived_together(0, not_idle + (self.accepted - self.counted) as u64);
        self.counted = self.accepted;
    }

    /// Waiting times, work, and the bytes of each class whose transmission began.
    fn report_counts(&mut self, waiting: usize, meter: &mut LinkMeter) {
        let waits = self.levels.iter().zip(0_u64..).map(|(level, k)| {
            u128::from(level.packets) * u128::from(k * self.tx_time) + u128::from(level.residuals)
        });
        let waits = waits.sum();
        let now_waiting = self.waiting_by_class(waiting);
        let mut accepted = 0;
        for (class, (before, after)) in (0..).zip(self.waiting.iter().zip(&now_waiting)) {
            let counts = meter.classes()[class as usize];
            let joined = counts.arrivals - counts.drops;
            let sent = before + joined - after;
            meter.started(class, sent, sent * u64::from(self.bytes), sent * self.tx_time);
            accepted += joined;
        }
        meter.accepted(waits, accepted * self.tx_time);
        self.waiting = now_waiting;
    }

    /// Those that wait are the last that were accepted.
    fn waiting_by_class(&self, waiting: usize) -> Vec<u64> {
        let mut counts = vec![0; self.waiting.len()];
        if self.recent.is_empty() {
            counts[0] = waiting as u64;
        } else {
            let places = self.accepted - waiting..self.accepted;
            places.for_each(|place| counts[self.recent[place % self.recent.len()] as usize] += 1);
        }
        counts
    }
}
