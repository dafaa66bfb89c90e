//! Drop from the head: a packet that finds the queue full comes in, and the oldest that waits is lost
//! (Linux `pfifo_head_drop`).

use super::packet_fifo::PacketFifo;
use super::packets::Packets;
use super::parameters::{BadParameter, Parameters, Wire, within};
use super::{DequeueDiscipline, Limit};
use crate::time::Picos;

/// Parameters of `pfifo_head_drop`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadDropParams {
    /// `limit`, packets that may wait, from 1. Default 1000, the `txqueuelen` of an Ethernet device.
    pub limit: u32,
}

impl Default for HeadDropParams {
    fn default() -> Self {
        Self { limit: 1000 }
    }
}

impl Parameters for HeadDropParams {
    type Discipline = HeadDrop;

    fn check(&self) -> Result<(), BadParameter> {
        within("limit", self.limit >= 1, "at least 1 packet")
    }

    fn sized(self, packets: u32, _packet_bytes: u32) -> Self {
        Self { limit: packets }
    }

    fn build(&self, _wire: &Wire, _seed: u64) -> HeadDrop {
        HeadDrop { limit: self.limit as usize, queue: PacketFifo::new(self.limit) }
    }
}

/// First in, first out; the oldest gives way.
#[derive(Clone, Debug)]
pub struct HeadDrop {
    limit: usize,
    queue: PacketFifo,
}

impl DequeueDiscipline for HeadDrop {
    #[inline]
    fn enqueue(&mut self, _now: Picos, packet: u32, packets: &mut Packets) {
        if self.queue.len() >= self.limit {
            self.queue.pop().into_iter().for_each(|oldest| packets.drop(oldest.number));
        }
        self.queue.push(packet, packets);
    }

    #[inline]
    fn dequeue(&mut self, _now: Picos, _packets: &mut Packets) -> Option<(u32, bool)> {
        self.queue.pop().map(|packet| (packet.number, false))
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn capacity(&self) -> usize {
        self.limit
    }

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit as u64)
    }
}

#[cfg(test)]
mod tests {
    use crate::queue::registry::QueueSpec;
    use crate::queue::testbench::{self, Event, Log};
    use crate::time::MILLISECOND;

    /// A packet every 0.491 ms, of which the wire takes one a millisecond, through 10 places; the two
    /// never coincide.
    fn overload(discipline: &str) -> Log {
        let train = testbench::train(0, 1500, 0, 200 * MILLISECOND, MILLISECOND * 491 / 1000);
        let spec = QueueSpec::by_name(discipline).expect("listed").sized(10, 1500);
        testbench::run(&spec, &testbench::WIRE, 0, &testbench::merge(&[train]))
    }

    fn numbers(events: &[Event]) -> Vec<u64> {
        events.iter().map(|event| event.packet.payload.seq()).collect()
    }

    /// In steady overload as many are lost as by drop-tail, at the same instants. Those that wait move up
    /// by 1 / 0.491 places a millisecond, one sent and the rest lost: who is lost was 10 places behind, and
    /// has waited 4.91 ms, up to a packet's time. Drop-tail loses who has not waited.
    #[test]
    fn the_oldest_goes_at_the_instants_at_which_drop_tail_loses_the_newest() {
        let (head, tail) = (overload("pfifo_head_drop"), overload("pfifo"));
        let at = |log: &Log| log.dropped.iter().map(|event| event.at).collect::<Vec<_>>();
        assert_eq!(at(&head), at(&tail));
        assert!(head.dropped.len() > 150);
        for event in head.dropped.iter().skip(10) {
            let waited = event.at - event.packet.arrived;
            assert!(waited.abs_diff(MILLISECOND * 491 / 100) < MILLISECOND, "{waited}");
        }
        assert!(tail.dropped.iter().all(|event| event.at == event.packet.arrived));
    }

    /// A queue of 10 behind one on the wire, and an eleventh: drop-tail sends all but the last, this all
    /// but the second.
    #[test]
    fn a_burst_of_one_too_many_loses_its_second_packet() {
        let burst: Vec<_> = (0..12).flat_map(|_| testbench::train(0, 1500, 0, 1, 1)).collect();
        let packets = testbench::merge(&[burst]);
        let run = |name: &str| {
            let spec = QueueSpec::by_name(name).expect("listed").sized(10, 1500);
            testbench::run(&spec, &testbench::WIRE, 0, &packets)
        };
        let (head, tail) = (run("pfifo_head_drop"), run("pfifo"));
        assert_eq!((numbers(&head.dropped), numbers(&tail.dropped)), (vec![1], vec![11]));
        // The gap is on the wire after 1 ms instead of after 11.
        assert_eq!(head.sent[1].packet.payload.seq(), 2);
        assert_eq!(head.sent[1].at, MILLISECOND);
        assert_eq!(head.sent.len(), tail.sent.len());
    }
}
