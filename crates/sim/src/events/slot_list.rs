//! The events of a slot: the first lies in the slot itself, the others follow in a list, or a crowd.

use super::crowds::is_crowd;
use super::event::{Event, NIL};
use super::{NOWHERE, Wheel};

/// Most events of a list that are compared with a new one: beyond it, the slot is crowded.
const LONGEST_WALK: usize = 64;

impl Wheel {
    /// Puts an event in its place in a slot that is occupied.
    pub(super) fn insert_sorted(&mut self, event: Event, slot: u64) {
        let index = self.index(slot);
        let first = self.slots[index];
        if is_crowd(first.link) {
            return self.insert_crowded(event, index);
        }
        if event.is_before(&first) {
            let link = self.put(first);
            self.slots[index] = Event { link, ..event };
            return;
        }
        let (mut before, mut next) = (NIL, first.link);
        let (last, its_slot) = self.insert_hint;
        if its_slot == slot && !event.is_before(&self.pool[last as usize]) {
            (before, next) = (last, self.pool[last as usize].link);
        }
        let mut walked = 0;
        while next != NIL && !event.is_before(&self.pool[next as usize]) {
            if walked == LONGEST_WALK {
                self.crowd(index);
                return self.insert_crowded(event, index);
            }
            walked += 1;
            (before, next) = (next, self.pool[next as usize].link);
        }
        let place = self.put(Event { link: next, ..event });
        match before {
            NIL => self.slots[index].link = place,
            _ => self.pool[before as usize].link = place,
        }
        self.insert_hint = (place, slot);
    }

    /// Turns the list of a slot into a crowd.
    #[cold]
    fn crowd(&mut self, index: usize) {
        let crowd = self.crowds.begin();
        let mut next = std::mem::replace(&mut self.slots[index].link, crowd);
        while next != NIL {
            let event = self.take(next);
            self.crowds.join(crowd, event, false);
            next = event.link;
        }
        self.insert_hint = (NIL, NOWHERE);
    }

    /// Puts an event in its place in a slot whose first event a crowd follows.
    fn insert_crowded(&mut self, event: Event, index: usize) {
        let head = self.slots[index];
        if event.is_before(&head) {
            self.crowds.join(head.link, head, true);
            self.slots[index] = Event { link: head.link, ..event };
        } else {
            self.crowds.join(head.link, event, false);
        }
    }

    /// Puts an event into the pool.
    #[inline]
    fn put(&mut self, event: Event) -> u32 {
        let place = self.free;
        let Some(free) = self.pool.get_mut(place as usize) else {
            self.pool.push(event);
            return self.pool.len() as u32 - 1;
        };
        self.free = free.link;
        *free = event;
        place
    }

    /// Takes an event out of the pool.
    #[inline]
    fn take(&mut self, place: u32) -> Event {
        let event = self.pool[place as usize];
        self.pool[place as usize].link = self.free;
        self.free = place;
        event
    }
}
