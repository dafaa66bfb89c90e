//! Which queue a flow has: a hash into sets of eight, as in a processor's cache (tc-cake(8)).

use crate::queue::fq_codel::mix;
use std::collections::HashMap;

/// Queues, as in Linux (CAKE_QUEUES).
pub(super) const QUEUES: usize = 1024;
/// Queues of a set (CAKE_SET_WAYS).
const WAYS: usize = 8;

/// The flow that each queue is reserved for.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues {
    perturbation: u64,
    /// Hash of the flow that a queue was last given to.
    tags: Box<[u32]>,
    /// Flows that found their set full and wait in another's queue, and how many packets each has
    /// there: until these have left, the flow has no other, or its packets would overtake each other.
    guests: HashMap<u32, (u16, u32)>,
}

impl FlowQueues {
    pub fn new(perturbation: u64) -> Self {
        Self { perturbation, tags: vec![0; QUEUES].into(), guests: HashMap::new() }
    }

    /// The queue that a packet joins: the one that its flow has, else one of its set that is free, else
    /// that of another flow.
    #[inline]
    pub fn place(&mut self, flow: u32, is_taken: impl Fn(usize) -> bool) -> usize {
        let hash = (mix(u64::from(flow) ^ self.perturbation) >> 32) as u32;
        let direct = hash as usize % QUEUES;
        if self.tags[direct] == hash {
            return direct;
        }
        self.search(flow, hash, direct, is_taken)
    }

    fn search(
        &mut self,
        flow: u32,
        hash: u32,
        direct: usize,
        is_taken: impl Fn(usize) -> bool,
    ) -> usize {
        if let Some((queue, packets)) = self.guests.get_mut(&flow) {
            *packets += 1;
            return usize::from(*queue);
        }
        let set = direct - direct % WAYS;
        let mut ways = (0..WAYS).map(|way| set + (direct + way) % WAYS);
        let reserved = ways.clone().find(|&queue| self.tags[queue] == hash);
        let Some(queue) = reserved.or_else(|| ways.find(|&queue| !is_taken(queue))) else {
            self.guests.insert(flow, (direct as u16, 1));
            return direct;
        };
        self.tags[queue] = hash;
        queue
    }

    /// A packet of this flow has left its queue.
    #[inline]
    pub fn leaves(&mut self, flow: u32) {
        if self.guests.is_empty() {
            return;
        }
        if let Some((_, packets)) = self.guests.get_mut(&flow) {
            *packets -= 1;
            if *packets == 0 {
                self.guests.remove(&flow);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// How many flows of these share a queue, where all have packets.
    fn sharing(flows: u32, seed: u64) -> usize {
        let mut queues = FlowQueues::new(seed);
        let mut taken = BTreeSet::new();
        let mut shared = 0;
        for flow in 0..flows {
            let queue = queues.place(flow, |queue| taken.contains(&queue));
            shared += usize::from(!taken.insert(queue));
        }
        shared
    }

    #[test]
    fn eight_ways_leave_hardly_a_collision_at_half_the_queues() {
        // Sets of 8 that hold 4 flows on average: more than 8 come to 2.1 % of the sets (Poisson), which
        // then share 1.5 flows each, 4.3 of 512 in all. A plain hash would make 512 - 1024 (1 - e^-0.5) = 109.
        let shared: usize = (0..20).map(|seed| sharing(512, seed << 32)).sum();
        assert!((40..=160).contains(&shared), "{shared}");
        assert_eq!(sharing(8, 1), 0);
        // Sets of 8 that 16 flows hash to on average: hardly a queue stays free.
        assert!((1024..1034).contains(&sharing(2048, 3)));
    }

    #[test]
    fn a_flow_keeps_its_queue_while_another_hashes_to_it() {
        let mut queues = FlowQueues::new(7);
        let first = queues.place(1, |_| false);
        assert_eq!(queues.place(1, |_| true), first);
        let guest = queues.place(2, |_| true);
        assert_eq!(queues.place(2, |_| false), guest, "its packets wait there");
        queues.leaves(2);
        queues.leaves(2);
        queues.leaves(1);
        assert!(queues.guests.is_empty());
        assert_eq!(queues.place(1, |queue| queue == first), first);
    }
}
