//! Looks a little ahead in the event queue: calling what the events to come will touch into the
//! cache, while others are handled, hides the wait for it.

use crate::events::event_key::{HOP, decode};
use crate::events::{Event, EventKey, Wheel};
use crate::flow::Flow;
use crate::flow::flows::Flows;
use crate::network::Network;
use crate::paths::Then;
use crate::tcp::scoreboard::Scoreboard;
use crate::time::Picos;

/// How far ahead it looks, in slots of the wheel: some thirty events, between the bounds.
const START: u64 = 120;
const MOST: u64 = 4 * START;
/// Calls between that for a slot, that for the flow of its first event, that for its scoreboard, and
/// that for what lies in there: each says where the next is.
const STEPS: usize = 8;
const SEEN: usize = 4 * STEPS;

/// Events between the call for what each step of `NetworkPrefetch` finds and the event.
const FIRST: usize = 32;
const SECOND: usize = 24;
const THIRD: usize = 14;
const FOURTH: usize = 6;

/// How far ahead the event loop looks.
pub(crate) trait Prefetcher {
    /// `Wheel::pop_before` of the wheel that it is for.
    #[inline(always)]
    fn pop_before(&self, wheel: &mut Wheel, limit: Picos) -> Option<(Event, EventKey)> {
        wheel.pop_before(limit)
    }

    /// To be called once an event, before that is handled; `next_event_key` is whose event follows, or
    /// anyone's.
    fn prefetch(
        &mut self,
        event: &Event,
        next_event_key: EventKey,
        network: &Network<'_>,
        flows: &Flows,
    );
}

/// For few flows, which only the first level of the cache does not hold: looks at the next event. `SACK` says
/// whether any flow has a scoreboard.
pub(crate) struct NextEventPrefetch<const SACK: bool>;

impl<const SACK: bool> Prefetcher for NextEventPrefetch<SACK> {
    #[inline(always)]
    fn prefetch(&mut self, _: &Event, next_event_key: EventKey, _: &Network<'_>, flows: &Flows) {
        if let Some(flow) = flows.get(decode(next_event_key).0) {
            flow.prefetch_near::<SACK>();
        }
    }
}

/// For many flows over one queue each, which lie in memory.
#[derive(Default)]
pub(crate) struct DeepPrefetch {
    /// The slot after that called for last.
    slot: u64,
    /// The places in the wheel of the last slots called for.
    seen: [u32; SEEN],
    next_seen: usize,
}

impl Prefetcher for DeepPrefetch {
    /// It looks one slot further, and not as far as some bound: how many slots that takes would be
    /// a random number, and the processor guesses those wrong. It has not seen what follows in the
    /// slot of the event at hand.
    #[inline(always)]
    fn prefetch(
        &mut self,
        event: &Event,
        next_event_key: EventKey,
        network: &Network<'_>,
        flows: &Flows,
    ) {
        let wheel = &network.wheel;
        if event.is_followed() {
            prefetch_flow(next_event_key, flows);
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
        prefetch_flow(wheel.key(before(STEPS)), flows);
        for (calls, step) in [(2 * STEPS, Step::Second), (3 * STEPS, Step::Third)] {
            let flow = flows.get(decode(wheel.key(before(calls))).0);
            prefetch_board(step, flow.and_then(|flow| flow.sender.scoreboard.as_deref()));
        }
        if let Some(flow) = flows.get(decode(event.key).0) {
            network.prefetch_ack_slot(event.at, flow);
        }
    }
}

/// For many flows over several queues, whose events are sorted.
pub(crate) struct NetworkPrefetch;

impl Prefetcher for NetworkPrefetch {
    #[inline(always)]
    fn pop_before(&self, wheel: &mut Wheel, limit: Picos) -> Option<(Event, EventKey)> {
        wheel.pop_sorted_before(limit).map(|event| (event, event.key))
    }

    #[inline(always)]
    fn prefetch(&mut self, _: &Event, _: EventKey, network: &Network<'_>, flows: &Flows) {
        prefetch_step(Step::First, FIRST, network, flows);
        prefetch_step(Step::Second, SECOND, network, flows);
        prefetch_step(Step::Third, THIRD, network, flows);
        prefetch_step(Step::Fourth, FOURTH, network, flows);
    }
}

/// The calls for an event, each when that before it has brought what says where its own lies.
#[derive(Clone, Copy)]
enum Step {
    First,
    Second,
    Third,
    Fourth,
}

#[inline]
fn prefetch_flow(key: EventKey, flows: &Flows) {
    if let Some(flow) = flows.get(decode(key).0) {
        flow.prefetch();
    }
}

/// What the event that comes so many after the next touches.
#[inline(always)]
fn prefetch_step(step: Step, after: usize, network: &Network<'_>, flows: &Flows) {
    let Some(event) = network.wheel.upcoming(after) else { return };
    let (index, kind) = decode(event.key);
    let Some(flow) = flows.get(index) else { return };
    if kind == HOP && !event.payload.is_ack() {
        prefetch_hop(step, flow, event, network);
    } else if kind == HOP {
        prefetch_ack_hop(step, flow, event, network);
    } else if matches!(step, Step::First) {
        flow.prefetch();
    } else {
        prefetch_board(step, flow.sender.scoreboard.as_deref());
    }
}

#[inline]
fn prefetch_board(step: Step, board: Option<&Scoreboard>) {
    match (step, board) {
        (Step::Second, Some(board)) => board.prefetch(),
        (Step::Third, Some(board)) => board.prefetch_segments(),
        _ => {}
    }
}

/// What a segment that reaches a further queue touches: of its flow nothing, before the last one.
#[inline(always)]
fn prefetch_hop(step: Step, flow: &Flow, event: &Event, network: &Network<'_>) {
    if matches!(step, Step::First) {
        return network.paths.prefetch(event.payload.place());
    }
    let hop = network.paths.hop(event.payload.place());
    let link = &network.links[hop.at.link as usize];
    match step {
        Step::Second => {
            link.prefetch();
            if hop.then == Then::Receiver {
                flow.prefetch_receiver();
            }
        }
        Step::Third => link.prefetch_counts(event.at),
        _ => {}
    }
}

/// What an ACK that reaches a queue touches.
#[inline(never)]
fn prefetch_ack_hop(step: Step, flow: &Flow, event: &Event, network: &Network<'_>) {
    if matches!(step, Step::First) {
        return flow.prefetch_hop_state();
    }
    let place = flow.route.place_of(event.payload);
    match step {
        Step::Second => network.paths.prefetch(place),
        Step::Third => network.links[network.paths.hop(place).at.link as usize].prefetch(),
        _ => network.links[network.paths.hop(place).at.link as usize].prefetch_counts(event.at),
    }
}
