//! Whose events are scheduled.

use super::Wheel;
use super::crowds::is_crowd;
use super::event::NIL;
use super::event_key::EventKey;

impl Wheel {
    /// Calls `see` with the key of each event, in no order; it takes a look at all.
    pub(crate) fn for_each_key(&self, mut see: impl FnMut(EventKey)) {
        if let Some(buckets) = &self.buckets {
            return buckets.events().for_each(|event| see(event.key));
        }
        self.overflow.iter().flatten().for_each(|event| see(event.key));
        self.crowds.events().for_each(|event| see(event.key));
        let mut slot = self.first_occupied(self.cursor);
        // The bits of the largest wheel go round with it: beyond the frontier its first slots come again.
        while slot < self.frontier {
            let first = &self.slots[self.index(slot)];
            see(first.key);
            let mut link = first.link;
            while link != NIL && !is_crowd(link) {
                see(self.pool[link as usize].key);
                link = self.pool[link as usize].link;
            }
            slot = self.first_occupied(slot + 1);
        }
    }
}
