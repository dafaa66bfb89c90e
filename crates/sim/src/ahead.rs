//! Looks a little ahead in the event queue: with thousands of flows, what the events to come will
//! touch is not in the cache, and calling it there while others are handled hides the wait.

use crate::events::Wheel;
use crate::flow::Flow;
use crate::network::{HOME_PLAIN, place};

/// How far ahead it looks, in slots of the wheel: some twenty events, between the bounds.
const START: u64 = 80;
const MOST: u64 = 4 * START;
/// Events between the call for one and the call for its flow.
const STEPS: usize = 8;
/// Flows of fewer bytes together stay in the cache by themselves.
const LARGE: usize = 1 << 20;

pub(crate) struct Ahead {
    /// The slot after that of the event called for last.
    slot: u64,
    /// The last events called for, by their places in the wheel.
    seen: [u32; STEPS],
    turn: usize,
}

impl Ahead {
    /// `None` where there are too few flows for it to pay.
    pub(crate) fn of(flows: &[Flow]) -> Option<Self> {
        (size_of_val(flows) > LARGE).then_some(Self { slot: 0, seen: [0; STEPS], turn: 0 })
    }

    /// To be called once an event. It looks one event further, and not as far as some bound: how
    /// many events that takes would be a random number, and the processor guesses those wrong.
    #[inline]
    pub(crate) fn look(&mut self, wheel: &Wheel, flows: &[Flow]) {
        let now = wheel.cursor();
        if self.slot <= now || self.slot > now + MOST {
            self.slot = now + START;
        }
        let (slot, event) = wheel.look_ahead(self.slot);
        self.slot = slot.saturating_add(1);
        let before = std::mem::replace(&mut self.seen[self.turn], event);
        self.turn = (self.turn + 1) % STEPS;
        let (index, kind) = place(wheel.node(before));
        if let Some(flow) = flows.get(index) {
            flow.prefetch(kind == HOME_PLAIN);
        }
    }
}
