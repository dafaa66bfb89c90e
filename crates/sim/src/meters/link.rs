//! The meter of a link.

use super::histogram::Histogram;
pub use super::link_batch::{AtBatchEnd, ClassCounts, LinkBatch, LinkDetail};
use super::periods::Periods;
use crate::time::Picos;

/// Apart from the meter, which has room for a pointer in the line that every packet touches.
struct ClassDelays(Vec<Histogram>);

/// Gathers readings; the link tells it what happens. What every packet touches comes first.
#[repr(C, align(64))]
pub struct LinkMeter {
    /// Waiting times of the packets accepted since the first cut.
    pub delay: Histogram,
    /// The longest of them.
    pub longest: Picos,
    /// `None` where nobody asked.
    pub detail: Option<Box<LinkDetail>>,
    /// Waiting times by class, where that was asked for and there are several.
    delays: Option<Box<ClassDelays>>,
    /// Its area is kept only where a bin spans several numbers of packets: else the bins say it.
    current: LinkBatch,
    /// Finished batches.
    pub batches: Vec<LinkBatch>,
    changed: Picos,
    /// When the wire was, or will be, free, as it was known at the end of the last batch.
    free_at: Picos,
    /// Work that was not yet done at the end of the last batch.
    backlog: Picos,
    /// Transmission time of the packets accepted since then.
    tx_time: Picos,
    /// Packets before the wire at the first cut.
    pub held_at_first: u64,
    bin_shift: u32,
}

const MAX_BINS: usize = 4096;

impl LinkMeter {
    /// For a queue of at most `capacity` packets shared by `classes` classes.
    pub fn new(capacity: usize, classes: usize) -> Self {
        // In bytes a limit may let more packets in than there are numbers for them.
        let capacity = capacity.min(u32::MAX as usize);
        let bin_shift = (capacity / MAX_BINS + 1).next_power_of_two().ilog2();
        Self {
            bin_shift,
            changed: 0,
            free_at: 0,
            backlog: 0,
            tx_time: 0,
            current: LinkBatch::empty((capacity >> bin_shift) + 1, classes),
            batches: Vec::new(),
            delay: Histogram::default(),
            longest: 0,
            delays: None,
            held_at_first: 0,
            detail: None,
        }
    }

    /// Waiting times are to be read by class too.
    pub fn tell_classes_apart(&mut self) {
        let classes = self.current.classes.len();
        let delays = vec![Histogram::default(); classes];
        self.delays = (classes > 1).then(|| Box::new(ClassDelays(delays)));
    }

    /// Packets that one bin of `queue_time` spans.
    pub fn bin_width(&self) -> u32 {
        1 << self.bin_shift
    }

    /// Forgets all readings: the measured window begins with the batch that has just begun.
    pub fn begin(&mut self, detailed: bool) {
        self.held_at_first = self.batches.last().map_or(0, |batch| batch.held);
        self.batches.clear();
        self.delay = Histogram::default();
        self.longest = 0;
        self.delays.iter_mut().for_each(|delays| delays.0.fill(Histogram::default()));
        let seen = vec![0; self.current.queue_time.len()];
        let periods = Periods::new(self.changed);
        self.detail =
            detailed.then(|| Box::new(LinkDetail { queue_seen_by_arrivals: seen, periods }));
    }

    /// The measured window ends with the batch that has just ended.
    pub fn end(&mut self) {
        if let Some(detail) = &mut self.detail {
            detail.periods.end(self.changed, self.free_at);
        }
    }

    /// The queue has held `waiting` packets since the last call, and changes at `now`.
    #[inline]
    pub fn advance_level(&mut self, now: Picos, waiting: usize) {
        let span = now - self.changed;
        self.changed = now;
        self.add_time_at(waiting, span);
    }

    /// The queue has held `waiting` packets for `span`; it matters not when.
    #[inline]
    pub fn add_time_at(&mut self, waiting: usize, span: Picos) {
        if self.bin_shift == 0 {
            self.current.queue_time[waiting] += span;
        } else {
            self.current.queue_time[waiting >> self.bin_shift] += span;
            self.current.queue_area += u128::from(span) * waiting as u128;
        }
    }

    /// Time since the last call of `level`, or the end of the last batch.
    pub fn unread(&self, now: Picos) -> Picos {
        now - self.changed
    }

    /// What was counted since the end of the last batch.
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
    pub fn saw(&mut self, waiting: usize) {
        if self.detail.is_some() {
            self.record_saw(waiting);
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
    fn record_saw(&mut self, waiting: usize) {
        if let Some(detail) = &mut self.detail {
            detail.queue_seen_by_arrivals[waiting >> self.bin_shift] += 1;
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

    /// A packet will be on the wire for `tx_time`, after a wait of `wait`.
    #[inline(always)]
    pub fn served(&mut self, class: u16, wait: Picos, tx_time: Picos) {
        self.current.classes[class as usize].accepted += 1;
        self.accepted(wait.into(), tx_time);
        self.waited(wait);
        self.class_waited(class, wait);
    }

    /// A packet starts that has waited for `wait`, and will be on the wire for `tx_time`: all that `started`, `served` and
    /// `marked` count, with one look at its class.
    #[inline(always)]
    pub fn sent_at_once(
        &mut self,
        class: u16,
        bytes: u32,
        wait: Picos,
        tx_time: Picos,
        marked: bool,
    ) {
        let counts = &mut self.current.classes[class as usize];
        counts.marks += u64::from(marked);
        counts.accepted += 1;
        counts.sent += 1;
        counts.sent_bytes += u64::from(bytes);
        counts.busy += tx_time;
        self.accepted(wait.into(), tx_time);
        self.waited(wait);
        self.class_waited(class, wait);
    }

    /// A packet that is accepted waits so long.
    #[inline(always)]
    pub fn waited(&mut self, wait: Picos) {
        self.delay.record(wait);
        if wait > self.longest {
            self.longest = wait;
        }
    }

    /// A packet of this class that is accepted waits so long.
    #[inline]
    pub fn class_waited(&mut self, class: u16, wait: Picos) {
        if let Some(delays) = &mut self.delays {
            delays.0[class as usize].record(wait);
        }
    }

    /// Hands over the waiting times by class; empty where these were not asked for.
    pub fn take_delays(&mut self) -> Vec<Histogram> {
        self.delays.as_mut().map_or_else(Vec::new, |delays| std::mem::take(&mut delays.0))
    }

    /// Packets that wait `waits` together will be on the wire for `tx_time`.
    #[inline]
    pub fn accepted(&mut self, waits: u128, tx_time: Picos) {
        self.current.delay_sum += waits;
        self.tx_time += tx_time;
    }

    /// The transmission of so many packets began, so many bytes, which takes `tx_time` in all.
    #[inline]
    pub fn started(&mut self, class: u16, packets: u64, bytes: u64, tx_time: Picos) {
        let counts = &mut self.current.classes[class as usize];
        counts.sent += packets;
        counts.sent_bytes += bytes;
        counts.busy += tx_time;
    }

    /// Ends a batch at `now`.
    pub fn end_batch(&mut self, now: Picos, link: AtBatchEnd) {
        self.current.busy = self.backlog + self.tx_time - link.backlog;
        (self.current.held, self.current.lost) = (link.held, link.lost);
        (self.changed, self.free_at, self.backlog, self.tx_time) =
            (now, link.free_at, link.backlog, 0);
        if link.decides_on_arrival {
            let decide =
                |counts: &mut ClassCounts| counts.accepted = counts.arrivals - counts.drops;
            self.current.classes.iter_mut().for_each(decide);
        }
        let mut done = self.current.taken();
        if self.bin_shift == 0 {
            let areas =
                (0..).zip(&done.queue_time).map(|(waiting, &span)| waiting * u128::from(span));
            done.queue_area = areas.sum();
        }
        if let Some((class, rest)) = link.on_wire {
            done.classes[class as usize].busy -= rest;
            self.current.classes[class as usize].busy = rest;
        }
        self.batches.push(done);
    }

    /// The finished batches, their bins as far as any reaches.
    pub fn into_batches(mut self) -> Vec<LinkBatch> {
        let bins = self.batches.iter().map(|batch| batch.queue_time.len()).max().unwrap_or(0);
        self.batches.iter_mut().for_each(|batch| batch.queue_time.resize(bins, 0));
        self.batches
    }
}
