//! The event queue: a timing wheel whose slots are intrusive lists.
//!
//! Every event belongs to a *node* that exists from the start (a flow's next ACK, its timer, …) and
//! is pending at most once, so scheduling allocates nothing. Nodes due at the same instant fire in
//! the order in which they were scheduled: runs are deterministic.
//!
//! A slot spans 2^shift picoseconds. Slots beyond the wheel's horizon wait in a binary heap.

use crate::time::{NEVER, Picos};
use prefetch_index::prefetch_index;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Index of an event node.
pub type Node = u32;

const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Idle,
    Slot,
    Open,
    Far,
}

#[derive(Clone, Copy)]
struct Entry {
    at: Picos,
    /// Next node of the slot's list; for a node in the heap, the ticket that makes it current.
    link: u32,
    place: Place,
}

/// See the module's page.
pub struct Wheel {
    entries: Vec<Entry>,
    heads: Vec<u32>,
    occupied: Vec<u64>,
    shift: u32,
    /// Absolute number of the slot whose nodes are in `open`; every earlier slot is empty.
    cursor: u64,
    /// Nodes of the open slot, the next to fire last.
    open: Vec<Node>,
    far: BinaryHeap<Reverse<(Picos, u32, Node)>>,
    /// When the first of them is due; `NEVER` where there is none.
    far_at: Picos,
    tickets: u32,
    /// When the last event fired; only to find mistakes.
    now: Picos,
}

impl Wheel {
    /// A wheel for `nodes` nodes whose slots are at most `grain` wide and reach `horizon` ahead.
    pub fn new(nodes: usize, grain: Picos, horizon: Picos) -> Self {
        let shift = grain.max(1).ilog2();
        let slots = ((horizon >> shift) + 1).next_power_of_two().clamp(64, 1 << 21) as usize;
        Self {
            entries: vec![Entry { at: 0, link: NIL, place: Place::Idle }; nodes],
            heads: vec![NIL; slots],
            occupied: vec![0; slots / 64],
            shift,
            cursor: 0,
            open: Vec::with_capacity(64),
            far: BinaryHeap::new(),
            far_at: NEVER,
            tickets: 0,
            now: 0,
        }
    }

    /// Calls what the wheel keeps of `node` into the cache.
    #[inline]
    pub fn prefetch(&self, node: Node) {
        prefetch_index(&self.entries, node as usize);
    }

    /// When `node` will fire, if it is pending.
    #[inline]
    pub fn pending(&self, node: Node) -> Option<Picos> {
        let entry = &self.entries[node as usize];
        (entry.place != Place::Idle).then_some(entry.at)
    }

    /// Schedules an idle node.
    #[inline(always)]
    pub fn insert(&mut self, node: Node, at: Picos) {
        debug_assert!(self.entries[node as usize].place == Place::Idle);
        debug_assert!(at >= self.now, "an event in the past");
        let slot = at >> self.shift;
        if slot <= self.cursor {
            self.insert_open(node, at);
        } else if slot - self.cursor < self.heads.len() as u64 {
            let index = slot as usize & (self.heads.len() - 1);
            self.entries[node as usize] = Entry { at, link: self.heads[index], place: Place::Slot };
            self.heads[index] = node;
            self.occupied[index / 64] |= 1 << (index % 64);
        } else {
            self.insert_far(node, at);
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_far(&mut self, node: Node, at: Picos) {
        self.tickets = self.tickets.wrapping_add(1);
        self.entries[node as usize] = Entry { at, link: self.tickets, place: Place::Far };
        self.far.push(Reverse((at, self.tickets, node)));
        self.far_at = self.far_at.min(at);
    }

    /// Makes sure that `node` fires no later than `at`.
    #[inline]
    pub fn hasten(&mut self, node: Node, at: Picos) {
        match self.pending(node) {
            Some(pending) if pending <= at => {}
            Some(_) => {
                self.remove(node);
                self.insert(node, at);
            }
            None => self.insert(node, at),
        }
    }

    /// Takes a pending node out again.
    pub fn remove(&mut self, node: Node) {
        let entry = self.entries[node as usize];
        match entry.place {
            Place::Idle => return,
            Place::Far => {} // its heap entry goes stale: the ticket no longer counts
            Place::Open => self.open.retain(|&other| other != node),
            Place::Slot => self.unlink(node, entry),
        }
        self.entries[node as usize].place = Place::Idle;
    }

    /// Whether nothing is due up to and with `at`. May say no where it would be dear to find out.
    #[inline]
    pub fn is_quiet_until(&self, at: Picos) -> bool {
        if let Some(&node) = self.open.last() {
            return self.entries[node as usize].at > at;
        }
        let start = (self.cursor as usize + 1) & (self.heads.len() - 1);
        let slots = (at >> self.shift).saturating_sub(self.cursor);
        let ahead = self.occupied[start / 64] >> (start % 64);
        let within = slots + (start % 64) as u64 <= 64;
        within && ahead.trailing_zeros() as u64 >= slots && self.far_at > at
    }

    /// The next node to fire, and when.
    #[inline]
    pub fn pop(&mut self) -> Option<(Picos, Node)> {
        loop {
            if let Some(node) = self.open.pop() {
                return Some(self.fire(node));
            }
            if let Some(node) = self.open_next()? {
                return Some(self.fire(node));
            }
        }
    }

    #[inline]
    fn fire(&mut self, node: Node) -> (Picos, Node) {
        let entry = &mut self.entries[node as usize];
        entry.place = Place::Idle;
        debug_assert!(entry.at >= self.now, "events fire out of order");
        self.now = entry.at;
        (entry.at, node)
    }

    fn insert_open(&mut self, node: Node, at: Picos) {
        self.entries[node as usize] = Entry { at, link: NIL, place: Place::Open };
        let mut index = self.open.len();
        while index > 0 && self.entries[self.open[index - 1] as usize].at <= at {
            index -= 1;
        }
        self.open.insert(index, node);
    }

    fn unlink(&mut self, node: Node, entry: Entry) {
        let index = (entry.at >> self.shift) as usize & (self.heads.len() - 1);
        if self.heads[index] == node {
            self.heads[index] = entry.link;
            if entry.link == NIL {
                self.occupied[index / 64] &= !(1 << (index % 64));
            }
            return;
        }
        let mut before = self.heads[index] as usize;
        while self.entries[before].link != node {
            before = self.entries[before].link as usize;
        }
        self.entries[before].link = entry.link;
    }

    /// Opens the next slot; gives its node at once where it has but one.
    #[inline]
    fn open_next(&mut self) -> Option<Option<Node>> {
        let far = self.far_at >> self.shift;
        let slot = match self.next_occupied() {
            Some(near) => near.min(far),
            None if self.far_at == NEVER => return None,
            None => far,
        };
        self.cursor = slot;
        let first = self.take_list(slot);
        if far != slot && first != NIL && self.entries[first as usize].link == NIL {
            return Some(Some(first));
        }
        self.drain_list(first);
        if far == slot {
            self.drain_far(slot);
        }
        if self.open.len() > 1 {
            // Stable and latest first: of two at the same instant, the one scheduled first is last.
            let entries = &self.entries;
            self.open.sort_by_key(|&node| Reverse(entries[node as usize].at));
        }
        Some(None)
    }

    #[inline]
    fn take_list(&mut self, slot: u64) -> Node {
        let index = slot as usize & (self.heads.len() - 1);
        self.occupied[index / 64] &= !(1 << (index % 64));
        std::mem::replace(&mut self.heads[index], NIL)
    }

    fn drain_list(&mut self, mut node: Node) {
        while node != NIL {
            let entry = &mut self.entries[node as usize];
            entry.place = Place::Open;
            self.open.push(node);
            node = entry.link;
        }
    }

    /// Nodes that waited in the heap were scheduled before any of the slot's list.
    fn drain_far(&mut self, slot: u64) {
        let first = self.open.len();
        while let Some(&Reverse((at, ticket, node))) = self.far.peek() {
            if at >> self.shift != slot {
                break;
            }
            self.far.pop();
            let entry = &mut self.entries[node as usize];
            if entry.place == Place::Far && entry.link == ticket {
                entry.place = Place::Open;
                self.open.push(node);
            }
        }
        self.open[first..].reverse();
        self.far_at = self.far.peek().map_or(NEVER, |Reverse((at, ..))| *at);
    }

    /// The first slot after `slot` that is due no later than so many slots from now, and a node
    /// of it: an event to come.
    #[inline]
    pub fn look_ahead(&self, slot: u64, slots: u64) -> Option<(u64, Node)> {
        let found = self.occupied_after(slot.max(self.cursor))?;
        let index = found as usize & (self.heads.len() - 1);
        (found <= self.cursor + slots).then(|| (found, self.heads[index]))
    }

    /// The absolute number of the first occupied slot after the cursor.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        self.occupied_after(self.cursor)
    }

    /// The absolute number of the first occupied slot after `slot`, less than a horizon away.
    #[inline]
    fn occupied_after(&self, slot: u64) -> Option<u64> {
        let start = (slot as usize + 1) & (self.heads.len() - 1);
        let bits = self.occupied[start / 64] >> (start % 64);
        if bits == 0 {
            return self.occupied_beyond(slot + 64 - (start % 64) as u64);
        }
        Some(slot + 1 + u64::from(bits.trailing_zeros()))
    }

    /// The same where `slot` is the last of its word.
    #[inline(never)]
    fn occupied_beyond(&self, slot: u64) -> Option<u64> {
        let mask = self.occupied.len() - 1;
        let first = (slot as usize + 1) / 64;
        let word = (0..=mask).find(|&word| self.occupied[(first + word) & mask] != 0)?;
        let bits = self.occupied[(first + word) & mask];
        Some(slot + 1 + 64 * word as u64 + u64::from(bits.trailing_zeros()))
    }
}
