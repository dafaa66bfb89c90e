//! Events of a large network, in buckets that are sorted when they come.
//!
//! With tens of thousands of flows over hundreds of links, events come in no order, and the slot of each lies in
//! memory when it is scheduled and when it fires. Here an event is appended to the bucket of its time: the ends of
//! all buckets in use stay in the cache. The next bucket is sorted into an array as the last one runs out, so what
//! fires next is known exactly, and can be called into the cache in time.

use super::crowds::Ranked;
use super::{Event, EventKey, NIL};
use crate::packet::Payload;
use crate::time::Picos;
use prefetch_index::prefetch_index;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events of one chunk: a kilobyte.
const CHUNK: usize = 32;
/// Events that wait for the ends of their buckets to be in the cache.
const PENDING: usize = 8;
/// Events that are sorted ahead of the next one, as far as the buckets near it hold so many.
const SORTED_AHEAD: usize = 64;
/// Buckets beyond that of the next event that may be sorted ahead. What is scheduled into a sorted bucket takes longer.
const BUCKETS_AHEAD: u64 = 2;

/// Parts of a bucket's time, 2 to this, into which its events are distributed to sort them.
const PART_BITS: u32 = 9;
const PARTS: usize = 1 << PART_BITS;
/// Where an event shares its part with more than so many on average, the bucket is sorted in another way.
const LONG_PART: usize = 32;

/// A queue of events in buckets of time.
pub struct Buckets {
    /// Sorted events, those from `next` on still to come.
    sorted: Vec<Event>,
    next: usize,
    /// What was scheduled into a bucket that was sorted before.
    late: BinaryHeap<Reverse<Ranked>>,
    /// How often that has happened.
    late_events: i64,
    /// The absolute number of the last bucket that was sorted.
    open: u64,
    /// A bucket spans 2 to this, picoseconds.
    shift: u32,
    /// By number modulo their count, what is due in each bucket, in this revolution or a later one, in order of
    /// scheduling.
    buckets: Vec<Bucket>,
    /// How many events these and `pending` hold.
    waiting: usize,
    /// The last events that were scheduled, on their way into their buckets, whose ends are called into the cache
    /// meanwhile. Place number `scheduled` is the next, modulo their count.
    pending: [Event; PENDING],
    scheduled: usize,
    chunks: Vec<Chunk>,
    /// Of each chunk, the one that follows it in its bucket, or in the list of those that are free.
    following: Vec<u32>,
    /// The first chunk that is free.
    free: u32,
    /// Of each part of the bucket that is being sorted, its events, then the place of its next one.
    parts: [u32; PARTS],
}

/// A list of chunks, all but the last one full.
#[derive(Clone, Copy)]
struct Bucket {
    first: u32,
    last: u32,
    events: u32,
}

type Chunk = [Event; CHUNK];

impl Bucket {
    const EMPTY: Self = Self { first: NIL, last: NIL, events: 0 };
}

impl Buckets {
    /// Buckets at most `width` wide, and as many as reach `horizon` ahead, but at most `most`, which is a power of two.
    pub fn new(width: Picos, horizon: Picos, most: usize) -> Self {
        let least = (horizon / most as u64).max(1).next_power_of_two();
        let shift = width.max(1).ilog2().max(least.ilog2());
        let count = ((horizon >> shift) as usize + 1).next_power_of_two().min(most);
        Self {
            sorted: Vec::new(),
            next: 0,
            late: BinaryHeap::new(),
            late_events: 0,
            open: 0,
            shift,
            buckets: vec![Bucket::EMPTY; count],
            waiting: 0,
            pending: [Event::NONE; PENDING],
            scheduled: 0,
            chunks: Vec::new(),
            following: Vec::new(),
            free: NIL,
            parts: [0; PARTS],
        }
    }

    /// Schedules an event.
    #[inline]
    pub fn insert(&mut self, at: Picos, key: EventKey, payload: Payload) {
        let event = Event { at, payload, key, link: NIL };
        let bucket = at >> self.shift;
        if bucket <= self.open {
            self.insert_late(event);
        } else {
            self.waiting += 1;
            self.prefetch_end(bucket);
            let place = self.scheduled % PENDING;
            let earlier = std::mem::replace(&mut self.pending[place], event);
            self.scheduled += 1;
            if self.scheduled > PENDING {
                self.append(earlier);
            }
        }
    }

    #[inline(never)]
    fn insert_late(&mut self, event: Event) {
        self.late_events += 1;
        self.late.push(Reverse(Ranked { order: self.late_events, event }));
    }

    /// Calls the place of the next event of a bucket into the cache.
    #[inline(always)]
    fn prefetch_end(&self, bucket: u64) {
        let Bucket { last, events, .. } = self.buckets[bucket as usize & (self.buckets.len() - 1)];
        let place = events as usize % CHUNK;
        if let Some(chunk) = self.chunks.get(if place == 0 { self.free } else { last } as usize) {
            prefetch_index(chunk, place);
        }
    }

    /// Puts what is pending into its buckets.
    fn settle_pending(&mut self) {
        for place in self.scheduled.saturating_sub(PENDING)..self.scheduled {
            self.append(self.pending[place % PENDING]);
        }
        self.scheduled = 0;
    }

    /// Puts an event at the end of its bucket.
    #[inline(always)]
    fn append(&mut self, event: Event) {
        let index = (event.at >> self.shift) as usize & (self.buckets.len() - 1);
        let place = self.buckets[index].events as usize % CHUNK;
        if place == 0 {
            self.extend(index);
        }
        let bucket = &mut self.buckets[index];
        bucket.events += 1;
        self.chunks[bucket.last as usize][place] = event;
    }

    /// Gives a bucket another chunk.
    #[inline(never)]
    fn extend(&mut self, index: usize) {
        let chunk = self.free;
        let chunk = if chunk == NIL {
            self.chunks.push([Event::NONE; CHUNK]);
            self.following.push(NIL);
            self.chunks.len() as u32 - 1
        } else {
            self.free = std::mem::replace(&mut self.following[chunk as usize], NIL);
            chunk
        };
        let bucket = &mut self.buckets[index];
        match bucket.last {
            NIL => bucket.first = chunk,
            last => self.following[last as usize] = chunk,
        }
        bucket.last = chunk;
    }

    /// The next event where it comes before `limit`; else nothing is due before it.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Picos) -> Option<Event> {
        if self.sorted.len() - self.next <= SORTED_AHEAD {
            self.sort_ahead(limit);
        }
        let Some(&event) = self.sorted.get(self.next).filter(|_| self.late.is_empty()) else {
            return self.pop_late(limit);
        };
        if event.at >= limit {
            return None;
        }
        self.next += 1;
        Some(event)
    }

    /// `pop_before` where an event may lie outside the sorted ones.
    #[inline(never)]
    fn pop_late(&mut self, limit: Picos) -> Option<Event> {
        let sorted = self.sorted.get(self.next);
        let late = self.late.peek().map(|Reverse(late)| &late.event);
        match (sorted, late) {
            // Of the same instant and key, the sorted one was scheduled earlier.
            (Some(&event), late) if late.is_none_or(|late| !late.is_before(&event)) => {
                (event.at < limit).then(|| {
                    self.next += 1;
                    event
                })
            }
            (_, Some(late)) if late.at < limit => self.late.pop().map(|Reverse(late)| late.event),
            _ => None,
        }
    }

    /// An event that comes so many after the next one, of those that are sorted.
    #[inline(always)]
    pub fn upcoming(&self, after: usize) -> Option<&Event> {
        self.sorted.get(self.next + after)
    }

    /// Whether nothing is due up to and with `at`. May be false though nothing is, where the search would take long.
    pub fn is_empty_until(&self, at: Picos) -> bool {
        let bucket = at >> self.shift;
        let empty =
            |number: u64| self.buckets[number as usize & (self.buckets.len() - 1)].events == 0;
        self.next_at().is_none_or(|next| next > at)
            && bucket <= self.open + BUCKETS_AHEAD
            && (self.open + 1..=bucket).all(empty)
            && self.pending[..self.scheduled.min(PENDING)].iter().all(|event| event.at > at)
    }

    /// Sorts the next bucket that holds anything, where nothing else is left, and buckets near the next event; none that
    /// begins after `limit`.
    #[cold]
    #[inline(never)]
    fn sort_ahead(&mut self, limit: Picos) {
        if self.waiting == 0 {
            return;
        }
        self.settle_pending();
        if self.next_at().is_none() {
            self.sort_next_occupied(limit >> self.shift);
        }
        let Some(next) = self.next_at() else { return };
        let last = (next.min(limit) >> self.shift) + BUCKETS_AHEAD;
        while self.sorted.len() - self.next <= SORTED_AHEAD && self.open < last {
            self.sort_bucket(self.open + 1);
        }
    }

    /// When the next event comes that lies in a bucket that was sorted.
    fn next_at(&self) -> Option<Picos> {
        let sorted = self.sorted.get(self.next).map(|event| event.at);
        let late = self.late.peek().map(|Reverse(late)| late.event.at);
        sorted.into_iter().chain(late).min()
    }

    /// Sorts the next bucket that holds an event of its revolution, but none beyond number `last`.
    fn sort_next_occupied(&mut self, last: u64) {
        let mut in_vain = 0;
        while self.next == self.sorted.len() && self.open < last {
            if in_vain == self.buckets.len() {
                self.skip(last);
            }
            in_vain += 1;
            self.sort_bucket(self.open + 1);
        }
    }

    /// Goes on to the bucket of the next event, or to number `last` before it: a fast network that rests for a second
    /// would take many revolutions.
    fn skip(&mut self, last: u64) {
        let mut next = last;
        for bucket in &self.buckets {
            self.for_each(*bucket, |event| next = next.min(event.at >> self.shift));
        }
        self.open = self.open.max(next - 1);
    }

    fn for_each(&self, bucket: Bucket, mut then: impl FnMut(&Event)) {
        let (mut chunk, mut left) = (bucket.first, bucket.events as usize);
        while left > 0 {
            let here = left.min(CHUNK);
            self.chunks[chunk as usize][..here].iter().for_each(&mut then);
            left -= here;
            chunk = self.following[chunk as usize];
        }
    }

    /// Puts the events of a bucket behind the sorted ones, in order. Those of a later revolution stay.
    fn sort_bucket(&mut self, number: u64) {
        self.open = number;
        let index = number as usize & (self.buckets.len() - 1);
        let bucket = std::mem::replace(&mut self.buckets[index], Bucket::EMPTY);
        if bucket.events == 0 {
            return;
        }
        self.sorted.drain(..self.next);
        self.next = 0;
        self.waiting -= bucket.events as usize;
        self.count_parts(bucket, number);
        self.distribute(bucket, number);
        self.release(bucket);
    }

    /// Counts the events of each part of the bucket's time; those of a later revolution join the bucket again.
    fn count_parts(&mut self, bucket: Bucket, number: u64) {
        self.parts.fill(0);
        let (mut chunk, mut left) = (bucket.first, bucket.events as usize);
        self.prefetch_chunk(chunk);
        self.prefetch_chunk(self.following[chunk as usize]);
        while left > 0 {
            let here = left.min(CHUNK);
            let following = self.following[chunk as usize];
            if following != NIL {
                self.prefetch_chunk(self.following[following as usize]);
            }
            for place in 0..here {
                let event = &self.chunks[chunk as usize][place];
                if event.at >> self.shift == number {
                    self.parts[part(event.at, self.shift)] += 1;
                } else {
                    let event = *event;
                    self.append(event);
                    self.waiting += 1;
                }
            }
            left -= here;
            chunk = following;
        }
    }

    fn prefetch_chunk(&self, chunk: u32) {
        if let Some(chunk) = self.chunks.get(chunk as usize) {
            (0..CHUNK).step_by(2).for_each(|place| prefetch_index(chunk, place));
        }
    }

    /// Puts the events of the bucket behind the sorted ones: by their parts, and then in order.
    fn distribute(&mut self, bucket: Bucket, number: u64) {
        let begin = self.sorted.len();
        let (mut end, mut shared) = (begin as u32, 0);
        for part in &mut self.parts {
            let events = std::mem::replace(part, end);
            end += events;
            shared += events as usize * events as usize;
        }
        self.sorted.resize(end as usize, Event::NONE);
        let (mut chunk, mut left) = (bucket.first, bucket.events as usize);
        while left > 0 {
            let here = left.min(CHUNK);
            let events = &self.chunks[chunk as usize][..here];
            for event in events.iter().filter(|event| event.at >> self.shift == number) {
                let place = &mut self.parts[part(event.at, self.shift)];
                self.sorted[*place as usize] = *event;
                *place += 1;
            }
            left -= here;
            chunk = self.following[chunk as usize];
        }
        let sorted = &mut self.sorted[begin..];
        if shared > LONG_PART * sorted.len() {
            sorted.sort_by_key(|event| (event.at, event.key));
        } else {
            insertion_sort(sorted);
        }
    }

    /// Frees the chunks of a bucket.
    fn release(&mut self, bucket: Bucket) {
        self.following[bucket.last as usize] = self.free;
        self.free = bucket.first;
    }
}

/// The part of its bucket's time in which an event lies.
#[inline(always)]
fn part(at: Picos, shift: u32) -> usize {
    (at << (63 - shift) >> (63 - PART_BITS)) as usize & (PARTS - 1)
}

/// Of events of which few are out of place.
fn insertion_sort(events: &mut [Event]) {
    for i in 1..events.len() {
        let event = events[i];
        let mut place = i;
        while place > 0 && event.is_before(&events[place - 1]) {
            events[place] = events[place - 1];
            place -= 1;
        }
        if place < i {
            events[place] = event;
        }
    }
}
