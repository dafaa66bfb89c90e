//! What many first-in-first-out queues hold, and which of them holds most.

use crate::queue::QueuedPacket;
use crate::queue::codel::control_law::PacketQueue;
use crate::queue::packet_fifo::Waiting;
use crate::queue::packets::{PacketList, Packets};

/// Queues of which only the most backlog is looked at, unless the fattest may be among them.
const GROUP: usize = 64;

/// What a packet costs Linux besides its bytes: `sk_buff` (256 B) and `skb_shared_info` (320 B).
const OVERHEAD: u64 = 576;

/// What the queues of packets hold. Who has a queue keeps its list beside what else it knows of it.
#[derive(Clone, Debug)]
pub(in crate::queue) struct Store {
    /// Bytes of each queue, dense: finding the fattest reads those of whole groups.
    backlogs: Box<[u64]>,
    /// What no queue of a group holds more than: exact when last read, and raised since then.
    ceilings: Box<[u64]>,
    bytes: u64,
}

impl Store {
    pub fn new(queues: usize) -> Self {
        Self {
            backlogs: vec![0; queues].into(),
            ceilings: vec![0; queues.div_ceil(GROUP)].into(),
            bytes: 0,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Memory that Linux would hold for so many packets: their `truesize`.
    #[inline]
    pub fn memory(&self, packets: usize) -> u64 {
        self.bytes + OVERHEAD * packets as u64
    }

    /// A packet joins a queue, whose number and list these are.
    #[inline(always)]
    pub fn push(
        &mut self,
        queue: usize,
        list: &mut PacketList,
        packet: u32,
        packets: &mut Packets,
    ) {
        let bytes = u64::from(packets[packet].bytes);
        list.push(packet, packets);
        let backlog = &mut self.backlogs[queue];
        *backlog += bytes;
        let ceiling = &mut self.ceilings[queue / GROUP];
        *ceiling = (*ceiling).max(*backlog);
        self.bytes += bytes;
    }

    /// The first packet of a queue leaves it.
    #[inline(always)]
    pub fn pop(
        &mut self,
        queue: usize,
        list: &mut PacketList,
        packets: &Packets,
    ) -> Option<Waiting> {
        let number = list.pop(packets)?;
        let QueuedPacket { arrived, bytes, .. } = packets[number];
        self.backlogs[queue] -= u64::from(bytes);
        self.bytes -= u64::from(bytes);
        Some(Waiting { arrived, bytes, number })
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
}

/// One queue of a store, as CoDel's law sees it.
pub(super) struct Slot<'a> {
    pub store: &'a mut Store,
    pub queue: usize,
    pub list: &'a mut PacketList,
}

impl PacketQueue for Slot<'_> {
    #[inline(always)]
    fn next(&mut self, packets: &Packets) -> Option<Waiting> {
        self.store.pop(self.queue, self.list, packets)
    }

    /// Bytes waiting in all queues, as Linux has it.
    #[inline]
    fn bytes(&self) -> u64 {
        self.store.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testbench::train;

    /// A store with its queues and packets.
    struct Bench(Store, Vec<PacketList>, Packets);

    impl Bench {
        fn new(queues: usize) -> Self {
            Self(Store::new(queues), vec![PacketList::EMPTY; queues], Packets::EMPTY)
        }

        fn push(&mut self, queue: usize, bytes: u32) {
            let packet = self.2.insert(train(0, bytes, 0, 1, 1)[0]);
            self.0.push(queue, &mut self.1[queue], packet, &mut self.2);
        }

        fn pop(&mut self, queue: usize) -> Option<u32> {
            let packet = self.0.pop(queue, &mut self.1[queue], &self.2)?;
            Some(self.2.remove(packet.number).bytes)
        }
    }

    #[test]
    fn it_counts_what_comes_and_goes() {
        let mut bench = Bench::new(2);
        for round in 0..100 {
            (100..103).for_each(|bytes| bench.push(round % 2, bytes));
            assert_eq!((bench.0.bytes(), bench.0.memory(3)), (303, 303 + 3 * OVERHEAD));
            (100..103).for_each(|bytes| assert_eq!(bench.pop(round % 2), Some(bytes)));
            assert_eq!(bench.pop(round % 2), None);
        }
        assert_eq!((bench.0.bytes(), bench.0.memory(0)), (0, 0));
    }

    #[test]
    fn the_fattest_is_by_bytes_and_the_first_among_equals() {
        let mut bench = Bench::new(3);
        (0..5).for_each(|_| bench.push(0, 100));
        bench.push(1, 700);
        bench.push(2, 700);
        assert_eq!(bench.0.fattest(), (1, 700));
    }

    #[test]
    fn the_fattest_of_many_is_found_whatever_came_and_went() {
        let mut bench = Bench::new(150);
        let mut step = 1_u64;
        for _ in 0..3000 {
            step = step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let queue = (step >> 33) as usize % 150;
            if step >> 63 == 0 {
                bench.push(queue, 64 + (step >> 40) as u32 % 1437);
            } else {
                bench.pop(queue);
            }
            let most = *bench.0.backlogs.iter().max().unwrap();
            let first = bench.0.backlogs.iter().position(|&bytes| bytes == most).unwrap();
            assert_eq!(bench.0.fattest(), (first, most));
        }
    }
}
