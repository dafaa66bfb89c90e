//! What flows share: links and the event queue; and how a packet moves between them.

use crate::config::{Config, LinkSpec, Source};
use crate::events::{Node, Wheel};
use crate::flow::Flow;
use crate::link::{Link, Passage, Verdict};
use crate::lost_acks::{LostAcks, NONE};
use crate::parcel::{Load, Parcel};
use crate::paths::Paths;
use crate::probe::histogram::Histogram;
use crate::queue::spec::Wire;
use crate::shaking::Shaking;
use crate::tcp::profile::Profile;
use crate::tcp::receiver::{AckPacket, SackRun};
use crate::time::{NEVER, Picos, SECOND, serialization};
use crate::underway::Underway;
use crate::way::{Any, HOMES, Way};

/// Kinds of a flow's events: an ACK reaches the sender, one for each `Way`; its timer, its access
/// link, its pacer, an ACK that the receiver holds back, and a packet at a queue of its route, but not
/// a segment at the first. After the flows come the links, whose events are all of one kind.
pub(crate) const TIMER: u32 = HOMES;
pub(crate) const ACCESS: u32 = TIMER + 1;
pub(crate) const PACE: u32 = ACCESS + 1;
pub(crate) const HELD: u32 = PACE + 1;
pub(crate) const HOP: u32 = HELD + 1;
const KIND_BITS: u32 = 5;

/// The flow, or the link after all flows, and the kind of an event.
#[inline(always)]
pub(crate) fn place(node: Node) -> (usize, u32) {
    ((node >> KIND_BITS) as usize, node & ((1 << KIND_BITS) - 1))
}

/// What `place` takes apart.
#[inline(always)]
pub(crate) fn node(index: u32, kind: u32) -> Node {
    (index << KIND_BITS) + kind
}

/// A data packet leaves a queue's wire.
#[derive(Clone, Copy)]
pub(crate) struct Transit {
    pub(crate) at: Picos,
    pub(crate) load: Load,
}

pub(crate) struct Network<'a> {
    pub(crate) config: &'a Config,
    pub(crate) links: Vec<Link>,
    pub(crate) paths: Paths,
    /// By flow, its traffic class.
    pub(crate) classes: Vec<u16>,
    pub(crate) wheel: Wheel,
    /// Round-trip times that senders measured, by class.
    pub(crate) rtt: Vec<Histogram>,
    /// When flows end, and how long they took, by class.
    pub(crate) completions: Vec<Vec<(Picos, Picos)>>,
    /// What receivers have counted before it has come.
    pub(crate) underway: Underway,
    /// By flow, data packets of which it is known when they leave, or have left, the last forward
    /// queue. Not in the flow, whose lines of the cache are full.
    pub(crate) passed: Vec<u64>,
    /// When the next reading is taken.
    pub(crate) next_reading: Picos,
    /// Packets that a queue lost while it did something else.
    pub(crate) lost: Vec<Parcel>,
    /// What ACKs carry of others that were lost.
    pub(crate) lost_acks: LostAcks,
    /// When each link is served next; `NEVER` where it does not wait for that.
    serves_at: Vec<Picos>,
    /// What holds segments up on their way to the receivers.
    pub(crate) shaking: Option<Shaking>,
}

impl<'a> Network<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        let classes = config.profiles.len();
        let sizes = config.uniform_sizes();
        let paths = Paths::of(config);
        let any = config.wire(1.0);
        let make = |(((spec, size), classes), seed): (((&LinkSpec, _), &Vec<u16>), u64)| {
            let wire = Wire { rate_bps: spec.rate_bps, ..any };
            Link::new(spec, &wire, config.seed ^ seed, classes.len(), size)
        };
        let mut links: Vec<_> =
            config.links.iter().zip(sizes).zip(&paths.classes).zip(0..).map(make).collect();
        if let Some(first) = links.first_mut() {
            first.meter.tell_classes_apart();
        }
        Self {
            config,
            links,
            paths,
            classes: config.flows.iter().map(|flow| flow.class).collect(),
            wheel: Wheel::new(grain(config), horizon(config)),
            rtt: vec![Histogram::default(); classes],
            completions: vec![Vec::new(); classes],
            underway: Underway { next_cut: config.warmup, deliveries: Vec::new() },
            passed: vec![0; config.flows.len()],
            next_reading: 0,
            lost: Vec::new(),
            lost_acks: LostAcks::default(),
            serves_at: vec![NEVER; config.links.len()],
            shaking: Shaking::of(config),
        }
    }

    /// Schedules an event of `flow`.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, flow: &Flow, kind: u32, at: Picos, load: Load) {
        self.wheel.insert(at, node(flow.index(), kind), load);
    }

    /// Calls into the cache where the ACK of a packet that enters its link now will be put.
    #[inline(always)]
    pub(crate) fn foresee(&self, now: Picos, flow: &Flow) {
        let departs = self.links[flow.first_link as usize].expects(now);
        self.wheel.prefetch_slot(departs + flow.turn_delay);
    }

    /// An ACK reaches the sender, and what it lets go reaches the first queue.
    #[inline(always)]
    pub(crate) fn on_home<W: Way>(&mut self, now: Picos, flow: &mut Flow, load: Load) {
        debug_assert!(load.is_ack());
        let ack = load.acknowledges();
        if W::SIMPLE || (load.connection() == flow.connection && ack.lost_acks == NONE) {
            self.on_ack::<W>(now, flow, ack, &[]);
        } else {
            self.on_loaded_ack::<W>(now, flow, load);
        }
        if W::SACK {
            self.ask_without_ack(now, flow);
        }
    }

    /// The same for an ACK of an earlier connection, or one that repeats what lost ones reported.
    #[cold]
    #[inline(never)]
    fn on_loaded_ack<W: Way>(&mut self, now: Picos, flow: &mut Flow, load: Load) {
        let ack = load.acknowledges();
        let lost = self.lost_acks.take(ack.lost_acks);
        if load.connection() == flow.connection {
            self.on_ack::<W>(now, flow, ack, &lost);
        }
    }

    #[inline(always)]
    fn on_ack<W: Way>(&mut self, now: Picos, flow: &mut Flow, ack: AckPacket, lost: &[SackRun]) {
        let profile = self.profile::<W>(flow);
        if let Some(rtt) = flow.sender.on_ack::<W>(now, ack, lost, profile) {
            let class = self.class(flow);
            self.rtt[class].record(rtt);
        }
        self.send::<W>(now, flow, profile);
    }

    /// The flow starts, or its retransmission timer may have expired. The timer's event is moved
    /// only when it fires: an ACK that postpones it costs nothing.
    pub(crate) fn on_timer<W: Way>(&mut self, now: Picos, flow: &mut Flow) {
        if flow.wakes_at != now {
            return;
        }
        flow.wakes_at = NEVER;
        if !W::SIMPLE && flow.play.is_some() && self.plays(now, flow) {
            return;
        }
        let begins = flow.sender.snd_max == 0;
        if !begins && flow.sender.timer_at > now {
            if flow.sender.timer_at != NEVER && !flow.hears_before(now, flow.sender.timer_at) {
                self.wake_at(flow, flow.sender.timer_at);
            }
            return;
        }
        if !begins {
            flow.sender.on_timer(now, self.profile::<W>(flow));
        }
        self.transmit::<W>(now, flow);
    }

    /// A flow's traffic class.
    #[inline(always)]
    pub(crate) fn class(&self, flow: &Flow) -> usize {
        self.classes[flow.index() as usize] as usize
    }

    /// What kind of TCP a flow is.
    #[inline(always)]
    pub(crate) fn profile<W: Way>(&self, flow: &Flow) -> &'a Profile {
        W::PROFILE.unwrap_or_else(|| &self.config.profiles[self.class(flow)])
    }

    /// Makes sure that the flow's timer fires no later than `at`.
    #[inline(never)]
    pub(crate) fn wake_at(&mut self, flow: &mut Flow, at: Picos) {
        if at < flow.wakes_at {
            flow.wakes_at = at;
            // Before an ACK of the same instant, whenever it was that either was scheduled.
            self.wheel.insert_first(at, node(flow.index(), TIMER), Load::NONE);
        }
    }

    /// `enter` for packets that need an event of their own.
    #[inline(never)]
    pub(crate) fn enter_late(&mut self, now: Picos, flow: &mut Flow, seq: u64) {
        self.enter::<Any>(now, flow, flow.segment(seq), self.profile::<Any>(flow));
    }

    /// A data packet reaches the first queue of its route.
    #[inline(always)]
    pub(crate) fn enter<W: Way>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        segment: Load,
        profile: &Profile,
    ) {
        if W::SACK {
            self.enter_apart::<W>(now, flow, segment);
        } else {
            self.enter_here::<W>(now, flow, segment, profile);
        }
    }

    /// `enter` with code that all who call it share: of a flow with SACK there is much.
    #[inline(never)]
    fn enter_apart<W: Way>(&mut self, now: Picos, flow: &mut Flow, segment: Load) {
        self.enter_here::<W>(now, flow, segment, self.profile::<W>(flow));
    }

    #[inline(always)]
    fn enter_here<W: Way>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        segment: Load,
        profile: &Profile,
    ) {
        match self.links[flow.first_link as usize].pass(now, flow.first_class) {
            Passage::Departs(at) if W::SIMPLE || flow.detour.is_none() => {
                self.receive::<W>(flow, Transit { at, load: segment }, profile);
            }
            Passage::Departs(at) => self.forward(flow, at, segment),
            Passage::Dropped => flow.drops += 1,
            Passage::Unknown => self.enter_slowly::<W>(now, flow, segment, profile),
        }
    }

    /// `enter` for packets that their link does not let pass at once.
    #[inline(never)]
    fn enter_slowly<W: Way>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        segment: Load,
        profile: &Profile,
    ) {
        let profile = W::profile(profile);
        let link = flow.first_link as usize;
        let parcel = self.parcel(flow, flow.first_class, segment);
        if self.links[link].pool.is_some() {
            return self.offer_shared(now, flow, link, parcel);
        }
        match self.links[link].offer(now, parcel.arriving(), || parcel, &mut self.lost) {
            Verdict::Departs(at, marked) if W::SIMPLE || flow.detour.is_none() => {
                self.receive::<W>(flow, Transit { at, load: segment.and_marked(marked) }, profile);
            }
            Verdict::Departs(at, marked) => self.forward(flow, at, segment.and_marked(marked)),
            Verdict::Dropped => flow.drops += 1,
            Verdict::Waits => self.await_service(now, link),
        }
    }

    /// A packet of a flow, at a link whose meter gives its class this number.
    #[inline]
    pub(crate) fn parcel(&self, flow: &Flow, class: u16, load: Load) -> Parcel {
        let bytes = if load.is_ack() {
            self.profile::<Any>(flow).ack_bytes
        } else {
            self.data_bytes(flow, load.seq())
        };
        Parcel { flow: flow.index(), bytes, class, load }
    }

    /// Size on the link of a flow's data packet.
    #[inline]
    pub(crate) fn data_bytes(&self, flow: &Flow, seq: u64) -> u32 {
        match &flow.play {
            Some(play) if matches!(play.source, Source::Packets(..)) => {
                self.config.packets[seq as usize].bytes
            }
            _ => flow.packet_bytes,
        }
    }

    #[cold]
    pub(crate) fn await_service(&mut self, now: Picos, link: usize) {
        let Some(at) = self.links[link].next_service().map(|at| at.max(now)) else { return };
        if at < self.serves_at[link] {
            self.serves_at[link] = at;
            let index = self.config.flows.len() + link;
            // Before a packet of the same instant arrives, as where departures are planned.
            self.wheel.insert_first(at, node(index as u32, 0), Load::NONE);
        }
    }

    /// A link can take the next packet off its queue.
    pub(crate) fn on_service(&mut self, now: Picos, link: usize, flows: &mut [Flow]) {
        if self.serves_at[link] != now {
            return;
        }
        self.serves_at[link] = NEVER;
        if let Some((parcel, at, marked)) = self.links[link].serve(now, &mut self.lost) {
            let flow = &mut flows[parcel.flow as usize];
            self.forward(flow, at, parcel.load.and_marked(marked));
        }
        self.await_service(now, link);
    }

    /// Settles with the flows whose packets a queue has lost while it did something else.
    #[inline]
    pub(crate) fn settle(&mut self, flows: &mut [Flow]) {
        if self.lost.is_empty() {
            return;
        }
        while let Some(parcel) = self.lost.pop() {
            self.lose(&mut flows[parcel.flow as usize], parcel.load);
        }
    }
}

/// Slots at most a quarter as wide as the time between two events of all links together, which is what
/// it takes a packet to pass each, or half where receivers delay their ACKs: few events share a slot.
fn grain(config: &Config) -> Picos {
    let bytes = config.flows.iter().map(|flow| flow.packet_bytes).min().unwrap_or(1500);
    let rate_bps = config.links.iter().map(|link| link.rate_bps).sum::<f64>().max(1.0);
    let delayed = config.profiles.iter().all(|profile| profile.delayed_ack.is_some());
    serialization(bytes, rate_bps) / if delayed { 2 } else { 4 }
}

/// Far enough for round trips. Timers lie beyond.
fn horizon(config: &Config) -> Picos {
    config.flows.iter().map(|flow| flow.rtt).max().unwrap_or(SECOND)
}
