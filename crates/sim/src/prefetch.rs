//! Looks a little ahead in the event queue: calling what the events to come will touch into the
//! cache, while others are handled, hides the wait for it.

use crate::event_key::{HOP, decode};
use crate::events::{Event, EventKey};
use crate::flow::Flow;
use crate::network::Network;
use crate::packet::Payload;
use crate::tcp::scoreboard::Scoreboard;
use crate::time::Picos;

/// How far ahead it looks, in slots of the wheel: some thirty events, between the bounds.
const START: u64 = 120;
const MOST: u64 = 4 * START;
/// Calls between that for a slot, that for the flow of its first event, that for its scoreboard, and
/// that for what lies in there: each says where the next is. A packet that reaches a further queue has
/// one more, for what its link counts.
const STEPS: usize = 8;
const SEEN: usize = 4 * STEPS;
/// Flows of fewer bytes together stay in the core's cache by themselves.
const LARGE: usize = 1 << 20;

/// How far ahead the event loop looks.
pub(crate) trait Prefetcher {
    /// To be called once an event, before that is handled; `next_event_key` is whose event follows, or
    /// anyone's.
    fn prefetch(
        &mut self,
        event: &Event,
        next_event_key: EventKey,
        network: &Network<'_>,
        flows: &[Flow],
    );
}

/// For few flows, which only the first level of the cache does not hold: looks at the next event. `SACK` says
/// whether any flow has a scoreboard.
pub(crate) struct NextEventPrefetch<const SACK: bool>;

impl<const SACK: bool> Prefetcher for NextEventPrefetch<SACK> {
    #[inline(always)]
    fn prefetch(&mut self, _: &Event, next_event_key: EventKey, _: &Network<'_>, flows: &[Flow]) {
        if let Some(flow) = flows.get(decode(next_event_key).0) {
            flow.prefetch_near::<SACK>();
        }
    }
}

/// For many flows, which lie in memory; `HOPS` says whether packets reach further queues.
pub(crate) struct DeepPrefetch<const HOPS: bool> {
    /// The slot after that called for last.
    slot: u64,
    /// The places in the wheel of the last slots called for.
    seen: [u32; SEEN],
    next_seen: usize,
}

impl<const HOPS: bool> DeepPrefetch<HOPS> {
    /// `None` where there are too few flows for it to pay, or they are of the other kind.
    pub(crate) fn of(flows: &[Flow]) -> Option<Self> {
        let pays = size_of_val(flows) > LARGE && any_hops(flows) == HOPS;
        pays.then_some(Self { slot: 0, seen: [0; SEEN], next_seen: 0 })
    }
}

impl<const HOPS: bool> Prefetcher for DeepPrefetch<HOPS> {
    /// It looks one slot further, and not as far as some bound: how many slots that takes would be
    /// a random number, and the processor guesses those wrong. It has not seen what follows in the
    /// slot of the event at hand.
    #[inline(always)]
    fn prefetch(
        &mut self,
        event: &Event,
        next_event_key: EventKey,
        network: &Network<'_>,
        flows: &[Flow],
    ) {
        let wheel = &network.wheel;
        if event.is_followed() {
            prefetch_flow::<HOPS>(next_event_key, flows);
        }
        let now = wheel.cursor();
        if self.slot <= now || self.slot > now + MOST {
            self.slot = now + START;
        }
        let (slot, first) = wheel.look_ahead(self.slot);
        self.slot = slot.saturating_add(1);
        self.next_seen = (self.next_seen + 1) % SEEN;
        self.seen[self.next_seen] = first;
        let before = |calls: usize| self.seen[(self.next_seen + SEEN - calls) % SEEN];
        wheel.prefetch_next(before(STEPS));
        prefetch_flow::<HOPS>(wheel.key(before(STEPS)), flows);
        for (calls, step) in [(2 * STEPS, Step::Second), (3 * STEPS, Step::Third)] {
            prefetch_step::<HOPS>(step, before(calls), network, flows);
        }
        if HOPS {
            prefetch_step::<HOPS>(Step::Fourth, before(SEEN - 1), network, flows);
        }
        let (index, kind) = decode(event.key);
        if !(HOPS && kind == HOP)
            && let Some(flow) = flows.get(index)
        {
            network.prefetch_ack_slot(event.at, flow);
        }
    }
}

/// Some packet goes on from its first queue to another, forward or back.
fn any_hops(flows: &[Flow]) -> bool {
    flows.iter().any(|flow| !flow.route.has_one_queue())
}

/// The calls after that for the flow of an event.
#[derive(Clone, Copy)]
enum Step {
    Second,
    Third,
    Fourth,
}

#[inline]
fn prefetch_flow<const HOPS: bool>(key: EventKey, flows: &[Flow]) {
    let (index, kind) = decode(key);
    match flows.get(index) {
        Some(flow) if HOPS && kind == HOP => flow.prefetch_hop_state(),
        Some(flow) => flow.prefetch(),
        None => {}
    }
}

/// A later call for the event at a place of the wheel.
#[inline(always)]
fn prefetch_step<const HOPS: bool>(step: Step, place: u32, network: &Network<'_>, flows: &[Flow]) {
    let wheel = &network.wheel;
    let (index, kind) = decode(wheel.key(place));
    let Some(flow) = flows.get(index) else { return };
    if HOPS && kind == HOP {
        prefetch_hop(step, flow, (wheel.at(place), wheel.payload(place)), network);
    } else if let Some(board) = flow.sender.scoreboard.as_deref() {
        prefetch_board(step, board);
    }
}

#[inline]
fn prefetch_board(step: Step, board: &Scoreboard) {
    match step {
        Step::Second => board.prefetch(),
        Step::Third => board.prefetch_segments(),
        Step::Fourth => {}
    }
}

/// What a packet that reaches a further queue touches.
#[inline]
fn prefetch_hop(step: Step, flow: &Flow, (at, payload): (Picos, Payload), network: &Network<'_>) {
    if matches!(step, Step::Second) {
        return network.paths.prefetch(flow.route.path, payload.hop());
    }
    let hop = network.paths.hop(flow.route.path, payload.hop());
    let link = &network.links[hop.at.link as usize];
    match step {
        Step::Fourth => link.prefetch_counts(at),
        _ => link.prefetch(),
    }
}
