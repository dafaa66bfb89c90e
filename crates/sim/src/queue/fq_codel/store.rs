//! Packets in many first-in-first-out queues that share one pool.

use crate::queue::QueuedPacket;
use crate::queue::codel::control_law::PacketQueue;

/// Queues of which only the most backlog is looked at, unless the fattest may be among them.
const GROUP: usize = 64;
const NONE: u32 = u32::MAX;

/// What a packet costs Linux besides its bytes: `sk_buff` (256 B) and `skb_shared_info` (320 B).
const OVERHEAD: u64 = 576;

#[derive(Clone, Debug)]
struct Node {
    packet: QueuedPacket,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

/// First-in-first-out queues over one pool of nodes. It grows to the most packets it ever held and then allocates no more.
#[derive(Clone, Debug)]
pub(in crate::queue) struct Store {
    nodes: Vec<Node>,
    free: u32,
    queues: Box<[Ends]>,
    /// Bytes of each queue, dense: finding the fattest reads those of whole groups.
    backlogs: Box<[u64]>,
    /// What no queue of a group holds more than: exact when last read, and raised since then.
    ceilings: Box<[u64]>,
    packets: usize,
    bytes: u64,
}

impl Store {
    pub fn new(queues: usize, packets: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(packets),
            free: NONE,
            queues: vec![Ends { first: NONE, last: NONE }; queues].into(),
            backlogs: vec![0; queues].into(),
            ceilings: vec![0; queues.div_ceil(GROUP)].into(),
            packets: 0,
            bytes: 0,
        }
    }

    pub fn packets(&self) -> usize {
        self.packets
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Memory that Linux would hold: the packets' `truesize`.
    #[inline]
    pub fn memory(&self) -> u64 {
        self.bytes + OVERHEAD * self.packets as u64
    }

    #[inline(always)]
    pub fn push(&mut self, queue: usize, packet: QueuedPacket) {
        let node = self.place(packet);
        let ends = &mut self.queues[queue];
        if ends.first == NONE {
            ends.first = node;
        } else {
            self.nodes[ends.last as usize].next = node;
        }
        ends.last = node;
        let backlog = &mut self.backlogs[queue];
        *backlog += u64::from(packet.bytes);
        let ceiling = &mut self.ceilings[queue / GROUP];
        *ceiling = (*ceiling).max(*backlog);
        self.bytes += u64::from(packet.bytes);
        self.packets += 1;
    }

    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<QueuedPacket> {
        let index = self.queues[queue].first;
        let node = self.nodes.get_mut(index as usize)?;
        let packet = node.packet;
        self.queues[queue].first = node.next;
        node.next = self.free;
        self.free = index;
        self.backlogs[queue] -= u64::from(packet.bytes);
        self.bytes -= u64::from(packet.bytes);
        self.packets -= 1;
        Some(packet)
    }

    /// The queue of most bytes and what it holds; the first among equals.
    pub fn fattest(&mut self) -> (usize, u64) {
        let mut fattest = (0, 0);
        let groups = self.backlogs.chunks(GROUP).zip(&mut self.ceilings);
        for (group, (backlogs, ceiling)) in groups.enumerate() {
            if *ceiling <= fattest.1 {
                continue;
            }
            *ceiling = 0;
            for (place, &bytes) in backlogs.iter().enumerate() {
                *ceiling = bytes.max(*ceiling);
                if bytes > fattest.1 {
                    fattest = (group * GROUP + place, bytes);
                }
            }
        }
        fattest
    }

    /// Puts a packet into a free node, the last of its queue.
    #[inline(always)]
    fn place(&mut self, packet: QueuedPacket) -> u32 {
        let index = self.free;
        let Some(node) = self.nodes.get_mut(index as usize) else { return self.place_new(packet) };
        self.free = node.next;
        // Field by field: a struct's copy would go through the stack, and wait for it.
        let QueuedPacket { flow, class, bytes, arrived, ecn_capable, l4s, handle } = packet;
        node.packet.flow = flow;
        node.packet.class = class;
        node.packet.bytes = bytes;
        node.packet.arrived = arrived;
        node.packet.ecn_capable = ecn_capable;
        node.packet.l4s = l4s;
        node.packet.handle = handle;
        node.next = NONE;
        index
    }

    #[cold]
    #[inline(never)]
    fn place_new(&mut self, packet: QueuedPacket) -> u32 {
        self.nodes.push(Node { packet, next: NONE });
        self.nodes.len() as u32 - 1
    }
}

/// One queue of a store, as CoDel's law sees it.
pub(super) struct Slot<'a> {
    pub store: &'a mut Store,
    pub queue: usize,
}

impl PacketQueue for Slot<'_> {
    #[inline]
    fn next(&mut self) -> Option<QueuedPacket> {
        self.store.pop(self.queue)
    }

    /// Of all queues, as Linux has it.
    #[inline]
    fn bytes(&self) -> u64 {
        self.store.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(bytes: u32) -> QueuedPacket {
        QueuedPacket {
            flow: 0,
            class: 0,
            bytes,
            arrived: 0,
            ecn_capable: false,
            l4s: false,
            handle: 0,
        }
    }

    #[test]
    fn places_are_used_again() {
        let mut store = Store::new(2, 0);
        for round in 0..100 {
            (0..3).for_each(|_| store.push(round % 2, packet(100)));
            (0..3).for_each(|_| assert_eq!(store.pop(round % 2), Some(packet(100))));
            assert_eq!(store.pop(round % 2), None);
        }
        assert_eq!(store.nodes.len(), 3);
        assert_eq!((store.packets(), store.bytes(), store.memory()), (0, 0, 0));
    }

    #[test]
    fn the_fattest_is_by_bytes_and_the_first_among_equals() {
        let mut store = Store::new(3, 0);
        (0..5).for_each(|_| store.push(0, packet(100)));
        store.push(1, packet(700));
        store.push(2, packet(700));
        assert_eq!(store.fattest(), (1, 700));
    }

    #[test]
    fn the_fattest_of_many_is_found_whatever_came_and_went() {
        let mut store = Store::new(150, 0);
        let mut step = 1_u64;
        for _ in 0..3000 {
            step = step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let queue = (step >> 33) as usize % 150;
            if step >> 63 == 0 {
                store.push(queue, packet(64 + (step >> 40) as u32 % 1437));
            } else {
                store.pop(queue);
            }
            let most = *store.backlogs.iter().max().unwrap();
            let first = store.backlogs.iter().position(|&bytes| bytes == most).unwrap();
            assert_eq!(store.fattest(), (first, most));
        }
    }
}
