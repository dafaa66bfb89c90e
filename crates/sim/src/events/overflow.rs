//! The second wheel of the event queue: what lies beyond the first one waits in coarse slots.

use super::{Event, NOWHERE, Wheel};
use crate::time::Picos;

impl Wheel {
    /// Puts an event into the second wheel.
    #[inline]
    pub(super) fn insert_overflow(&mut self, event: Event, slot: u64) {
        let coarse = self.coarse(slot);
        self.overflow[coarse].push(event);
        self.overflow_events += 1;
    }

    /// Moves the frontier on until the first slot that holds anything, `slot` as yet, lies before the
    /// gate. Gives that slot; `None` where there is no event at all, or none before `limit`.
    #[cold]
    #[inline(never)]
    pub(super) fn advance_frontier(&mut self, mut slot: u64, limit: Picos) -> Option<u64> {
        if let Some(buckets) = &mut self.buckets {
            let event = buckets.pop_before(limit)?;
            let (slot, index) = (self.slot(event.at), self.index(self.slot(event.at)));
            self.slots[index] = event;
            return Some(slot);
        }
        let mut in_vain = 0;
        let last = (limit >> self.shift).saturating_add(1);
        while slot >= self.lookahead_limit {
            if last < self.lookahead_limit || (slot == NOWHERE && self.overflow_events == 0) {
                return None;
            }
            if in_vain == self.overflow.len() {
                self.skip(last);
                in_vain = 0;
            }
            self.cursor = slot.min(self.frontier).min(last);
            if self.fetch_coarse() {
                slot = self.first_occupied(self.cursor);
            } else if slot == NOWHERE {
                in_vain += 1;
            }
        }
        Some(slot)
    }

    /// Moves the frontier of a wheel that holds nothing to the coarse slot of the next event, or of
    /// `last` before it: a fast link that rests for a second would take millions of steps.
    fn skip(&mut self, last: u64) {
        let slots = self.overflow.iter().flatten().map(|event| self.slot(event.at));
        let Some(next) = slots.min() else { return };
        let coarse = next.min(last) / self.coarse_width() * self.coarse_width();
        if coarse <= self.frontier {
            return;
        }
        self.lookahead_limit += coarse - self.frontier;
        self.frontier = coarse;
    }

    /// Moves the events of the coarse slot at the frontier over, in the order in which they were
    /// scheduled; true if there were any. Those of a later revolution stay.
    fn fetch_coarse(&mut self) -> bool {
        let coarse = self.coarse(self.frontier);
        self.frontier += self.coarse_width();
        self.lookahead_limit += self.coarse_width();
        let mut events = std::mem::take(&mut self.overflow[coarse]);
        let before = self.overflow_events;
        self.overflow_events -= events.len();
        for Event { at, payload, key, .. } in events.drain(..) {
            self.insert_more(at, key, payload);
        }
        if self.overflow[coarse].is_empty() {
            self.overflow[coarse] = events; // for its room
        }
        self.overflow_events < before
    }
}
