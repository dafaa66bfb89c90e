//! What a link reads about itself.

use super::histogram::Histogram;
use super::periods::Periods;
use crate::time::Picos;

/// Counts of one traffic class at one queue.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// When the wire was, or will be, free, as it was known at the last cut.
    free_at: Picos,
    /// Work that was not yet done at the last cut.
    backlog: Picos,
    /// Transmission time of the packets accepted since then.
    work: Picos,
    current: LinkBatch,
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
        Self {
            bin_shift,
            changed: 0,
            free_at: 0,
            backlog: 0,
            work: 0,
            current: LinkBatch::empty((capacity >> bin_shift) + 1, classes),
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
        let periods = Periods::new(self.changed);
        self.detail = detailed.then(|| Box::new(LinkDetail { seen, periods }));
    }

    /// The measured window ends with the batch that has just ended.
    pub fn end(&mut self) {
        if let Some(detail) = &mut self.detail {
            detail.periods.end(self.changed, self.free_at);
        }
    }

    /// The queue has held `waiting` packets since the last call, and changes at `now`.
    #[inline]
    pub fn level(&mut self, now: Picos, waiting: usize) {
        let span = now - self.changed;
        self.changed = now;
        self.spent(waiting, span);
    }

    /// The queue has held `waiting` packets for `span`; it matters not when.
    #[inline]
    pub fn spent(&mut self, waiting: usize, span: Picos) {
        self.current.queue_time[waiting >> self.bin_shift] += span;
        self.current.queue_area += u128::from(span) * waiting as u128;
    }

    /// Time since the last call of `level`, or the last cut.
    pub fn unread(&self, now: Picos) -> Picos {
        now - self.changed
    }

    /// What was counted since the last cut.
    pub fn classes(&self) -> &[ClassCounts] {
        &self.current.classes
    }

    /// A packet arrived.
    #[inline]
    pub fn arrived(&mut self, class: u16) {
        self.arrived_together(class, 1);
    }

    /// So many packets arrived.
    #[inline]
    pub fn arrived_together(&mut self, class: u16, packets: u64) {
        self.current.classes[class as usize].arrivals += packets;
    }

    /// It found `waiting` packets in front of it.
    #[inline]
    pub fn found(&mut self, waiting: usize) {
        if self.detail.is_some() {
            self.look(waiting);
        }
    }

    /// A packet was marked.
    #[inline]
    pub fn marked(&mut self, class: u16) {
        self.current.classes[class as usize].marks += 1;
    }

    /// The wire, free since `free_at`, is about to be served at `now`.
    #[inline]
    pub fn wakes(&mut self, now: Picos, free_at: Picos) {
        if self.detail.is_some() {
            self.wake(now, free_at);
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
    fn wake(&mut self, now: Picos, free_at: Picos) {
        if let Some(detail) = &mut self.detail {
            detail.periods.wake(now, free_at);
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
        self.accepted(wait.into(), work);
        self.delay.record(wait);
    }

    /// Packets that wait `waits` together will be on the wire for `work`.
    #[inline]
    pub fn accepted(&mut self, waits: u128, work: Picos) {
        self.current.delay_sum += waits;
        self.work += work;
    }

    /// The transmission of so many bytes began.
    #[inline]
    pub fn started(&mut self, class: u16, bytes: u64) {
        self.current.classes[class as usize].sent_bytes += bytes;
    }

    /// Ends a batch at `now`; the wire was, or will be, free from `free_at` on.
    pub fn cut(&mut self, now: Picos, free_at: Picos) {
        let backlog = free_at.saturating_sub(now);
        self.current.busy = self.backlog + self.work - backlog;
        (self.changed, self.free_at, self.backlog, self.work) = (now, free_at, backlog, 0);
        let fresh = LinkBatch::empty(self.current.queue_time.len(), self.current.classes.len());
        self.batches.push(std::mem::replace(&mut self.current, fresh));
    }
}

impl LinkBatch {
    fn empty(bins: usize, classes: usize) -> Self {
        Self {
            busy: 0,
            queue_area: 0,
            queue_time: vec![0; bins],
            delay_sum: 0,
            classes: vec![ClassCounts::default(); classes],
        }
    }
}
