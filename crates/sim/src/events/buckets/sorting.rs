//! How the next buckets are sorted: their events are distributed over parts of a bucket's time, then put in order.

use super::{BUCKETS_AHEAD, Bucket, Buckets, CHUNK, PART_BITS, ROOM, SORTED_AHEAD};
use crate::events::event::{Event, NIL};
use crate::time::Picos;
use prefetch_index::prefetch_index;

/// Where an event shares its part with more than so many on average, the bucket is sorted in another way.
const LONG_PART: usize = 32;

impl Buckets {
    /// Sorts the next bucket that holds anything, where nothing else is left, and buckets near the next event; none that
    /// begins after `limit`.
    #[cold]
    #[inline(never)]
    pub(super) fn sort_ahead(&mut self, limit: Picos) {
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
        self.make_room();
        self.waiting -= bucket.events as usize;
        let parts = Parts::new(self.shift, bucket.events);
        self.count_parts(bucket, number, parts);
        self.distribute(bucket, number, parts);
        self.release(bucket);
    }

    /// Forgets events that have fired, but leaves `ROOM` before the next one.
    fn make_room(&mut self) {
        if self.next >= ROOM {
            self.sorted.drain(..self.next - ROOM);
        } else {
            let more = ROOM - self.next;
            self.sorted.splice(..0, std::iter::repeat_n(Event::NONE, more));
        }
        self.next = ROOM;
    }

    /// Counts the events of each part of the bucket's time; those of a later revolution join the bucket again.
    fn count_parts(&mut self, bucket: Bucket, number: u64, parts: Parts) {
        self.parts[..parts.count()].fill(0);
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
                    self.parts[parts.of(event.at)] += 1;
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
    fn distribute(&mut self, bucket: Bucket, number: u64, parts: Parts) {
        let begin = self.sorted.len();
        let (mut end, mut shared) = (begin as u32, 0);
        for part in &mut self.parts[..parts.count()] {
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
                let place = &mut self.parts[parts.of(event.at)];
                self.sorted[*place as usize] = *event;
                *place += 1;
            }
            left -= here;
            chunk = self.following[chunk as usize];
        }
        let sorted = &mut self.sorted[begin..];
        if shared > LONG_PART * sorted.len() {
            sorted.sort_by_key(|event| (event.at, event.rank()));
        } else {
            insertion_sort(sorted);
        }
    }
}

/// The parts of a bucket's time: about one for each of its events.
#[derive(Clone, Copy)]
struct Parts {
    /// Moves an event's part to the lowest bits of its time.
    shift: u32,
    last: usize,
}

impl Parts {
    /// Of a bucket of 2 to `shift` picoseconds.
    fn new(shift: u32, events: u32) -> Self {
        let bits = (events.ilog2() + 1).min(PART_BITS).min(shift);
        Self { shift: shift - bits, last: (1 << bits) - 1 }
    }

    fn count(self) -> usize {
        self.last + 1
    }

    /// The part in which an instant lies.
    #[inline(always)]
    fn of(self, at: Picos) -> usize {
        (at >> self.shift) as usize & self.last
    }
}

/// Sorts events that lie almost in order, by time and then by rank; of equal ones the first stays first. Takes a step for
/// each pair that is out of order.
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
