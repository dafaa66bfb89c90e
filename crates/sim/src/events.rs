//! The event queue: a timing wheel.
//!
//! An event is a packet that arrives somewhere, or a timer. None is taken out before its time: the
//! owner of a timer that was moved ignores the event when it fires (`event_timer`). Events of the same instant fire in the
//! order of `event_key::rank`, and of one key in the order in which they were scheduled: so what a
//! flow does at an instant does not depend on when other flows scheduled theirs.
//!
//! A slot spans 2^shift picoseconds. Its first event lies in the slot itself, for mostly it is the
//! only one, and with thousands of flows it is the memory that an event waits for: one line of the
//! cache when it is scheduled, and the same, beside that of the event before it, when it fires.
//! Others of the slot follow in a list, in order, through a pool; where they are many, in a heap. What
//! lies beyond the wheel waits in coarse slots of a second one, and moves over a coarse slot at a time
//! as the first wheel turns. Where so many slots would be needed that they do not stay in the cache, events are kept
//! in `buckets` instead.

mod buckets;
mod crowds;
mod event;
pub(crate) mod event_key;
pub(crate) mod event_timer;
mod keys;
mod overflow;
mod quiet;
mod slot_list;

use self::buckets::Buckets;
use self::crowds::{Crowds, is_crowd};
pub use self::event::Event;
use self::event::NIL;
pub use self::event_key::EventKey;
use crate::packet::Payload;
use crate::time::{NEVER, Picos};

/// No slot.
const NOWHERE: u64 = u64::MAX;
/// A megabyte. More slots would be in memory, not in the core's cache, when an event is scheduled and when it fires.
const MAX_SLOTS: usize = 1 << 15;
/// Half a megabyte, which stays in the core's cache.
const NETWORK_SLOTS: usize = 1 << 14;
/// Words of as many bits.
const WORDS: usize = MAX_SLOTS / 64;
const COARSE_SLOTS: usize = 256;
/// The most of a network's.
const NETWORK_COARSE_SLOTS: usize = 1 << 15;
/// Slots that a bucket of a large network's spans, and one of single links'.
const NETWORK_BUCKET_SLOTS: u64 = 1 << 11;
const LINK_BUCKET_SLOTS: u64 = 1 << 9;
/// Round trips that its buckets reach ahead.
const BUCKETS_REACH: u64 = 8;
/// Coarse slots that the wheel holds.
const COARSE_SHARE: u64 = 16;

/// A timing wheel with an overflow wheel of coarse slots. What every event touches comes first, together.
#[repr(C)]
pub struct Wheel {
    /// Absolute number of the slot of the last event that fired; every earlier slot is empty.
    cursor: u64,
    /// Which slots are occupied: a bit a slot, by its absolute number. It goes round later than the wheel does, and
    /// no bit's place need be looked up.
    occupied: Box<[u64; WORDS]>,
    /// No slot from here on is looked into before the frontier has moved on.
    lookahead_limit: u64,
    /// The first slot that lies beyond the wheel; a whole number of coarse slots.
    frontier: u64,
    /// The first event of each slot that is occupied.
    slots: Vec<Event>,
    shift: u32,
    /// First free place of the pool.
    free: u32,
    pool: Vec<Event>,
    /// The last event that joined a list, while it lies there, and its slot: the next often goes
    /// behind it.
    insert_hint: (u32, u64),
    /// What is due in each coarse slot, in this revolution of the second wheel or a later one, in order of
    /// scheduling.
    overflow: Vec<Vec<Event>>,
    /// How many these are.
    overflow_events: usize,
    crowds: Crowds,
    /// Of a large network or link what holds all events, in place of the wheel.
    buckets: Option<Box<Buckets>>,
}

impl Wheel {
    /// A wheel whose slots are at most `slot_width` wide, and reach `horizon` ahead or as far as so many can (`holds`).
    pub fn new(slot_width: Picos, horizon: Picos) -> Self {
        let shift = slot_width.max(1).ilog2();
        let slots = (horizon >> shift).next_power_of_two() as usize;
        let slots = slots.clamp(64 * COARSE_SHARE as usize, MAX_SLOTS);
        Self::of(slots, shift, COARSE_SLOTS)
    }

    /// Whether a wheel of such slots can reach as far.
    pub fn holds(slot_width: Picos, horizon: Picos) -> bool {
        horizon >> slot_width.max(1).ilog2() <= MAX_SLOTS as u64
    }

    /// A wheel for packets that cross several links: their events come in no order, and would find a
    /// large wheel's slots in memory. It is small, and what lies beyond is added at the end of a coarse
    /// slot, of which there are enough to reach `horizon` where they can.
    pub fn for_network(slot_width: Picos, horizon: Picos) -> Self {
        let coarse_width = NETWORK_SLOTS as u64 / COARSE_SHARE;
        let least = (horizon / (NETWORK_COARSE_SLOTS as u64 * coarse_width)).max(1);
        let shift = slot_width.max(1).ilog2().max(least.next_power_of_two().ilog2());
        let slots = (horizon >> shift).next_power_of_two() as usize;
        let slots = slots.clamp(64 * COARSE_SHARE as usize, NETWORK_SLOTS);
        let coarse = ((horizon >> shift) / coarse_width).next_power_of_two() as usize;
        Self::of(slots, shift, coarse.clamp(COARSE_SLOTS, NETWORK_COARSE_SLOTS))
    }

    /// A wheel for so many flows over several links that they do not stay in the cache.
    pub fn for_large_network(slot_width: Picos, horizon: Picos) -> Self {
        Self::in_buckets(slot_width.saturating_mul(NETWORK_BUCKET_SLOTS), horizon)
    }

    /// A wheel for packets of one link each, where the flows, or what they have on their way, do not stay in the cache.
    pub fn for_large_link(slot_width: Picos, horizon: Picos) -> Self {
        Self::in_buckets(slot_width.saturating_mul(LINK_BUCKET_SLOTS), horizon)
    }

    /// It keeps its events in buckets of this width. All slots of the wheel itself lie beyond its frontier.
    fn in_buckets(width: Picos, horizon: Picos) -> Self {
        let buckets = Buckets::new(width, BUCKETS_REACH * horizon, NETWORK_COARSE_SLOTS);
        let wheel = Self::of(64, 63, 1);
        Self { frontier: 0, lookahead_limit: 0, buckets: Some(Box::new(buckets)), ..wheel }
    }

    fn of(slots: usize, shift: u32, coarse_slots: usize) -> Self {
        Self {
            slots: vec![Event::NONE; slots],
            occupied: vec![0; WORDS].try_into().expect("as many words"),
            pool: Vec::new(),
            free: NIL,
            shift,
            cursor: 0,
            frontier: slots as u64,
            lookahead_limit: slots as u64 / COARSE_SHARE + 1,
            overflow: vec![Vec::new(); coarse_slots],
            overflow_events: 0,
            insert_hint: (NIL, NOWHERE),
            crowds: Crowds::default(),
            buckets: None,
        }
    }

    /// The absolute number of an instant's slot. None is number 0, where the cursor starts.
    #[inline(always)]
    fn slot(&self, at: Picos) -> u64 {
        (at >> self.shift) + 1
    }

    /// Where a slot lies on the wheel.
    #[inline(always)]
    fn index(&self, slot: u64) -> usize {
        slot as usize & (self.slots.len() - 1)
    }

    /// Where in the second wheel a slot lies.
    #[inline]
    fn coarse(&self, slot: u64) -> usize {
        (slot / self.coarse_width()) as usize & (self.overflow.len() - 1)
    }

    /// Slots in a coarse one.
    fn coarse_width(&self) -> u64 {
        self.slots.len() as u64 / COARSE_SHARE
    }

    /// Schedules an event, not before the last one that fired.
    #[inline(always)]
    pub fn insert(&mut self, at: Picos, key: EventKey, payload: Payload) {
        let slot = self.slot(at);
        debug_assert!(slot >= self.cursor, "an event in the past");
        if slot >= self.frontier || self.is_occupied(slot) {
            self.insert_more(at, key, payload);
        } else {
            self.fill_slot(slot, at, key, payload);
        }
    }

    /// Whether a slot holds an event.
    #[inline(always)]
    fn is_occupied(&self, slot: u64) -> bool {
        self.occupied[word(slot)] >> (slot % 64) & 1 != 0
    }

    /// Puts an event into a slot that holds none.
    #[inline(always)]
    fn fill_slot(&mut self, slot: u64, at: Picos, key: EventKey, payload: Payload) {
        self.occupied[word(slot)] |= 1 << (slot % 64);
        // Word by word: a struct's copy would go through the stack.
        let index = self.index(slot);
        let event = &mut self.slots[index];
        event.at = at;
        event.payload = payload;
        event.key = key;
        event.link = NIL;
    }

    /// `insert` where the slot may lie beyond the wheel, or be occupied.
    #[inline(never)]
    fn insert_more(&mut self, at: Picos, key: EventKey, payload: Payload) {
        if let Some(buckets) = &mut self.buckets {
            return buckets.insert(at, key, payload);
        }
        let (slot, event) = (self.slot(at), Event { at, payload, key, link: NIL });
        if slot >= self.frontier {
            self.insert_overflow(event, slot);
        } else if self.is_occupied(slot) {
            self.insert_sorted(event, slot);
        } else {
            self.fill_slot(slot, at, key, payload);
        }
    }

    /// The next event, and whose is the one after it, as far as the bits at hand tell: it may be
    /// anyone's.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(Event, EventKey)> {
        self.pop_before(NEVER)
    }

    /// `pop` if the next event comes before `limit`; else `None`, and what is scheduled from then on is not earlier than
    /// `limit`.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Picos) -> Option<(Event, EventKey)> {
        let bits = self.occupied_from(self.cursor);
        let next_slot = self.cursor + u64::from((bits & bits.wrapping_sub(1)).trailing_zeros());
        let mut slot = self.first_occupied(self.cursor);
        if slot >= self.lookahead_limit {
            slot = self.advance_frontier(slot, limit)?;
        }
        let index = self.index(slot);
        let &Event { at, payload, key, link } = &self.slots[index];
        // Before anything is written, so that where the slots are need not be read again.
        let next_key = self.slots[self.index(next_slot)].key;
        if at >= limit {
            self.cursor = self.slot(limit);
            return None;
        }
        self.cursor = slot;
        let event = Event { at, payload, key, link };
        if link == NIL {
            self.occupied[word(slot)] &= !(1 << (slot % 64));
            return Some((event, next_key));
        }
        Some((event, self.promote_follower(index, link)))
    }

    /// `pop_before` for a large network or link.
    #[inline(always)]
    pub fn pop_sorted_before(&mut self, limit: Picos) -> Option<Event> {
        self.buckets.as_mut()?.pop_before(limit)
    }

    /// Whether it is one for a large network or link.
    pub fn is_sorted(&self) -> bool {
        self.buckets.is_some()
    }

    /// Of their events, those that come next.
    #[inline(always)]
    pub fn upcoming(&self) -> &[Event] {
        self.buckets.as_ref().map_or(&[], |buckets| buckets.upcoming())
    }

    /// Puts the event that follows the first one of a slot into its place. Gives whose it is.
    #[inline(always)]
    fn promote_follower(&mut self, index: usize, link: u32) -> EventKey {
        if is_crowd(link) {
            return self.promote_from_crowd(index, link);
        }
        if link == self.insert_hint.0 {
            self.insert_hint = (NIL, NOWHERE);
        }
        let follower = &mut self.pool[link as usize];
        self.slots[index] = *follower;
        follower.link = self.free;
        self.free = link;
        self.slots[index].key
    }

    /// A function of its own: an `Event` among the variables of the event loop, aligned as it is, would cost
    /// that a register.
    #[cold]
    #[inline(never)]
    fn promote_from_crowd(&mut self, index: usize, crowd: u32) -> EventKey {
        self.slots[index] = self.crowds.leave(crowd);
        self.slots[index].key
    }

    /// Whether nothing is due up to and with `at`. May be false though nothing is, where the search would
    /// take long.
    #[inline]
    pub fn is_empty_until(&self, at: Picos) -> bool {
        let bits = self.occupied_from(self.cursor);
        if bits == 0 {
            return match &self.buckets {
                Some(buckets) => buckets.is_empty_until(at),
                None => self.slot(at) < self.cursor + 64,
            };
        }
        let next = self.cursor + u64::from(bits.trailing_zeros());
        self.slots[self.index(next)].at > at
    }

    /// Which of 64 slots from `slot` on are occupied.
    #[inline(always)]
    fn occupied_from(&self, slot: u64) -> u64 {
        let near = self.occupied[word(slot)];
        let far = self.occupied[word(slot + 64)];
        ((u128::from(far) << 64 | u128::from(near)) >> (slot % 64)) as u64
    }

    /// The absolute number of the first occupied slot from `slot` on; `NOWHERE` where none is.
    #[inline(always)]
    fn first_occupied(&self, slot: u64) -> u64 {
        let bits = self.occupied_from(slot);
        if bits == 0 {
            return self.occupied_beyond(slot);
        }
        slot + u64::from(bits.trailing_zeros())
    }

    /// `first_occupied` where none of the 64 slots from `slot` on is.
    #[inline(never)]
    fn occupied_beyond(&self, slot: u64) -> u64 {
        self.occupied_within(slot, self.slots.len() as u64 / 64)
    }

    /// `first_occupied` beyond the word of `slot`, looking into `words` more.
    #[inline(never)]
    fn occupied_within(&self, slot: u64, words: u64) -> u64 {
        let first = slot / 64 + 1;
        let bits = |at: &u64| self.occupied[word(64 * at)];
        let Some(found) = (first..=first + words).find(|at| bits(at) != 0) else {
            return NOWHERE;
        };
        64 * found + u64::from(bits(&found).trailing_zeros())
    }
}

/// The word of `Wheel::occupied` that a slot is in.
#[inline(always)]
fn word(slot: u64) -> usize {
    (slot / 64) as usize % WORDS
}

#[cfg(test)]
mod tests;
