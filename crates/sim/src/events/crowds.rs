//! Slots that hold many events: a heap follows the first one, in place of a list.
//!
//! An event finds its place in a list by a walk. Where thousands of flows start within one slot, each
//! would walk past thousands of others.

use super::event::{Event, NIL};
use crate::time::Picos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A link from here on, below `NIL`, names a crowd and not a place in the pool.
const CROWDED: u32 = 1 << 31;

/// What follows the first event of each crowded slot.
#[derive(Default)]
pub struct Crowds {
    crowds: Vec<Crowd>,
    /// Those that no slot has.
    free: Vec<u32>,
}

#[derive(Default)]
struct Crowd {
    waiting: BinaryHeap<Reverse<Ranked>>,
    /// How many have joined.
    joined: i64,
}

/// An event and the order of its joining: below 0 for one that goes before others of its key and instant.
pub(super) struct Ranked {
    pub(super) order: i64,
    pub(super) event: Event,
}

/// Whether a link names a crowd.
#[inline(always)]
pub fn is_crowd(link: u32) -> bool {
    link >= CROWDED && link != NIL
}

impl Crowds {
    /// The link to a crowd that holds nothing.
    pub fn begin(&mut self) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.crowds.push(Crowd::default());
            self.crowds.len() as u32 - 1
        });
        CROWDED + place
    }

    /// Puts an event behind those of its instant and key, or `first` before them.
    pub fn join(&mut self, link: u32, event: Event, first: bool) {
        let crowd = &mut self.crowds[(link - CROWDED) as usize];
        crowd.joined += 1;
        let order = if first { -crowd.joined } else { crowd.joined };
        crowd.waiting.push(Reverse(Ranked { order, event }));
    }

    /// All events of all crowds, in no order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.crowds.iter().flat_map(|crowd| &crowd.waiting).map(|Reverse(ranked)| &ranked.event)
    }

    /// Takes the next event out, linked to what follows it. A crowd that holds nothing then is free.
    pub fn leave(&mut self, link: u32) -> Event {
        let crowd = &mut self.crowds[(link - CROWDED) as usize];
        let Reverse(Ranked { event, .. }) = crowd.waiting.pop().expect("a crowd in a slot");
        if !crowd.waiting.is_empty() {
            return Event { link, ..event };
        }
        *crowd = Crowd::default();
        self.free.push(link - CROWDED);
        Event { link: NIL, ..event }
    }
}

impl Ranked {
    fn rank(&self) -> (Picos, u64, i64) {
        (self.event.at, self.event.rank(), self.order)
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Ranked {}
