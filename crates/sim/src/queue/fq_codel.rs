//! FQ-CoDel (RFC 8290; Linux `fq_codel`): flows hashed to queues, each under CoDel's law, served
//! by deficit round robin, new queues first.

mod drr_list;
mod params;
pub(super) mod store;

pub use params::FqCodelParams;

use super::codel::control_law::{ControlLaw, Setpoint};
use super::packet_fifo::Waiting;
use super::packets::{PacketList, Packets};
use super::{DequeueDiscipline, Limit};
use crate::time::Picos;
use drr_list::{DrrList, NONE};
use store::{Slot, Store};

/// Bytes of a queue that flows are hashed to, with its backlog in the store.
pub(crate) const BUCKET_BYTES: usize = size_of::<FlowQueue>() + size_of::<u64>();
/// Bytes of what a queue keeps of each flow of the run.
pub(crate) const FLOW_BYTES: usize = size_of::<u32>();

/// FQ-CoDel: CoDel on each of many flow queues, under deficit round robin.
#[derive(Clone, Debug)]
pub struct FqCodel {
    params: FqCodelParams,
    setpoint: Setpoint,
    perturbation: u64,
    /// By flow, its queue; `NONE` where it has not been asked for.
    known: Vec<u32>,
    queues: Vec<FlowQueue>,
    store: Store,
    new: DrrList,
    old: DrrList,
}

/// What a flow queue is but for its packets, in one line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct FlowQueue {
    law: ControlLaw,
    list: PacketList,
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// The queue that follows it in the list that holds it.
    next: u32,
    /// Whether it is in a list.
    listed: bool,
}

impl Default for FlowQueue {
    fn default() -> Self {
        Self {
            law: ControlLaw::default(),
            list: PacketList::EMPTY,
            deficit: 0,
            next: NONE,
            listed: false,
        }
    }
}

impl DequeueDiscipline for FqCodel {
    #[inline]
    fn enqueue(&mut self, _now: Picos, packet: u32, packets: &mut Packets) {
        let queue = self.queue_of_known(packets[packet].flow);
        let flow = &mut self.queues[queue];
        self.store.push(queue, &mut flow.list, packet, packets);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = i64::from(self.params.quantum);
            self.new.push(queue as u32, &mut self.queues);
        }
        let full = packets.len() > self.params.limit as usize;
        if full || self.store.memory(packets.len()) > self.params.memory_limit {
            self.drop_overflow(packets);
        }
    }

    /// RFC 8290, section 4.2.
    #[inline]
    fn dequeue(&mut self, now: Picos, packets: &mut Packets) -> Option<(u32, bool)> {
        loop {
            let fresh = !self.new.is_empty();
            let queue = if fresh { self.new.first() } else { self.old.first() } as usize;
            let FlowQueue { law, list, deficit, next, .. } = self.queues.get_mut(queue)?;
            if *deficit <= 0 {
                *deficit += i64::from(self.params.quantum);
                let next = std::mem::replace(next, NONE);
                self.retire(queue, next, fresh);
                continue;
            }
            let slot = Slot { store: &mut self.store, queue, list };
            let sent = law.dequeue(now, &self.setpoint, slot, packets);
            if let Some((Waiting { bytes, number, .. }, marked)) = sent {
                *deficit -= i64::from(bytes);
                return Some((number, marked));
            }
            let next = std::mem::replace(next, NONE);
            // A new queue that ran empty waits a round among the old ones: else its flow could
            // send one packet at a time and always come first.
            if fresh && !self.old.is_empty() {
                self.retire(queue, next, true);
            } else {
                self.begin_at(next, fresh);
                self.queues[queue].listed = false;
            }
        }
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
    /// The queue whose turn it was leaves its list; `next` followed it.
    #[inline(always)]
    fn begin_at(&mut self, next: u32, fresh: bool) {
        if fresh {
            self.new.begin_at(next);
        } else {
            self.old.begin_at(next);
        }
    }

    /// The queue whose turn it was, `queue`, goes to the end of the old ones; `next` followed it.
    #[inline(always)]
    fn retire(&mut self, queue: usize, next: u32, fresh: bool) {
        self.begin_at(next, fresh);
        self.old.push(queue as u32, &mut self.queues);
    }

    /// The buffer is full: the fattest queue loses half of its bytes from the head, at most
    /// `drop_batch` packets, and its law counts them (RFC 8290, section 4.1; Linux).
    #[cold]
    fn drop_overflow(&mut self, packets: &mut Packets) {
        let (queue, backlog) = self.store.fattest();
        let mut dropped_bytes = 0;
        for _ in 0..self.params.drop_batch {
            let FlowQueue { law, list, .. } = &mut self.queues[queue];
            let Some(packet) = self.store.pop(queue, list, packets) else { break };
            dropped_bytes += u64::from(packet.bytes);
            law.count = law.count.wrapping_add(1);
            packets.drop(packet.number);
            if dropped_bytes >= backlog / 2 {
                break;
            }
        }
    }

    /// `queue_of`, worked out once a flow.
    #[inline(always)]
    fn queue_of_known(&mut self, flow: u32) -> usize {
        match self.known.get(flow as usize) {
            Some(&queue) if queue != NONE => queue as usize,
            _ => self.learn(flow),
        }
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, flow: u32) -> usize {
        let queue = self.queue_of(flow);
        if self.known.len() <= flow as usize {
            self.known.resize(flow as usize + 1, NONE);
        }
        self.known[flow as usize] = queue as u32;
        queue
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
