//! CAKE, common applications kept enhanced (Linux `cake`; tc-cake(8)), with its `besteffort` and
//! `flows`: each flow has a queue of its own, found by a set-associative hash, under COBALT, served by
//! deficit round robin.
//!
//! Its shaper, tc's `bandwidth`, is that of the link: `Refill::Deficit`.

mod flow_queues;
mod lists;
mod params;

pub use params::CakeParams;

use super::cobalt::control_law::{ControlLaw, Setpoint};
use super::fq_codel::store::Store;
use super::packet_fifo::Waiting;
use super::packets::{PacketList, Packets};
use super::{DequeueDiscipline, Limit};
use crate::rng::RandomStream;
use crate::time::Picos;
use flow_queues::FlowQueues;
use lists::{List, Lists};

/// Bytes of a queue that flows are hashed to, with its backlog in the store and its tag.
pub(crate) const BUCKET_BYTES: usize = size_of::<FlowQueue>() + size_of::<u64>() + size_of::<u32>();

/// CAKE with one tin.
#[derive(Clone, Debug)]
pub struct Cake {
    limit: usize,
    memory_limit: u64,
    setpoint: Setpoint,
    /// Bytes that a queue may send in its turn.
    quantum: i64,
    queues: Box<[FlowQueue]>,
    flow_queues: FlowQueues,
    lists: Lists,
    store: Store,
    random: RandomStream,
}

/// One queue, but for its packets.
#[derive(Clone, Copy, Debug, Default)]
struct FlowQueue {
    law: ControlLaw,
    list: PacketList,
    /// Bytes that it may still send in its turn.
    deficit: i64,
    packets: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing is known of it.
    #[default]
    Idle,
    /// It is new or old: it has its turns.
    Served,
    /// It is empty, but its law has not come to rest.
    Decaying,
}

impl DequeueDiscipline for Cake {
    fn enqueue(&mut self, now: Picos, packet: u32, packets: &mut Packets) {
        let queues = &self.queues;
        let is_taken = |queue: usize| queues[queue].state != State::Idle;
        let queue = self.flow_queues.place(packets[packet].flow, is_taken);
        let entry = &mut self.queues[queue];
        self.store.push(queue, &mut entry.list, packet, packets);
        entry.packets += 1;
        if entry.state != State::Served {
            entry.deficit = self.quantum;
            self.lists.move_to(queue, List::New);
            entry.state = State::Served;
        }
        while self.is_too_full(packets.len()) {
            self.drop_from_fattest(now, packets);
        }
    }

    fn dequeue(&mut self, now: Picos, packets: &mut Packets) -> Option<(u32, bool)> {
        // One empty queue comes nearer to rest with each packet.
        let mut decays = true;
        while !packets.is_empty() {
            let first = self.lists.first(if decays { List::Decaying } else { List::New });
            decays = false;
            let queue = first.or_else(|| self.next_queue())?;
            if self.queues[queue].deficit <= 0 {
                self.queues[queue].deficit += self.quantum;
                self.lists.move_to(queue, List::Old);
            } else if let Some((packet, marked)) = self.send_from(now, queue, packets) {
                self.queues[queue].deficit -= i64::from(packet.bytes);
                return Some((packet.number, marked));
            } else {
                self.retire(now, queue);
            }
        }
        None
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn capacity(&self) -> usize {
        self.limit
    }

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit as u64)
    }
}

impl Cake {
    fn next_queue(&self) -> Option<usize> {
        [List::New, List::Old, List::Decaying].into_iter().find_map(|list| self.lists.first(list))
    }

    /// The first packet of a queue that is not lost. The last of a queue never is.
    fn send_from(
        &mut self,
        now: Picos,
        queue: usize,
        packets: &mut Packets,
    ) -> Option<(Waiting, bool)> {
        while let Some(packet) = self.pop(queue, packets) {
            let entry = &mut self.queues[queue];
            let waits = &packets[packet.number];
            let signal = entry.law.judge(now, &self.setpoint, waits, &mut self.random);
            if signal.drops && entry.packets > 0 {
                packets.drop(packet.number);
                continue;
            }
            return Some((packet, signal.marks));
        }
        None
    }

    fn pop(&mut self, queue: usize, packets: &Packets) -> Option<Waiting> {
        let entry = &mut self.queues[queue];
        let packet = self.store.pop(queue, &mut entry.list, packets)?;
        entry.packets -= 1;
        self.flow_queues.leaves(packets[packet.number].flow);
        Some(packet)
    }

    /// An empty queue is forgotten once its law has come to rest.
    fn retire(&mut self, now: Picos, queue: usize) {
        let entry = &mut self.queues[queue];
        entry.law.ran_empty(now, &self.setpoint);
        if entry.law.is_at_rest(now) {
            entry.state = State::Idle;
            self.lists.remove(queue);
        } else {
            entry.state = State::Decaying;
            self.lists.move_to(queue, List::Decaying);
        }
    }

    fn is_too_full(&self, packets: usize) -> bool {
        packets > self.limit || self.store.memory(packets) > self.memory_limit
    }

    /// The oldest packet of the queue of most bytes is lost, and BLUE hears of it.
    #[cold]
    fn drop_from_fattest(&mut self, now: Picos, packets: &mut Packets) {
        let (queue, _) = self.store.fattest();
        self.queues[queue].law.overflowed(now, &self.setpoint);
        self.pop(queue, packets).into_iter().for_each(|oldest| packets.drop(oldest.number));
    }
}

#[cfg(test)]
mod tests;
