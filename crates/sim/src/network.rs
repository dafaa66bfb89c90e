//! What flows share: links and the event queue; and how a packet moves between them.

use crate::config::{Config, Source};
use crate::events::{Node, Wheel};
use crate::flow::Flow;
use crate::link::{Arriving, Link, Passage, Verdict};
use crate::parcel::{Load, Parcel};
use crate::probe::histogram::Histogram;
use crate::routing::tell_of_lost_acks;
use crate::shaking::Shaking;
use crate::tcp::profile::Profile;
use crate::tcp::receiver::AckPacket;
use crate::time::{NEVER, Picos, SECOND, serialization};
use crate::underway::Underway;
use crate::way::{Any, HOMES, Way};

/// Kinds of a flow's events: an ACK reaches the sender, one for each `Way`; its timer, its access
/// link, its pacer, an ACK that the receiver holds back, and one for each queue on its route but the
/// first. After the flows come the links, whose events are all of one kind.
pub(crate) const TIMER: u32 = HOMES;
pub(crate) const ACCESS: u32 = TIMER + 1;
pub(crate) const PACE: u32 = ACCESS + 1;
pub(crate) const HELD: u32 = PACE + 1;
pub(crate) const STAGES: u32 = HELD + 1;
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
    pub(crate) seq: u64,
    pub(crate) marked: bool,
}

pub(crate) struct Network<'a> {
    pub(crate) config: &'a Config,
    pub(crate) links: Vec<Link>,
    pub(crate) wheel: Wheel,
    /// Round-trip times that senders measured, by class.
    pub(crate) rtt: Vec<Histogram>,
    /// When flows end, and how long they took, by class.
    pub(crate) completions: Vec<Vec<(Picos, Picos)>>,
    /// What receivers have counted before it has come.
    pub(crate) underway: Underway,
    /// Data packets that reached, or are bound to reach, their receivers.
    pub(crate) packets: u64,
    /// When the next reading is taken.
    pub(crate) next_reading: Picos,
    /// Packets that a queue lost while it did something else.
    pub(crate) lost: Vec<Parcel>,
    /// When each link is served next; `NEVER` where it does not wait for that.
    serves_at: Vec<Picos>,
    /// What holds segments up on their way to the receivers.
    pub(crate) shaking: Option<Shaking>,
}

impl<'a> Network<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        let classes = config.profiles.len();
        let sizes = config.uniform_sizes();
        let make = |((spec, size), seed)| {
            Link::new(spec, &config.wire(spec), config.seed ^ seed, classes, size)
        };
        Self {
            config,
            links: config.links.iter().zip(sizes).zip(0..).map(make).collect(),
            wheel: Wheel::new(grain(config), horizon(config)),
            rtt: vec![Histogram::default(); classes],
            completions: vec![Vec::new(); classes],
            underway: Underway { next_cut: config.warmup, deliveries: Vec::new() },
            packets: 0,
            next_reading: 0,
            lost: Vec::new(),
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
        if W::SIMPLE || load.connection() == flow.connection {
            self.on_ack::<W>(now, flow, load.acknowledges());
        }
        if W::SACK {
            self.ask_without_ack(now, flow);
        }
    }

    #[inline(always)]
    fn on_ack<W: Way>(&mut self, now: Picos, flow: &mut Flow, ack: AckPacket) {
        if !W::SIMPLE && ack.also > 0 {
            tell_of_lost_acks(flow, ack.also);
        }
        let profile = self.profile::<W>(flow);
        if let Some(rtt) = flow.sender.on_ack::<W>(now, ack, profile) {
            self.rtt[flow.class as usize].record(rtt);
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

    /// What kind of TCP a flow is.
    #[inline(always)]
    pub(crate) fn profile<W: Way>(&self, flow: &Flow) -> &'a Profile {
        W::PROFILE.unwrap_or_else(|| &self.config.profiles[flow.class as usize])
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
        self.enter::<Any>(now, flow, seq, self.profile::<Any>(flow));
    }

    /// A data packet reaches the first queue of its route.
    #[inline(always)]
    pub(crate) fn enter<W: Way>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        seq: u64,
        profile: &Profile,
    ) {
        if W::SACK {
            self.enter_apart::<W>(now, flow, seq);
        } else {
            self.enter_here::<W>(now, flow, seq, profile);
        }
    }

    /// `enter` with code that all who call it share: of a flow with SACK there is much.
    #[inline(never)]
    fn enter_apart<W: Way>(&mut self, now: Picos, flow: &mut Flow, seq: u64) {
        self.enter_here::<W>(now, flow, seq, self.profile::<W>(flow));
    }

    #[inline(always)]
    fn enter_here<W: Way>(&mut self, now: Picos, flow: &mut Flow, seq: u64, profile: &Profile) {
        match self.links[flow.first_link as usize].pass(now, flow.class) {
            Passage::Departs(at) if W::SIMPLE || flow.detour.is_none() => {
                self.receive::<W>(flow, Transit { at, seq, marked: false }, profile);
            }
            Passage::Departs(at) => {
                let packet = Transit { at, seq, marked: false };
                self.pass_on(flow, 0, packet, flow.connection);
            }
            Passage::Dropped => flow.drops += 1,
            Passage::Unknown => self.enter_slowly::<W>(now, flow, seq, profile),
        }
    }

    /// `enter` for packets that their link does not let pass at once.
    #[inline(never)]
    fn enter_slowly<W: Way>(&mut self, now: Picos, flow: &mut Flow, seq: u64, profile: &Profile) {
        let profile = W::profile(profile);
        let link = flow.first_link as usize;
        let bytes = self.data_bytes(flow, seq);
        let arriving = Arriving { bytes, class: flow.class, ecn: flow.may_be_marked(seq) };
        let parcel = || flow.parcel(0, bytes, Load::data(seq, false, flow.connection));
        if self.links[link].pool.is_some() {
            return self.offer_shared(now, flow, link, parcel());
        }
        match self.links[link].offer(now, arriving, parcel, &mut self.lost) {
            Verdict::Departs(at, marked) if W::SIMPLE || flow.detour.is_none() => {
                self.receive::<W>(flow, Transit { at, seq, marked }, profile);
            }
            Verdict::Departs(at, marked) => {
                self.pass_on(flow, 0, Transit { at, seq, marked }, flow.connection);
            }
            Verdict::Dropped => flow.drops += 1,
            Verdict::Waits => self.await_service(now, link),
        }
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
            self.passed(&mut flows[parcel.flow as usize], parcel, at, marked);
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
            flows[parcel.flow as usize].lose(parcel);
        }
    }
}

/// Slots at most a quarter as wide as the time between two events of the fastest link, which it
/// takes a packet to pass, or two where receivers delay their ACKs: few events share a slot.
fn grain(config: &Config) -> Picos {
    let bytes = config.flows.iter().map(|flow| flow.packet_bytes).min().unwrap_or(1500);
    let times = config.links.iter().map(|link| serialization(bytes, link.rate_bps));
    let delayed = config.profiles.iter().all(|profile| profile.delayed_ack.is_some());
    times.min().unwrap_or(SECOND) / if delayed { 2 } else { 4 }
}

/// Far enough for round trips. Timers lie beyond.
fn horizon(config: &Config) -> Picos {
    config.flows.iter().map(|flow| flow.rtt).max().unwrap_or(SECOND)
}
