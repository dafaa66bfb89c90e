//! The queue of timed events: events with equal times are in the order of insertion.

use super::slab::Slot;
use forebay_sim::time::{NEVER, Picos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A timed event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A packet reaches the next queue of its route, or its end.
    Packet(Slot),
    /// A link can dequeue the next packet.
    Service(u32),
}

/// Entries by time, then by order of insertion.
#[derive(Default)]
pub struct TimerQueue {
    heap: BinaryHeap<Reverse<(Picos, u64, Due)>>,
    noted: u64,
}

impl TimerQueue {
    /// Adds an event `at` a time.
    #[inline]
    pub fn note(&mut self, at: Picos, due: Due) {
        self.noted += 1;
        self.heap.push(Reverse((at, self.noted, due)));
    }

    /// Time of the next event; `NEVER` without events.
    #[inline]
    pub fn next_at(&self) -> Picos {
        self.heap.peek().map_or(NEVER, |Reverse((at, ..))| *at)
    }

    /// Removes and returns the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Picos, Due)> {
        self.heap.pop().map(|Reverse((at, _, due))| (at, due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn in_order_of_time_then_of_noting(times in prop::collection::vec(0_u64..20, 0..200)) {
            let mut timer_queue = TimerQueue::default();
            for (&at, slot) in times.iter().zip(0..) {
                timer_queue.note(at, Due::Packet(slot));
            }
            let mut expected: Vec<_> = times.iter().copied().zip(0..).collect();
            expected.sort();
            for (at, slot) in expected {
                prop_assert_eq!(timer_queue.next_at(), at);
                prop_assert_eq!(timer_queue.pop(), Some((at, Due::Packet(slot))));
            }
            prop_assert_eq!((timer_queue.next_at(), timer_queue.pop()), (NEVER, None));
        }
    }
}
