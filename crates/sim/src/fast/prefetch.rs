//! Looks a little ahead in the event queue: calling what the events to come will touch into the
//! cache, while others are handled, hides the wait for it.

use crate::cc::Controller;
use crate::events::event_key::{HOP, decode};
use crate::events::{Event, EventKey, Wheel};
use crate::flow::Flow;
use crate::flow::flows::Flows;
use crate::network::Network;
use crate::packet::Payload;
use crate::paths::Then;
use crate::time::Picos;

/// Events between the call for what each step of `SortedPrefetch` finds and the event.
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

/// For many flows, or many packets on their way, whose events are sorted.
pub(crate) struct SortedPrefetch;

impl Prefetcher for SortedPrefetch {
    #[inline(always)]
    fn pop_before(&self, wheel: &mut Wheel, limit: Picos) -> Option<(Event, EventKey)> {
        wheel.pop_sorted_before(limit).map(|event| (event, event.key))
    }

    #[inline(always)]
    fn prefetch(&mut self, _: &Event, _: EventKey, network: &Network<'_>, flows: &Flows) {
        let upcoming = network.wheel.upcoming();
        prefetch_step(Step::First, upcoming.get(FIRST), network, flows);
        prefetch_step(Step::Second, upcoming.get(SECOND), network, flows);
        prefetch_step(Step::Third, upcoming.get(THIRD), network, flows);
        prefetch_step(Step::Fourth, upcoming.get(FOURTH), network, flows);
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

/// What an event to come touches.
#[inline(always)]
fn prefetch_step(step: Step, event: Option<&Event>, network: &Network<'_>, flows: &Flows) {
    let Some(event) = event else { return };
    let (index, kind) = decode(event.key);
    let Some(flow) = flows.get(index) else { return };
    if kind == HOP && !event.payload.is_ack() {
        prefetch_hop(step, flow, event, network);
    } else if kind == HOP {
        prefetch_ack_hop(step, flow, event, network);
    } else if matches!(step, Step::First) {
        flow.prefetch();
    } else {
        prefetch_board(step, flow, event.payload);
    }
}

/// What an ACK or a timer touches of what is known of the segments that are outstanding.
#[inline]
fn prefetch_board(step: Step, flow: &Flow, payload: Payload) {
    let Some(board) = flow.sender.scoreboard.as_deref() else { return };
    let reported = || {
        let last = if payload.is_ack() { payload.as_ack().sacked_last } else { 0 };
        last.wrapping_sub(flow.sender.snd_una as u32) as usize
    };
    match step {
        Step::Second => {
            board.prefetch();
            if payload.is_ack() {
                flow.sender.cc.prefetch();
            }
        }
        Step::Third => board.prefetch_segments(reported()),
        Step::Fourth => board.prefetch_rates(reported()),
        Step::First => {}
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
