//! An event: its time, whose it is, and what it carries.

use super::event_key::{self, EventKey};
use crate::packet::Payload;
use crate::time::Picos;

/// No place.
pub(super) const NIL: u32 = u32::MAX;
/// Something that will happen. Two fill a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Event {
    /// When.
    pub at: Picos,
    /// With a packet, what it carries.
    pub payload: Payload,
    /// To whom.
    pub key: EventKey,
    /// Where in the pool the next event of the slot lies, or of the places the next free one; or the
    /// crowd that follows.
    pub(super) link: u32,
}

impl Event {
    /// No event: what fills an empty place.
    pub(super) const NONE: Self = Self { at: 0, payload: Payload::NONE, key: 0, link: NIL };

    /// It fires before an event that was scheduled earlier.
    #[inline(always)]
    pub(super) fn is_before(&self, earlier: &Self) -> bool {
        self.at < earlier.at || (self.at == earlier.at && self.rank() < earlier.rank())
    }

    /// Its rank among the events of its instant.
    #[inline]
    pub(super) fn rank(&self) -> u64 {
        event_key::rank(self.key, self.at)
    }
}
