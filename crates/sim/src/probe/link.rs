//! What a link reads about itself.

use super::histogram::Histogram;
use super::periods::Periods;
use crate::time::Picos;

/// Counts of one traffic class at one queue.
#[derive(Clone, Copy, Default, Debug)]
pub struct ClassCounts {
    /// Packets that reached the queue.
    pub arrivals: u64,
    /// Packets that the queue dropped.
    pub drops: u64,
    /// Packets that the queue marked instead (CE, RFC 3168).
    pub marks: u64,
    /// Bytes whose transmission began.
    pub sent_bytes: u64,
}

/// Readings between two cuts.
#[derive(Clone, Debug)]
pub struct LinkBatch {
    /// Time during which the wire was busy.
    pub busy: Picos,
    /// Integral of the packets waiting, packet-picoseconds.
    pub queue_area: u128,
    /// Time spent with a number of waiting packets in each bin of `LinkMeter::bin_width` packets.
    pub queue_time: Vec<Picos>,
    /// Sum of the waiting times of the packets accepted, picoseconds.
    pub delay_sum: u128,
    /// One entry a traffic class.
    pub classes: Vec<ClassCounts>,
}

/// Readings that cost time at every packet, over the whole window.
#[derive(Clone)]
pub struct LinkDetail {
    /// Packets that arrived while the packets waiting were in each bin of `LinkMeter::bin_width`.
    pub seen: Vec<u64>,
    /// Busy and idle periods of the wire.
    pub periods: Periods,
}

/// Gathers readings; the link tells it what happens.
pub struct LinkMeter {
    bin_shift: u32,
    changed: Picos,
    accepted_work: u128,
    sent_work: u128,
    current: LinkBatch,
    /// Time at a level beyond that of the level below (modulo 2^64), to be added to `queue_time`.
    steps: Vec<Picos>,
    /// Finished batches.
    pub batches: Vec<LinkBatch>,
    /// Waiting times of the packets accepted since the first cut.
    pub delay: Histogram,
    /// `None` where nobody asked.
    pub detail: Option<Box<LinkDetail>>,
}

const MOST_BINS: usize = 4096;

impl LinkMeter {
    /// For a queue of at most `capacity` packets shared by `classes` classes.
    pub fn new(capacity: usize, classes: usize) -> Self {
        let bin_shift = (capacity / MOST_BINS + 1).next_power_of_two().ilog2();
        let empty = LinkBatch {
            busy: 0,
            queue_area: 0,
            queue_time: vec![0; (capacity >> bin_shift) + 1],
            delay_sum: 0,
            classes: vec![ClassCounts::default(); classes],
        };
        Self {
            bin_shift,
            changed: 0,
            accepted_work: 0,
            sent_work: 0,
            steps: vec![0; empty.queue_time.len() + 1],
            current: empty,
            batches: Vec::new(),
            delay: Histogram::default(),
            detail: None,
        }
    }

    /// Packets that one bin of `queue_time` spans.
    pub fn bin_width(&self) -> u32 {
        1 << self.bin_shift
    }

    /// Forgets all readings: the measured window begins with the batch that has just begun.
    pub fn begin(&mut self, detailed: bool) {
        self.batches.clear();
        self.delay = Histogram::default();
        let seen = vec![0; self.current.queue_time.len()];
        let periods = Periods::new(self.changed, self.sent_work);
        self.detail = detailed.then(|| Box::new(LinkDetail { seen, periods }));
    }

    /// The measured window ends with the batch that has just ended.
    pub fn end(&mut self) {
        if let Some(detail) = &mut self.detail {
            detail.periods.end(self.changed, self.accepted_work);
        }
    }

    /// The queue has held `waiting` packets since the last call, and changes at `now`.
    #[inline]
    pub fn level(&mut self, now: Picos, waiting: usize) {
        let span = now - self.changed;
        self.changed = now;
        add(&mut self.current.queue_time[waiting >> self.bin_shift], span);
        if self.bin_shift > 0 {
            self.current.queue_area += u128::from(span) * waiting as u128;
        }
    }

    /// Whether each level has a bin of its own.
    #[inline]
    pub fn is_fine(&self) -> bool {
        self.bin_shift == 0
    }

    /// The queue fell from one level to another by `now`, a packet at a time: the first at `first`,
    /// the others `step` apart. With equal levels it has not changed, and `first` is of no matter.
    /// Needs `is_fine`.
    ///
    /// There is no branch, for whether it fell is a random bit. Where it did not, the four terms,
    /// each of them of no meaning then, add up to the time that has passed.
    #[inline(always)]
    pub fn fell(&mut self, now: Picos, first: Picos, step: Picos, (from, to): (usize, usize)) {
        let next = first.wrapping_add((from - to) as u64 * step);
        add(&mut self.current.queue_time[from], first.wrapping_sub(self.changed));
        add(&mut self.current.queue_time[to], now.wrapping_sub(next).wrapping_add(step));
        // One step at each level between: told by where they begin and end.
        add(&mut self.steps[to + 1], step);
        add(&mut self.steps[from], 0_u64.wrapping_sub(step));
        self.changed = now;
    }

    /// A packet arrived and found `waiting` packets in front of it.
    #[inline]
    pub fn arrived(&mut self, class: u16, waiting: usize) {
        self.current.classes[class as usize].arrivals += 1;
        if self.detail.is_some() {
            self.look(waiting);
        }
    }

    /// A packet was marked.
    #[inline]
    pub fn marked(&mut self, class: u16) {
        self.current.classes[class as usize].marks += 1;
    }

    /// The wire is free at `now` and about to be served.
    #[inline]
    pub fn wakes(&mut self, now: Picos) {
        if self.detail.is_some() {
            self.wake(now);
        }
    }

    // Apart, so that a reading that nobody asked for leaves the packet's path short.
    #[cold]
    #[inline(never)]
    fn look(&mut self, waiting: usize) {
        if let Some(detail) = &mut self.detail {
            detail.seen[waiting >> self.bin_shift] += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&mut self, now: Picos) {
        if let Some(detail) = &mut self.detail {
            detail.periods.wake(now, self.accepted_work);
        }
    }

    /// A packet that had arrived was dropped.
    #[inline]
    pub fn dropped(&mut self, class: u16) {
        self.current.classes[class as usize].drops += 1;
    }

    /// A packet will be on the wire for `work`, after a wait of `wait`.
    #[inline]
    pub fn served(&mut self, wait: Picos, work: Picos) {
        self.current.delay_sum += u128::from(wait);
        self.accepted_work += u128::from(work);
        self.delay.record(wait);
    }

    /// The transmission of so many bytes began.
    #[inline]
    pub fn started(&mut self, class: u16, bytes: u64) {
        self.current.classes[class as usize].sent_bytes += bytes;
    }

    /// Ends a batch; `backlog` is the work served and not yet on the wire's far side.
    pub fn cut(&mut self, backlog: Picos) {
        let sent = self.accepted_work - u128::from(backlog);
        self.current.busy = (sent - self.sent_work) as Picos;
        self.sent_work = sent;
        if self.is_fine() {
            self.spread_steps();
            let spans = self.current.queue_time.iter().zip(0_u128..);
            self.current.queue_area = spans.map(|(&span, level)| u128::from(span) * level).sum();
        }
        let fresh = LinkBatch {
            busy: 0,
            queue_area: 0,
            queue_time: vec![0; self.current.queue_time.len()],
            delay_sum: 0,
            classes: vec![ClassCounts::default(); self.current.classes.len()],
        };
        self.batches.push(std::mem::replace(&mut self.current, fresh));
    }

    fn spread_steps(&mut self) {
        let mut time = 0;
        for (spent, step) in self.current.queue_time.iter_mut().zip(&mut self.steps) {
            add(&mut time, std::mem::take(step));
            add(spent, time);
        }
    }
}

/// Sums modulo 2^64: terms may be negative, and what they add up to is not.
#[inline(always)]
fn add(sum: &mut u64, term: u64) {
    *sum = sum.wrapping_add(term);
}
