//! Events of a large network or a fast link, in buckets that are sorted when they come.
//!
//! With tens of thousands of flows over hundreds of links, events come in no order, and with tens of thousands of packets
//! on their way a wheel takes megabytes: the slot of each event lies in memory when it is scheduled and when it fires. Here an event is appended to the bucket of its time: the ends of
//! all buckets in use stay in the cache. The next bucket is sorted into an array as the last one runs out, so what
//! fires next is known exactly, and can be called into the cache in time.

mod sorting;

use super::crowds::Ranked;
use super::event::{Event, NIL};
use super::event_key::EventKey;
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
/// An event that fires before so many of the sorted ones is put among them.
const NEAR: usize = 256;
/// Places left free before the sorted events.
const ROOM: usize = 64;
/// Buckets beyond that of the next event that may be sorted ahead. What is scheduled into a sorted bucket takes longer.
const BUCKETS_AHEAD: u64 = 2;

/// Parts of a bucket's time, 2 to this at most, into which its events are distributed to sort them.
const PART_BITS: u32 = 9;
const PARTS: usize = 1 << PART_BITS;

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

    /// Into a bucket that was sorted before. Most such events come soon: those that fire earlier, few, move up one place, of
    /// which some are free at the front.
    #[inline(never)]
    fn insert_late(&mut self, event: Event) {
        let near = self.sorted.len().min(self.next + NEAR);
        let place = self.next
            + self.sorted[self.next..near].partition_point(|sorted| !event.is_before(sorted));
        let is_near = place < near || near == self.sorted.len();
        if is_near && self.next > 0 && self.late.is_empty() {
            self.next -= 1;
            self.sorted.copy_within(self.next + 1..place, self.next);
            self.sorted[place - 1] = event;
            return;
        }
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

    /// The events that come next, of those that are sorted.
    #[inline(always)]
    pub fn upcoming(&self) -> &[Event] {
        self.sorted.get(self.next..).unwrap_or_default()
    }

    /// All events, in no order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        let pending = self.scheduled.min(PENDING);
        let late = self.late.iter().map(|Reverse(late)| &late.event);
        let near = self.sorted[self.next..].iter().chain(&self.pending[..pending]);
        near.chain(late).chain(self.buckets.iter().flat_map(|bucket| self.events_of(bucket)))
    }

    fn events_of(&self, bucket: &Bucket) -> impl Iterator<Item = &Event> {
        let next = |&chunk: &u32| Some(self.following[chunk as usize]).filter(|&at| at != NIL);
        let chunks = std::iter::successors(Some(bucket.first).filter(|&at| at != NIL), next);
        chunks.flat_map(|chunk| &self.chunks[chunk as usize]).take(bucket.events as usize)
    }

    /// Whether nothing is due up to and with `at`. May be false though nothing is, where the search would take long.
    #[inline]
    pub fn is_empty_until(&self, at: Picos) -> bool {
        match self.sorted.get(self.next) {
            // What is not sorted is due later.
            Some(next) if self.late.is_empty() => next.at > at,
            _ => self.is_empty_beyond(at),
        }
    }

    /// Nothing is due before this: 0 where a search would take long.
    #[inline]
    pub fn quiet_until(&self) -> Picos {
        match self.sorted.get(self.next) {
            // What is not sorted is due later.
            Some(next) if self.late.is_empty() => next.at,
            _ => self.next_at().unwrap_or(0),
        }
    }

    /// `is_empty_until` where an event may lie outside the sorted ones.
    #[inline(never)]
    fn is_empty_beyond(&self, at: Picos) -> bool {
        if let Some(next) = self.next_at() {
            return next > at;
        }
        let bucket = at >> self.shift;
        let empty =
            |number: u64| self.buckets[number as usize & (self.buckets.len() - 1)].events == 0;
        bucket <= self.open + BUCKETS_AHEAD
            && (self.open + 1..=bucket).all(empty)
            && self.pending[..self.scheduled.min(PENDING)].iter().all(|event| event.at > at)
    }

    /// When the next event comes that lies in a bucket that was sorted.
    fn next_at(&self) -> Option<Picos> {
        let sorted = self.sorted.get(self.next).map(|event| event.at);
        let late = self.late.peek().map(|Reverse(late)| late.event.at);
        sorted.into_iter().chain(late).min()
    }

    /// Frees the chunks of a bucket.
    fn release(&mut self, bucket: Bucket) {
        self.following[bucket.last as usize] = self.free;
        self.free = bucket.first;
    }
}
