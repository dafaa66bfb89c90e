//! FQ-CoDel (RFC 8290; Linux `fq_codel`): flows hashed to queues, each under CoDel's law, served
//! by deficit round robin, new queues first.

mod drr_list;
mod params;
pub(super) mod store;

pub use params::FqCodelParams;

use super::codel::control_law::{ControlLaw, Setpoint};
use super::{DequeueDiscipline, Limit, QueuedPacket};
use crate::time::Picos;
use drr_list::DrrList;
use store::{Slot, Store};

/// FQ-CoDel: CoDel on each of many flow queues, under deficit round robin.
#[derive(Clone, Debug)]
pub struct FqCodel {
    params: FqCodelParams,
    setpoint: Setpoint,
    perturbation: u64,
    queues: Vec<FlowQueue>,
    store: Store,
    new: DrrList,
    old: DrrList,
}

/// What a flow queue is but for its packets, in one line of the cache.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct FlowQueue {
    law: ControlLaw,
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// The queue that follows it in the list that holds it.
    next: u32,
    /// Whether one does.
    listed: bool,
}

impl DequeueDiscipline for FqCodel {
    #[inline]
    fn enqueue(
        &mut self,
        _now: Picos,
        packet: QueuedPacket,
        dropped: &mut impl FnMut(QueuedPacket),
    ) {
        let queue = self.queue_of(packet.flow);
        self.store.push(queue, packet);
        let flow = &mut self.queues[queue];
        if !flow.listed {
            flow.listed = true;
            flow.deficit = i64::from(self.params.quantum);
            self.new.push(queue as u32, &mut self.queues);
        }
        let full = self.store.packets() > self.params.limit as usize;
        if full || self.store.memory() > self.params.memory_limit {
            self.drop_overflow(dropped);
        }
    }

    /// RFC 8290, section 4.2.
    #[inline]
    fn dequeue(
        &mut self,
        now: Picos,
        dropped: &mut impl FnMut(QueuedPacket),
    ) -> Option<(QueuedPacket, bool)> {
        loop {
            let fresh = self.new.first().is_some();
            let queue = self.new.first().or(self.old.first())? as usize;
            let flow = &mut self.queues[queue];
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.params.quantum);
                self.retire(fresh);
                continue;
            }
            let mut slot = Slot { store: &mut self.store, queue };
            let sent = flow.law.dequeue(now, &self.setpoint, &mut slot, dropped);
            if let Some((packet, _)) = sent {
                flow.deficit -= i64::from(packet.bytes);
                return sent;
            }
            // A new queue that ran empty waits a round among the old ones: else its flow could
            // send one packet at a time and always come first.
            if fresh && self.old.first().is_some() {
                self.retire(true);
            } else {
                self.pop(fresh);
                self.queues[queue].listed = false;
            }
        }
    }

    fn packets(&self) -> usize {
        self.store.packets()
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn capacity(&self) -> usize {
        self.params.limit as usize
    }

    fn limit(&self) -> Limit {
        Limit::Packets(self.params.limit.into())
    }
}

impl FqCodel {
    fn pop(&mut self, fresh: bool) -> u32 {
        if fresh { self.new.pop(&self.queues) } else { self.old.pop(&self.queues) }
    }

    /// The queue whose turn it was goes to the end of the old ones.
    fn retire(&mut self, fresh: bool) {
        let queue = self.pop(fresh);
        self.old.push(queue, &mut self.queues);
    }

    /// The buffer is full: the fattest queue loses half of its bytes from the head, at most
    /// `drop_batch` packets, and its law counts them (RFC 8290, section 4.1; Linux).
    #[cold]
    fn drop_overflow(&mut self, dropped: &mut impl FnMut(QueuedPacket)) {
        let (queue, backlog) = self.store.fattest();
        let mut dropped_bytes = 0;
        for _ in 0..self.params.drop_batch {
            let Some(packet) = self.store.pop(queue) else { break };
            dropped_bytes += u64::from(packet.bytes);
            let law = &mut self.queues[queue].law;
            law.count = law.count.wrapping_add(1);
            dropped(packet);
            if dropped_bytes >= backlog / 2 {
                break;
            }
        }
    }

    /// Flows share a queue by chance alone; another perturbation throws them otherwise.
    #[inline]
    fn queue_of(&self, flow: u32) -> usize {
        let hash = mix(u64::from(flow) ^ self.perturbation) >> 32;
        ((hash * u64::from(self.params.flows)) >> 32) as usize
    }
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014): every bit moves every other.
#[inline]
pub(super) fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests;
