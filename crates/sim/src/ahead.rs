//! Looks a little ahead in the event queue: with thousands of flows, what the events to come will
//! touch is not in the cache, and calling it there while others are handled hides the wait.

use crate::events::{Node, Wheel};
use crate::flow::Flow;

/// As far as it looks, in slots of the wheel: some ten events.
const SLOTS: u64 = 40;
/// Events between the call for a flow and the call for what the flow points to.
const STEPS: usize = 4;
/// Flows of fewer bytes together stay in the cache by themselves.
const LARGE: usize = 1 << 20;

pub(crate) struct Ahead {
    slot: u64,
    node_bits: u32,
    seen: [Node; STEPS],
    turn: usize,
}

impl Ahead {
    /// `None` where there are too few flows for it to pay.
    pub(crate) fn of(flows: &[Flow], node_bits: u32) -> Option<Self> {
        let large = size_of_val(flows) > LARGE;
        large.then_some(Self { slot: 0, node_bits, seen: [0; STEPS], turn: 0 })
    }

    /// To be called once an event.
    #[inline]
    pub(crate) fn look(&mut self, wheel: &Wheel, flows: &[Flow]) {
        while let Some((slot, node)) = wheel.look_ahead(self.slot, SLOTS) {
            self.slot = slot;
            wheel.prefetch(node);
            if let Some(flow) = flows.get((node >> self.node_bits) as usize) {
                flow.prefetch();
            }
            let before = std::mem::replace(&mut self.seen[self.turn], node);
            self.turn = (self.turn + 1) % STEPS;
            if let Some(flow) = flows.get((before >> self.node_bits) as usize) {
                flow.receiver.acks.prefetch();
            }
        }
    }
}
