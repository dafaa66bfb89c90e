//! Several class queues before one wire: strict priority between levels, and deficit round robin
//! (Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM
//! Transactions on Networking 4(3), 1996) among the classes of one level.
//!
//! A class may have a rate that it is held to, and one that it gets before the others of its level share
//! what is left. Linux's `ets` is the case of one class a level and a last level of several. Each class queue has
//! a limit of its own, and drops at its tail or by RED.

mod class_queue;
mod params;
mod rate_meter;
mod round_robin;

pub use params::{ClassDiscipline, ClassParams, ClassesParams, MaxRate};

use super::packets::Packets;
use super::{DequeueDiscipline, EnqueueDecision, Limit, QueuedPacket};
use crate::time::{Picos, serialization};
use class_queue::ClassQueue;
use round_robin::RoundRobin;

/// The class queues of one wire.
#[derive(Clone, Debug)]
pub struct Classes {
    queues: Vec<ClassQueue>,
    /// The first is served while it has packets, then the next.
    levels: Vec<RoundRobin>,
    /// By traffic class, its queue; of those beyond the end the first.
    of_traffic: Vec<u16>,
    packets: usize,
    bytes: u64,
    capacity: usize,
    rate_bps: f64,
    last_sent: LastSent,
    /// A class may be held back though it has packets.
    has_max_rates: bool,
}

/// The last packet that was taken off.
#[derive(Clone, Copy, Debug, Default)]
struct LastSent {
    at: Picos,
    bytes: u32,
}

impl LastSent {
    /// When its transmission ends.
    fn ends(self, rate_bps: f64) -> Picos {
        self.at + serialization(self.bytes, rate_bps)
    }
}

impl DequeueDiscipline for Classes {
    #[inline]
    fn enqueue(&mut self, now: Picos, packet: u32, packets: &mut Packets) {
        let QueuedPacket { class, bytes, payload, .. } = packets[packet];
        match self.admit(now, class, bytes, payload.is_ecn_capable()) {
            Some((queue, marked)) => self.queues[queue].push(packet, bytes, marked),
            None => packets.drop(packet),
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Picos, _packets: &mut Packets) -> Option<(u32, bool)> {
        let queue = self.take_turn(now)?;
        self.queues[queue].pop()
    }

    fn ready_at(&self) -> Option<Picos> {
        let waiting = || self.queues.iter().filter(|queue| queue.packets() > 0);
        self.has_max_rates.then(|| waiting().map(ClassQueue::held_until).min().unwrap_or(0))
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn limit(&self) -> Limit {
        Limit::Packets(self.capacity as u64)
    }
}

impl Classes {
    /// The queue that a packet joins, and whether marked; none if it is lost.
    fn admit(&mut self, now: Picos, class: u16, bytes: u32, ecn: bool) -> Option<(usize, bool)> {
        let index = self.of_traffic.get(usize::from(class)).map_or(0, |&queue| queue.into());
        let wire_idle = self.packets == 0 && self.last_sent.ends(self.rate_bps) <= now;
        let queue = &mut self.queues[index];
        let marked = match queue.judge(now, bytes, ecn, wire_idle, self.rate_bps) {
            EnqueueDecision::Drop => return None,
            fate => fate == EnqueueDecision::Mark,
        };
        if queue.packets() == 0 {
            self.levels[queue.level].join(index);
        }
        queue.bytes += u64::from(bytes);
        self.packets += 1;
        self.bytes += u64::from(bytes);
        Some((index, marked))
    }

    /// The queue whose first packet is sent now.
    fn take_turn(&mut self, now: Picos) -> Option<usize> {
        let queues = &mut self.queues;
        let mut levels = self.levels.iter_mut();
        let (index, bytes) = levels.find_map(|level| level.take_turn(now, queues))?;
        self.last_sent = LastSent { at: now, bytes };
        self.queues[index].last_sent = self.last_sent;
        self.queues[index].bytes -= u64::from(bytes);
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
        Some(index)
    }
}

#[cfg(test)]
mod tests;
