//! What flows share: links and the event queue; and how a packet moves between them.

use crate::capture::Recorder;
use crate::cc::Cc;
use crate::config::{Config, FlowSpec, LinkSpec, Source};
use crate::early_deliveries::EarlyDeliveries;
use crate::events::{EventKey, Wheel};
use crate::flow::Flow;
use crate::flow_kind::{ACK_EVENT_KINDS, FlowKind, GeneralKind};
use crate::jitter::JitterDelays;
use crate::link::{FastVerdict, Link, Verdict};
use crate::lost_acks::{LostAcks, NONE};
use crate::meters::histogram::Histogram;
use crate::packet::{Packet, Payload};
use crate::paths::Paths;
use crate::queue::registry::Wire;
use crate::tcp::profile::Profile;
use crate::tcp::receiver::{AckPacket, SackRun};
use crate::time::{NEVER, Picos, SECOND, serialization};

/// Kinds of a flow's events: the arrival of an ACK, one kind for each `FlowKind`; the sender's timer; a
/// departure from the access link; the pacing timer; the delayed-ACK timer; and the arrival of a packet
/// at a queue of its route, except of a segment at the first. Indices beyond the flows are links.
pub(crate) const TIMER: u32 = ACK_EVENT_KINDS;
pub(crate) const ACCESS: u32 = TIMER + 1;
pub(crate) const PACE: u32 = ACCESS + 1;
pub(crate) const DELACK: u32 = PACE + 1;
pub(crate) const HOP: u32 = DELACK + 1;
const KIND_BITS: u32 = 5;

/// The flow, or the link after all flows, and the kind of an event.
#[inline(always)]
pub(crate) fn decode(key: EventKey) -> (usize, u32) {
    ((key >> KIND_BITS) as usize, key & ((1 << KIND_BITS) - 1))
}

/// The key that `decode` takes apart.
#[inline(always)]
pub(crate) fn encode(index: u32, kind: u32) -> EventKey {
    (index << KIND_BITS) + kind
}

/// A data packet leaves a queue's wire.
#[derive(Clone, Copy)]
pub(crate) struct DataDeparture {
    pub(crate) at: Picos,
    pub(crate) payload: Payload,
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
    /// What receivers have counted that leaves the last queue after the end of this batch.
    pub(crate) early_deliveries: EarlyDeliveries,
    /// By flow, data packets of which it is known when they leave, or have left, the last forward
    /// queue. Not in the flow, whose lines of the cache are full.
    pub(crate) passed: Vec<u64>,
    /// When the next reading is taken.
    pub(crate) next_reading: Picos,
    /// Packets that a queue dropped other than the one that arrived, or at dequeue.
    pub(crate) side_drops: Vec<Packet>,
    /// What ACKs carry of others that were lost.
    pub(crate) lost_acks: LostAcks,
    /// When each link is served next; `NEVER` where it does not wait for that.
    dequeue_event_at: Vec<Picos>,
    /// Random delays of segments on their way to the receivers.
    pub(crate) jitter_delays: Option<JitterDelays>,
    /// What a capture has, if asked for.
    pub(crate) recorder: Option<Box<Recorder>>,
}

impl<'a> Network<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        let classes = config.profiles.len();
        let sizes = config.uniform_sizes();
        let paths = Paths::of(config);
        let any = config.wire(1.0);
        let make = |(((spec, size), classes), seed): (((&LinkSpec, _), &Vec<u16>), u64)| {
            let wire =
                Wire { rate_bps: spec.served_bps(), shaped: spec.shaper.is_some(), ..any };
            let spec = &spec.for_classes(classes);
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
            wheel: Wheel::new(slot_width(config), horizon(config)),
            rtt: vec![Histogram::default(); classes],
            completions: vec![Vec::new(); classes],
            early_deliveries: EarlyDeliveries {
                next_batch_end: config.warmup,
                deliveries: Vec::new(),
            },
            passed: vec![0; config.flows.len()],
            next_reading: 0,
            side_drops: Vec::new(),
            lost_acks: LostAcks::default(),
            dequeue_event_at: vec![NEVER; config.links.len()],
            jitter_delays: JitterDelays::of(config),
            recorder: config.capture.then(|| Box::new(Recorder::of(config))),
        }
    }

    /// Schedules an event of `flow`.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, flow: &Flow, kind: u32, at: Picos, payload: Payload) {
        self.wheel.insert(at, encode(flow.index(), kind), payload);
    }

    /// Prefetches the slot of the event queue for the ACK of a packet that enters its link now.
    #[inline(always)]
    pub(crate) fn prefetch_ack_slot(&self, now: Picos, flow: &Flow) {
        let departs = self.links[flow.first_link as usize].departure_if_enqueued(now);
        self.wheel.prefetch_slot(departs + flow.ack_return_delay);
    }

    /// An ACK reaches the sender, and what it lets go reaches the first queue.
    #[inline(always)]
    pub(crate) fn on_ack_arrival<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        payload: Payload,
    ) {
        debug_assert!(payload.is_ack());
        if let Some(recorder) = self.recorder.as_mut().filter(|_| !K::FAST_PATH) {
            recorder.acked(now, flow, payload);
        }
        let ack = payload.as_ack();
        if K::FAST_PATH
            || (payload.connection() == flow.connection && ack.carried_lost_acks == NONE)
        {
            self.on_ack::<K>(now, flow, ack, &[]);
        } else {
            self.on_ack_with_lost_acks::<K>(now, flow, payload);
        }
        if K::SACK_ONLY {
            self.arm_delack_if_no_ack_in_flight(now, flow);
        }
    }

    /// The same for an ACK of an earlier connection, or one that repeats what lost ones reported.
    #[cold]
    #[inline(never)]
    fn on_ack_with_lost_acks<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        payload: Payload,
    ) {
        let ack = payload.as_ack();
        let lost = self.lost_acks.take(ack.carried_lost_acks);
        if payload.connection() == flow.connection {
            self.on_ack::<K>(now, flow, ack, &lost);
        }
    }

    #[inline(always)]
    fn on_ack<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        ack: AckPacket,
        lost: &[SackRun],
    ) {
        let profile = self.profile::<K>(flow);
        if let Some(rtt) = flow.sender.on_ack::<K>(now, ack, lost, profile) {
            let class = self.class(flow);
            self.rtt[class].record(rtt);
        }
        self.send::<K>(now, flow, profile);
    }

    /// The flow starts, or its retransmission timer may have expired. The timer's event is moved
    /// only when it fires: an ACK that postpones it costs nothing.
    pub(crate) fn on_timer<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow) {
        if flow.timer_event_at != now {
            return;
        }
        flow.timer_event_at = NEVER;
        if !K::FAST_PATH && flow.app.is_some() && self.on_app_timer(now, flow) {
            return;
        }
        let begins = flow.sender.snd_max == 0;
        if !begins && flow.sender.timer_at > now {
            if flow.sender.timer_at != NEVER && !flow.ack_arrives_before(now, flow.sender.timer_at)
            {
                self.arm_timer(flow, flow.sender.timer_at);
            }
            return;
        }
        if !begins {
            flow.sender.on_timer(now, self.profile::<K>(flow));
        }
        self.transmit::<K>(now, flow);
    }

    /// A flow's traffic class.
    #[inline(always)]
    pub(crate) fn class(&self, flow: &Flow) -> usize {
        self.classes[flow.index() as usize] as usize
    }

    /// What kind of TCP a flow is.
    #[inline(always)]
    pub(crate) fn profile<K: FlowKind>(&self, flow: &Flow) -> &'a Profile {
        K::PROFILE.unwrap_or_else(|| &self.config.profiles[self.class(flow)])
    }

    /// Makes sure that the flow's timer fires no later than `at`.
    #[inline(never)]
    pub(crate) fn arm_timer(&mut self, flow: &mut Flow, at: Picos) {
        if at < flow.timer_event_at {
            flow.timer_event_at = at;
            // Before an ACK of the same instant, whenever it was that either was scheduled.
            self.wheel.insert_first(at, encode(flow.index(), TIMER), Payload::NONE);
        }
    }

    /// A datagram reaches the first queue of its route, in an event of its own.
    #[inline(never)]
    pub(crate) fn enqueue_first_hop_from_timer(&mut self, now: Picos, flow: &mut Flow, seq: u64) {
        self.enqueue_first_hop::<GeneralKind>(
            now,
            flow,
            flow.segment(seq),
            self.profile::<GeneralKind>(flow),
        );
    }

    /// A data packet reaches the first queue of its route.
    #[inline(always)]
    pub(crate) fn enqueue_first_hop<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        segment: Payload,
        profile: &Profile,
    ) {
        if K::SACK_ONLY {
            self.enqueue_first_hop_outlined::<K>(now, flow, segment);
        } else {
            self.enqueue_first_hop_inline::<K>(now, flow, segment, profile);
        }
    }

    /// `enqueue_first_hop` as one function for all callers: inlined code of a flow with SACK would not
    /// stay in the instruction cache.
    #[inline(never)]
    fn enqueue_first_hop_outlined<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        segment: Payload,
    ) {
        self.enqueue_first_hop_inline::<K>(now, flow, segment, self.profile::<K>(flow));
    }

    #[inline(always)]
    fn enqueue_first_hop_inline<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        segment: Payload,
        profile: &Profile,
    ) {
        match self.links[flow.first_link as usize].try_enqueue_fast(now, flow.first_class) {
            FastVerdict::Departs(at) if K::FAST_PATH || flow.multi_hop.is_none() => {
                self.receive::<K>(flow, DataDeparture { at, payload: segment }, profile);
            }
            FastVerdict::Departs(at) => self.forward(flow, at, segment),
            FastVerdict::Dropped => flow.drops += 1,
            FastVerdict::Unknown => self.enqueue_first_hop_slow::<K>(now, flow, segment, profile),
        }
    }

    /// The same where `Link::try_enqueue_fast` has not decided.
    #[inline(never)]
    fn enqueue_first_hop_slow<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        segment: Payload,
        profile: &Profile,
    ) {
        let profile = K::profile(profile);
        let link = flow.first_link as usize;
        let packet = self.packet(flow, flow.first_class, segment);
        if self.links[link].pool.is_some() {
            return self.enqueue_hop(now, flow, link, packet);
        }
        match self.links[link].enqueue(now, packet.as_arriving(), || packet, &mut self.side_drops) {
            Verdict::Departs(at, marked) if K::FAST_PATH || flow.multi_hop.is_none() => {
                self.receive::<K>(
                    flow,
                    DataDeparture { at, payload: segment.with_ce(marked) },
                    profile,
                );
            }
            Verdict::Departs(at, marked) => self.forward(flow, at, segment.with_ce(marked)),
            Verdict::Dropped => flow.drops += 1,
            Verdict::Waits => self.arm_dequeue(now, link),
        }
    }

    /// A packet of a flow, at a link whose meter gives its class this number.
    #[inline]
    pub(crate) fn packet(&self, flow: &Flow, class: u16, payload: Payload) -> Packet {
        let bytes = if payload.is_ack() {
            self.profile::<GeneralKind>(flow).ack_bytes
        } else {
            self.data_bytes(flow, payload.seq())
        };
        Packet { flow: flow.index(), bytes, class, payload }
    }

    /// Size on the link of a flow's data packet.
    #[inline]
    pub(crate) fn data_bytes(&self, flow: &Flow, seq: u64) -> u32 {
        match &flow.app {
            Some(app) if matches!(app.source, Source::Datagrams(..)) => {
                self.config.datagrams[seq as usize].bytes
            }
            _ => flow.packet_bytes,
        }
    }

    /// Schedules the link's next dequeue, unless it is scheduled: what arrives does not move it, but where
    /// the queue has limits of rate.
    #[inline]
    pub(crate) fn arm_dequeue(&mut self, now: Picos, link: usize) {
        let armed = self.dequeue_event_at[link];
        if armed != NEVER && !self.links[link].has_rate_limits() {
            return;
        }
        let next = self.links[link].next_dequeue_at().map(|at| at.max(now));
        let Some(at) = next.filter(|&at| at < armed) else { return };
        self.dequeue_event_at[link] = at;
        let index = self.config.flows.len() + link;
        // Before a packet of the same instant arrives, as where departures are planned.
        self.wheel.insert_first(at, encode(index as u32, 0), Payload::NONE);
    }

    /// A link can take the next packet off its queue, and further ones while nothing else happens
    /// before: these need no event of their own.
    pub(crate) fn on_dequeue_event(&mut self, now: Picos, link: usize, flows: &mut [Flow]) {
        if self.dequeue_event_at[link] != now {
            return;
        }
        self.dequeue_event_at[link] = NEVER;
        let mut now = now;
        loop {
            let sent = self.links[link].dequeue(now, &mut self.side_drops);
            if let Some((packet, at, marked)) = sent {
                let flow = &mut flows[packet.flow as usize];
                self.forward(flow, at, packet.payload.with_ce(marked));
            }
            let next = self.links[link].next_dequeue_at().map(|at| at.max(now));
            let Some(at) = next.filter(|&at| self.is_next_event(at)) else {
                return self.arm_dequeue(now, link);
            };
            self.account_side_drops(flows);
            now = at;
        }
    }

    /// Nothing else happens up to and with `at`.
    #[inline]
    pub(crate) fn is_next_event(&self, at: Picos) -> bool {
        at < self.next_reading && self.wheel.is_empty_until(at)
    }

    /// Counts the packets that a queue dropped other than the one that arrived, or at dequeue.
    #[inline]
    pub(crate) fn account_side_drops(&mut self, flows: &mut [Flow]) {
        if self.side_drops.is_empty() {
            return;
        }
        while let Some(packet) = self.side_drops.pop() {
            self.on_drop(&mut flows[packet.flow as usize], packet.payload);
        }
    }
}

/// Slots at most a quarter as wide as the time between two events of all links together, which is what
/// it takes a packet to pass each, or half where receivers delay their ACKs: few events share a slot. A
/// quarter of that where pacing or dequeues need events too.
fn slot_width(config: &Config) -> Picos {
    let bytes = config.flows.iter().map(|flow| flow.packet_bytes).min().unwrap_or(1500);
    let rate_bps = config.links.iter().map(|link| link.rate_bps).sum::<f64>().max(1.0);
    let delayed = config.profiles.iter().all(|profile| profile.delayed_ack.is_some());
    let paced =
        |flow: &FlowSpec| Cc::by_name(flow.congestion_control).is_some_and(|cc| cc.wants_rate());
    let further = config.flows.iter().any(paced)
        || config.links.iter().any(|link| link.queue.decides_at_dequeue());
    serialization(bytes, rate_bps) / if delayed { 2 } else { 4 } / if further { 4 } else { 1 }
}

/// Far enough for round trips. Timers lie beyond.
fn horizon(config: &Config) -> Picos {
    config.flows.iter().map(|flow| flow.rtt).max().unwrap_or(SECOND)
}
