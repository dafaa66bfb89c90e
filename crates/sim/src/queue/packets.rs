//! The packets that wait before one wire, by number: a discipline keeps their numbers, as Linux's keep
//! pointers, so that a packet is written down once and never copied.

use super::QueuedPacket;
use crate::packet::Payload;
use std::hint::select_unpredictable;
use std::ops::Index;

const NONE: u32 = u32::MAX;

/// Packets by number. It grows to the most that ever waited and then allocates no more.
#[derive(Clone, Debug)]
pub struct Packets {
    slots: Vec<Slot>,
    /// The first free one; as many as there are slots where none is.
    free: u32,
    len: usize,
    dropped: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Slot {
    packet: QueuedPacket,
    /// The packet behind it in the list that it is in, or the next free slot.
    next: u32,
}

impl Packets {
    /// None.
    pub const EMPTY: Self = Self { slots: Vec::new(), free: 0, len: 0, dropped: Vec::new() };

    /// How many wait, those not counted that were dropped.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes a packet down, and gives its number.
    #[inline(always)]
    pub fn insert(&mut self, packet: QueuedPacket) -> u32 {
        self.len += 1;
        let number = self.free;
        let slot = match self.slots.get_mut(number as usize) {
            Some(slot) => slot,
            None => Self::grow(&mut self.slots),
        };
        self.free = slot.next;
        // Field by field: a struct's copy would go through the stack, and wait for it.
        let QueuedPacket { flow, class, bytes, arrived, payload } = packet;
        slot.packet.flow = flow;
        slot.packet.class = class;
        slot.packet.bytes = bytes;
        slot.packet.arrived = arrived;
        slot.packet.payload = payload;
        slot.next = NONE;
        number
    }

    /// Adds a free slot behind the others.
    #[cold]
    #[inline(never)]
    fn grow(slots: &mut Vec<Slot>) -> &mut Slot {
        let number = slots.len();
        let packet =
            QueuedPacket { flow: 0, class: 0, bytes: 0, arrived: 0, payload: Payload::NONE };
        slots.push(Slot { packet, next: number as u32 + 1 });
        &mut slots[number]
    }

    /// Takes out a packet that no list holds.
    #[inline(always)]
    pub fn remove(&mut self, number: u32) -> &QueuedPacket {
        self.len -= 1;
        let slot = &mut self.slots[number as usize];
        slot.next = self.free;
        self.free = number;
        &slot.packet
    }

    /// A discipline has dropped a packet, which no list holds.
    #[inline]
    pub fn drop(&mut self, number: u32) {
        self.len -= 1;
        self.dropped.push(number);
    }

    /// Takes out those that were dropped since the last call.
    #[inline(always)]
    pub fn remove_dropped(&mut self, each: impl FnMut(&QueuedPacket)) {
        if !self.dropped.is_empty() {
            self.remove_all_dropped(each);
        }
    }

    #[inline(never)]
    fn remove_all_dropped(&mut self, mut each: impl FnMut(&QueuedPacket)) {
        let mut dropped = std::mem::take(&mut self.dropped);
        self.len += dropped.len();
        dropped.drain(..).for_each(|number| each(self.remove(number)));
        self.dropped = dropped;
    }
}

impl Index<u32> for Packets {
    type Output = QueuedPacket;

    #[inline(always)]
    fn index(&self, number: u32) -> &QueuedPacket {
        &self.slots[number as usize].packet
    }
}

/// Packets first in, first out.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketList {
    first: u32,
    /// Where the list is empty, any.
    last: u32,
}

impl PacketList {
    pub const EMPTY: Self = Self { first: NONE, last: 0 };

    /// Adds a packet that is in no list at the end. Whether the list is empty is chance: selected, not branched upon.
    #[inline(always)]
    pub fn push(&mut self, packet: u32, packets: &mut Packets) {
        let is_empty = self.first == NONE;
        let last = &mut packets.slots[self.last as usize].next;
        *select_unpredictable(is_empty, &mut self.first, last) = packet;
        self.last = packet;
    }

    /// Takes the first off.
    #[inline(always)]
    pub fn pop(&mut self, packets: &Packets) -> Option<u32> {
        let first = self.first;
        self.first = packets.slots.get(first as usize)?.next;
        Some(first)
    }
}

impl Default for PacketList {
    fn default() -> Self {
        Self::EMPTY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testbench::train;

    #[test]
    fn places_are_used_again() {
        let packet = train(0, 100, 0, 1, 1)[0];
        let (mut packets, mut list) = (Packets::EMPTY, PacketList::EMPTY);
        for _ in 0..100 {
            (0..3).for_each(|_| list.push(packets.insert(packet), &mut packets));
            for left in [2, 1, 0] {
                let first = list.pop(&packets).expect("three");
                assert_eq!((*packets.remove(first), packets.len()), (packet, left));
            }
            assert_eq!(list.pop(&packets), None);
        }
        assert_eq!(packets.slots.len(), 3);
    }

    #[test]
    fn those_that_were_dropped_leave_in_order() {
        let (mut packets, mut seen) = (Packets::EMPTY, Vec::new());
        let numbers = train(0, 100, 0, 5, 1).into_iter().map(|packet| packets.insert(packet));
        let numbers: Vec<_> = numbers.collect();
        [3, 1].iter().for_each(|&place| packets.drop(numbers[place]));
        packets.remove_dropped(|packet| seen.push(packet.arrived));
        assert_eq!((seen, packets.len()), (vec![3, 1], 3));
        packets.remove_dropped(|_| panic!("none"));
    }
}
