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

mod readings;

use super::Verdict;
use super::division::{DIVIDEND_BITS, Division};
use crate::meters::link::LinkMeter;
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

/// Whether a queue of at most `capacity` packets can be kept in this way: its longest delay can be divided without
/// error.
pub(super) fn takes(tx_time: Picos, capacity: usize) -> bool {
    let longest = (capacity as u64).checked_add(2).and_then(|packets| packets.checked_mul(tx_time));
    tx_time > 1 && longest.is_some_and(|longest| longest < 1 << DIVIDEND_BITS)
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

    /// `try_enqueue_fast` for one packet after the other (`Link::enqueue_run`).
    #[inline(always)]
    pub(super) fn enqueue_run(
        &mut self,
        (mut at, step): (Picos, Picos),
        until: Picos,
        class: u16,
        departures: &mut [Picos],
        meter: &mut LinkMeter,
    ) -> usize {
        for (place, departs) in departures.iter_mut().enumerate() {
            if at >= until {
                return place;
            }
            match self.try_enqueue_fast(at, class, meter) {
                Some(Verdict::Departs(time)) => *departs = time,
                Some(Verdict::Dropped) => {}
                _ => return place,
            }
            at += step;
        }
        departures.len()
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
}

#[cfg(test)]
mod tests;
