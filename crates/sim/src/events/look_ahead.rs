//! What a look ahead asks the event queue, to call what the next events touch into the cache.

use super::{EventKey, Wheel};
use crate::packet::Payload;
use crate::time::Picos;
use prefetch_index::prefetch_index;

/// Words in which a look ahead searches: through all of an empty wheel it would take longer than what
/// it is to save.
const FORESIGHT: u64 = 32;

impl Wheel {
    /// The absolute number of the slot of the last event that fired.
    #[inline]
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Calls the first event from `slot` on into the cache. Gives its slot, and its place for `key`;
    /// these are of no meaning where there is none.
    #[inline(always)]
    pub fn look_ahead(&self, slot: u64) -> (u64, u32) {
        let bits = self.occupied_from(slot);
        let found = if bits == 0 {
            self.occupied_within(slot, FORESIGHT)
        } else {
            slot + u64::from(bits.trailing_zeros())
        };
        let place = self.index(found);
        prefetch_index(&self.slots, place);
        (found, place as u32)
    }

    /// Whose event lies at a place that `look_ahead` gave.
    #[inline]
    pub fn key(&self, place: u32) -> EventKey {
        self.slots[place as usize].key
    }

    /// When it is due.
    #[inline]
    pub fn at(&self, place: u32) -> Picos {
        self.slots[place as usize].at
    }

    /// What that event carries.
    #[inline]
    pub fn payload(&self, place: u32) -> Payload {
        self.slots[place as usize].payload
    }

    /// Calls what follows that event in its slot into the cache.
    #[inline]
    pub fn prefetch_next(&self, place: u32) {
        prefetch_index(&self.pool, self.slots[place as usize].link as usize);
    }

    /// Calls into the cache what an event at `at` will be put in.
    #[inline(always)]
    pub fn prefetch_slot(&self, at: Picos) {
        prefetch_index(&self.slots, self.index(self.slot(at)));
    }
}
