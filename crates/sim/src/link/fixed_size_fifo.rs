//! A queue that sends in order of arrival packets of one size: no packet is kept.
//!
//! Let V be the time until the wire is free, w that of one packet on it. Then k = ⌈V/w⌉ - 1 packets
//! wait (one that starts now waits no longer): the queue is at level k, with a rest V - kw in
//! (0, w]; at level 0 too if V = 0. V falls with time, and a packet that is accepted where V > 0
//! lifts it by w, to the next level with the same rest.
//!
//! The time at a level k > 0 is then the sum of the rests at which the level is entered, less
//! those at which it is left: w and 0 by draining, the packet's by a lift. Where N(k) packets were
//! accepted at level k and R(k) is the sum of their rests, a batch that begins at level b and ends
//! at level e drains from level k + 1 to k just N(k) + [b > k] - [e > k] times, and
//!
//! time at k = w (N(k) + [b > k] - [e > k]) + R(k-1) - R(k) + [b = k] rest(b) - [e = k] rest(e).
//!
//! What is left of the batch was spent at level 0, and the waiting times of those accepted add up
//! to the sum of w k N(k) + R(k). Where there is one class, those counts are also its packets'.

use super::Verdict;
use crate::meters::link::{AtBatchEnd, LinkMeter};
use crate::packet::ArrivingPacket;
use crate::queue::registry::EnqueueQueue;
use crate::queue::{Backlog, EnqueueDecision, EnqueueDiscipline, Limit};
use crate::time::Picos;
use prefetch_index::prefetch_index;

/// Packets accepted at one level while the wire was busy, and the sum of their rests.
#[derive(Clone, Copy, Default)]
struct LevelCount {
    packets: u64,
    residuals: Picos,
}

#[repr(C)]
pub(super) struct FixedSizeFifo {
    free_at: Picos,
    /// Transmission time of a packet.
    tx_time: Picos,
    division: Division,
    /// A packet that finds fewer waiting is accepted without a question to the discipline.
    accept_below: usize,
    /// One that finds the wire busy and no fewer than these waiting is lost without one.
    drop_from: usize,
    /// Their number is a power of two.
    levels: Vec<LevelCount>,
    /// A ring of the classes of the last packets accepted, at least twice as many as there are levels so that the
    /// one on the wire is among them; empty where all are of one class.
    recent: Vec<u16>,
    /// The packets that it has taken in; where all are of one class, those that found the wire free.
    accepted: usize,
    /// As many of these as the meter has counted. The others follow when the ring is full or a batch ends: a count
    /// by class lies in a line of its own, which each packet would touch.
    counted: usize,
    queue: EnqueueQueue,
    bytes: u32,
    /// Time until the wire was free, and packets waiting of each class, at the end of the last batch.
    backlog: Picos,
    waiting: Vec<u64>,
}

/// Places of the smallest ring of classes: a line of the cache.
const LEAST_RECENT: usize = 32;

/// Delays are shorter than 2 to this, picoseconds: 13 days.
const DELAY_BITS: u32 = 60;

/// Whether a queue can be kept in this way: divided through without error, and never too long.
pub(super) fn takes(tx_time: Picos, capacity: usize) -> bool {
    let longest = (capacity as u64).checked_add(2).and_then(|packets| packets.checked_mul(tx_time));
    tx_time > 1 && longest.is_some_and(|longest| longest < 1 << DELAY_BITS)
}

impl FixedSizeFifo {
    /// Needs `takes`.
    pub(super) fn new(queue: EnqueueQueue, bytes: u32, tx_time: Picos, classes: usize) -> Self {
        let mut link = Self {
            free_at: 0,
            tx_time,
            division: Division::by(tx_time),
            accept_below: 0,
            drop_from: 0,
            levels: vec![LevelCount::default()],
            recent: vec![0; if classes > 1 { LEAST_RECENT } else { 0 }],
            accepted: 0,
            counted: 0,
            queue,
            bytes,
            backlog: 0,
            waiting: vec![0; classes],
        };
        link.set_detailed(false);
        link
    }

    /// Name and limit of the queue, and the packets of the ring.
    pub(super) fn info(&self) -> (&'static str, Limit, usize) {
        (self.queue.name(), self.queue.limit(), 0)
    }

    /// Every packet that arrives is to be seen, or not.
    pub(super) fn set_detailed(&mut self, detailed: bool) {
        let threshold = self.queue.threshold(self.bytes).filter(|_| !detailed);
        (self.accept_below, self.drop_from) =
            threshold.map_or((0, usize::MAX), |packets| (packets, packets));
    }

    /// When a packet that arrives at `now` would leave the wire.
    #[inline(always)]
    pub(super) fn departure_if_enqueued(&self, now: Picos) -> Picos {
        self.free_at.max(now) + self.tx_time
    }

    /// Calls what counts a packet that arrives at `at` into the cache; gives its waiting time.
    #[inline]
    pub(super) fn prefetch_counts(&self, at: Picos) -> Picos {
        prefetch_index(&self.recent, self.accepted & self.recent.len().wrapping_sub(1));
        let delay = self.free_at.saturating_sub(at);
        prefetch_index(&self.levels, self.level(delay));
        delay
    }

    /// A packet arrives. Where it says nothing of that it has done nothing, and `enqueue` is to be
    /// asked.
    #[inline(always)]
    pub(super) fn try_enqueue_fast(
        &mut self,
        now: Picos,
        class: u16,
        meter: &mut LinkMeter,
    ) -> Option<Verdict> {
        if self.free_at <= now {
            return self.enqueue_idle(now, class, meter);
        }
        let delay = self.free_at - now;
        let waiting = self.division.of(delay - 1) as usize;
        if waiting >= self.accept_below {
            return self.enqueue_beyond_limit(waiting, class, meter);
        }
        let level = self.levels.get_mut(waiting)?;
        level.packets += 1;
        level.residuals += delay - waiting as u64 * self.tx_time;
        if !self.recent.is_empty() {
            self.count_class(class, delay, meter);
        }
        meter.waited(delay);
        self.free_at += self.tx_time;
        Some(Verdict::Departs(self.free_at))
    }

    /// `try_enqueue_fast` where too many wait.
    #[inline(always)]
    fn enqueue_beyond_limit(
        &mut self,
        waiting: usize,
        class: u16,
        meter: &mut LinkMeter,
    ) -> Option<Verdict> {
        if waiting < self.drop_from {
            return None;
        }
        meter.arrived(class);
        meter.dropped(class);
        Some(Verdict::Dropped)
    }

    /// `try_enqueue_fast` where the wire is free.
    #[inline(never)]
    fn enqueue_idle(&mut self, now: Picos, class: u16, meter: &mut LinkMeter) -> Option<Verdict> {
        if self.accept_below == 0 {
            return None;
        }
        if self.recent.is_empty() {
            self.accepted += 1;
        } else {
            self.count_class(class, 0, meter);
        }
        meter.waited(0);
        self.free_at = now + self.tx_time;
        Some(Verdict::Departs(self.free_at))
    }

    /// A packet arrives, whatever becomes of it.
    pub(super) fn enqueue(
        &mut self,
        now: Picos,
        packet: ArrivingPacket,
        meter: &mut LinkMeter,
    ) -> Verdict {
        let delay = self.free_at.saturating_sub(now);
        let waiting = self.level(delay);
        meter.saw(waiting);
        let bytes = waiting as u64 * u64::from(self.bytes);
        let backlog = Backlog { packets: waiting, bytes, delay };
        let decision = self.queue.on_enqueue(now, self.bytes, packet.ecn, &backlog);
        if decision == EnqueueDecision::Drop {
            meter.arrived(packet.class);
            meter.dropped(packet.class);
            return Verdict::Dropped;
        }
        if decision == EnqueueDecision::Mark {
            meter.marked(packet.class);
        }
        if delay == 0 {
            meter.wakes(now, self.free_at);
        } else {
            self.count_accept(waiting, delay - waiting as u64 * self.tx_time, meter);
        }
        if !self.recent.is_empty() {
            self.count_class(packet.class, delay, meter);
        } else if delay == 0 {
            self.accepted += 1; // else its level has counted it
        }
        meter.waited(delay);
        self.free_at = now + delay + self.tx_time;
        Verdict::departs(self.free_at, decision == EnqueueDecision::Mark)
    }

    /// A packet is accepted at a level, with this rest.
    fn count_accept(&mut self, level: usize, residual: Picos, meter: &mut LinkMeter) {
        if level >= self.levels.len() {
            self.grow(level, meter);
        }
        self.levels[level].packets += 1;
        self.levels[level].residuals += residual;
    }

    #[cold]
    fn grow(&mut self, level: usize, meter: &mut LinkMeter) {
        let levels = (level + 1).next_power_of_two();
        self.levels.resize(levels, LevelCount::default());
        let (before, after) = (self.recent.len(), 2 * levels);
        if (1..after).contains(&before) {
            self.count_recent(meter);
            let old = std::mem::replace(&mut self.recent, vec![0; after]);
            for place in self.accepted.saturating_sub(before)..self.accepted {
                self.recent[place % after] = old[place % before];
            }
        }
    }

    /// A packet of this class is accepted, of several classes, and waits `delay`.
    #[inline(never)]
    fn count_class(&mut self, class: u16, delay: Picos, meter: &mut LinkMeter) {
        meter.class_waited(class, delay);
        let last = self.recent.len() - 1;
        self.recent[self.accepted & last] = class;
        self.accepted += 1;
        if self.accepted & last == 0 {
            self.count_recent(meter);
        }
    }

    /// Counts the packets of each class that were accepted since the last call.
    #[cold]
    #[inline(never)]
    fn count_recent(&mut self, meter: &mut LinkMeter) {
        let places = self.counted..self.accepted;
        places.for_each(|place| meter.arrived(self.recent[place % self.recent.len()]));
        self.counted = self.accepted;
    }

    /// Packets that wait where the wire will be free in `delay`.
    #[inline(always)]
    fn level(&self, delay: Picos) -> usize {
        if delay == 0 { 0 } else { self.division.of(delay - 1) as usize }
    }

    pub(super) fn waiting(&self, now: Picos) -> usize {
        self.level(self.free_at.saturating_sub(now))
    }

    pub(super) fn bytes_held(&self, now: Picos) -> u64 {
        let sending = u64::from(self.free_at > now);
        (self.waiting(now) as u64 + sending) * u64::from(self.bytes)
    }

    /// Hands over the readings since the last call.
    pub(super) fn settle(&mut self, now: Picos, meter: &mut LinkMeter) -> AtBatchEnd {
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
            on_wire: (backlog > 0).then(|| (class(), backlog - held as u64 * self.tx_time)),
            held: held as u64,
            decides_on_arrival: true,
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

/// Division by a number that is known beforehand, as a multiplication (Granlund and Montgomery,
/// "Division by Invariant Integers using Multiplication", PLDI 1994, theorem 4.2).
#[repr(C)]
struct Division {
    factor: u64,
    shift: u32,
}

impl Division {
    /// The factor f is the least with f d > 2^(64 + shift), so that f d = 2^(64 + shift) + e with
    /// 0 < e <= d <= 2^(4 + shift). For n = q d + r, r < d, the product f n / 2^(64 + shift) is
    /// n/d + (n/d) e / 2^(64 + shift), that is q + r/d and less than 2^60 / d · 2^-60 = 1/d more:
    /// less than q + 1.
    fn by(divisor: u64) -> Self {
        let bits = u64::BITS - (divisor - 1).leading_zeros();
        let shift = bits.saturating_sub(u64::BITS - DELAY_BITS);
        let factor = (1_u128 << (u64::BITS + shift)) / u128::from(divisor) + 1;
        Self { factor: u64::try_from(factor).expect("divisor above 1"), shift }
    }

    /// The quotient, rounded down, of a number below 2^`DELAY_BITS`.
    #[inline(always)]
    fn of(&self, dividend: u64) -> u64 {
        let product = u128::from(dividend) * u128::from(self.factor);
        (product >> u64::BITS) as u64 >> self.shift
    }
}

#[cfg(test)]
mod tests;
