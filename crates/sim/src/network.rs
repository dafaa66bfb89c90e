//! What flows share: links, the event queue, and what is read of all.

use crate::capture::Recorder;
use crate::config::{Config, LinkSpec};
use crate::events::EventKey;
use crate::events::Wheel;
use crate::events::event_key::{TIMER, encode, encode_link};
use crate::events::event_timer::EventTimer;
use crate::fast::flow_kind::FlowKind;
use crate::fast::sole_dequeue::SoleDequeue;
use crate::fast::wheel_size;
use crate::flow::Flow;
use crate::flow::barriers::Barriers;
use crate::flow::early_deliveries::EarlyDeliveries;
use crate::flow::jitter::JitterDelays;
use crate::flow::lost_acks::LostAcks;
use crate::link::{Link, Links};
use crate::meters::flow_records::FlowRecorder;
use crate::meters::histogram::Histogram;
use crate::meters::report::ClassBatch;
use crate::packet::{Packet, Payload};
use crate::packet_log::PacketLog;
use crate::paths::Paths;
use crate::queue::parameters::Wire;
use crate::run::outbox::Part;
use crate::run::partition::Partition;
use crate::tcp::profile::Profile;
use crate::time::{NEVER, Picos};
use crate::traffic::Traffic;

/// What flows share. Its methods here schedule events; `sending`, `forwarding`, `receiving` and `sources`
/// have what happens in them.
#[repr(C)]
pub(crate) struct Network<'a> {
    /// When the next reading is taken, or the one link that needs no event for it takes a packet off its
    /// queue: no event fires from then on before that.
    pub(crate) event_limit: Picos,
    pub(crate) wheel: Wheel,
    /// What receivers have counted that leaves the last queue after the end of this batch.
    pub(crate) early_deliveries: EarlyDeliveries,
    pub(crate) links: Links,
    /// Packets that a queue dropped other than the one that arrived, or at dequeue.
    pub(crate) side_drops: Vec<Packet>,
    pub(crate) traffic: Traffic<'a>,
    pub(crate) paths: Paths,
    /// Round-trip times that senders measured, by class.
    pub(crate) rtt: Vec<Histogram>,
    /// When flows end, and how long they took, by class.
    pub(crate) completions: Vec<Vec<(Picos, Picos)>>,
    /// When requests are answered whole, and how long that took, by class.
    pub(crate) requests: Vec<Vec<(Picos, Picos)>>,
    /// Flows that wait for each other.
    pub(crate) barriers: Barriers<'a>,
    /// By flow, data packets of which it is known when they leave, or have left, the last forward
    /// queue; not of flows whose other counts give it (`readings::passed`).
    pub(crate) passed: Vec<u64>,
    /// By flow, its packets, ACKs too, that wait in queues; empty where no flow is ever freed.
    pub(crate) waiting: Vec<u32>,
    /// By class, what flows that are freed have counted.
    pub(crate) freed: Vec<ClassBatch>,
    /// When the next reading is taken.
    next_reading: Picos,
    /// When the next transfers are made.
    next_arrivals: Picos,
    /// What ACKs carry of others that were lost.
    pub(crate) lost_acks: LostAcks,
    /// By link, when it takes the next packet off its queue, if it has to be asked.
    pub(crate) dequeue_timers: Vec<DequeueTimer>,
    /// When the one link that needs no event for that takes the next packet off its queue.
    pub(crate) sole_dequeue: SoleDequeue,
    /// Random delays of segments between the last queue and the receivers.
    pub(crate) jitter_delays: Option<JitterDelays>,
    /// What a capture has, if asked for.
    pub(crate) recorder: Option<Box<Recorder>>,
    /// A record of every flow, if asked for.
    pub(crate) flow_recorder: Option<Box<FlowRecorder>>,
    /// What becomes of each packet at each link, if asked for.
    pub(crate) packet_log: Option<Box<PacketLog>>,
    /// Which part of the network it is, where several threads share one run.
    pub(crate) part: Part,
    /// See `Control`.
    pub(crate) single_events: bool,
}

/// When a link takes the next packet off its queue.
pub(crate) struct DequeueTimer {
    pub(crate) timer: EventTimer,
    /// An arrival may make it earlier.
    moves: bool,
}

impl DequeueTimer {
    fn of(link: &Link) -> Self {
        Self { timer: EventTimer::default(), moves: link.has_rate_limits() }
    }
}

impl<'a> Network<'a> {
    /// Part `number` of a network.
    pub(crate) fn new(config: &'a Config, partition: &Partition, number: u8) -> Self {
        let classes = config.profiles.len();
        let paths = Paths::of(config, &partition.by_link);
        let links = build_links(config, &paths);
        Self {
            traffic: Traffic::of(config),
            dequeue_timers: links.iter().map(DequeueTimer::of).collect(),
            links,
            paths,
            wheel: wheel_size::wheel(config),
            rtt: vec![Histogram::default(); classes],
            completions: vec![Vec::new(); classes],
            requests: vec![Vec::new(); classes],
            barriers: Barriers::of(config),
            early_deliveries: EarlyDeliveries::until(config.warmup),
            passed: vec![0; config.flows.len()],
            waiting: Vec::new(),
            freed: vec![ClassBatch::default(); classes],
            event_limit: 0,
            next_reading: 0,
            next_arrivals: NEVER,
            side_drops: Vec::new(),
            lost_acks: LostAcks::default(),
            sole_dequeue: SoleDequeue::of(config),
            jitter_delays: JitterDelays::of(config),
            recorder: config.capture.then(|| Box::new(Recorder::of(config))),
            flow_recorder: config.flow_records.then(|| Box::new(FlowRecorder::of(config))),
            packet_log: PacketLog::of(config),
            part: Part::of(number, partition.parts),
            single_events: false,
        }
    }

    /// Schedules an event of `flow`.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, flow: &Flow, kind: u32, at: Picos, payload: Payload) {
        self.wheel.insert(at, encode(flow.index(), kind), payload);
    }

    /// Schedules an event in part `to` of the network.
    #[inline(always)]
    pub(crate) fn schedule_in(&mut self, to: u8, at: Picos, key: EventKey, payload: Payload) {
        if to == self.part.number() {
            self.wheel.insert(at, key, payload);
        } else {
            self.part.send(to, (at, key, payload), &mut self.lost_acks);
        }
    }

    /// Makes sure that the flow's timer fires no later than `at`.
    #[inline(never)]
    pub(crate) fn arm_timer(&mut self, flow: &mut Flow, at: Picos) {
        if flow.timer.arm(at) {
            self.wheel.insert(at, encode(flow.index(), TIMER), Payload::NONE);
        }
    }

    /// Schedules the link's next dequeue, unless it is scheduled: what arrives does not move it, but where
    /// the queue has limits of rate.
    #[inline(always)]
    pub(crate) fn arm_dequeue(&mut self, now: Picos, link: usize) {
        let timer = &self.dequeue_timers[link];
        if !timer.timer.is_armed() || timer.moves {
            self.rearm_dequeue(now, link);
        }
    }

    #[inline(never)]
    fn rearm_dequeue(&mut self, now: Picos, link: usize) {
        if let Some(at) = self.links[link].next_dequeue_at() {
            self.schedule_dequeue(link, at.max(now));
        }
    }

    /// Schedules the link's next dequeue.
    #[inline(always)]
    pub(crate) fn schedule_dequeue(&mut self, link: usize, at: Picos) {
        if !self.dequeue_timers[link].timer.arm(at) {
            return;
        }
        if self.sole_dequeue.arm(link, at) {
            self.event_limit = self.event_limit.min(at);
        } else {
            self.wheel.insert(at, encode_link(link), Payload::NONE);
        }
    }

    /// Nothing else happens up to and with `at`.
    #[inline]
    pub(crate) fn is_next_event(&self, at: Picos) -> bool {
        at < self.event_limit && !self.single_events && self.wheel.is_empty_until(at)
    }

    /// Nothing else happens before this: 0 where a search would take long.
    #[inline]
    pub(crate) fn quiet_until(&self) -> Picos {
        if self.single_events { 0 } else { self.wheel.quiet_until().min(self.event_limit) }
    }

    /// The next reading is taken at `at`.
    pub(crate) fn schedule_reading(&mut self, at: Picos) {
        self.next_reading = at;
        self.event_limit = at.min(self.sole_dequeue.at).min(self.next_arrivals);
    }

    /// The next transfers are made at `at`.
    pub(crate) fn schedule_arrivals(&mut self, at: Picos) {
        self.next_arrivals = at;
        self.schedule_reading(self.next_reading);
    }

    /// The next transfers are made before anything else happens.
    #[inline]
    pub(crate) fn arrivals_due(&self) -> bool {
        self.next_arrivals <= self.next_reading.min(self.sole_dequeue.at)
            && self.next_arrivals < NEVER
    }

    /// The next reading, where it comes no later than the sole dequeue.
    #[inline]
    pub(crate) fn reading_due(&self) -> Option<Picos> {
        (self.next_reading <= self.sole_dequeue.at).then_some(self.next_reading)
    }

    /// The sole dequeue happens: its link and the time.
    #[inline]
    pub(crate) fn fire_sole_dequeue(&mut self) -> Option<(usize, Picos)> {
        self.event_limit = self.next_reading.min(self.next_arrivals);
        self.sole_dequeue.fire()
    }

    /// A flow's traffic class.
    #[inline(always)]
    pub(crate) fn class(&self, flow: &Flow) -> usize {
        self.traffic.class(flow.index())
    }

    /// What kind of TCP a flow is.
    #[inline(always)]
    pub(crate) fn profile<K: FlowKind>(&self, flow: &Flow) -> &'a Profile {
        self.traffic.profile::<K>(flow)
    }
}

fn build_links(config: &Config, paths: &Paths) -> Links {
    let any = config.wire(1.0);
    let make = |(((spec, size), classes), seed): (((&LinkSpec, _), &Vec<u16>), u64)| {
        let wire = Wire {
            rate_bps: spec.served_bps(),
            shaped: spec.shaper.is_some(),
            framing: spec.framing,
            ..any
        };
        let spec = &spec.for_classes(classes);
        Link::new(spec, &wire, config.seed ^ seed, classes.len(), size)
    };
    // A link that keeps no packets would not have each of them asked about.
    let unlogged = |(link, size): (u32, Option<u32>)| size.filter(|_| link >= config.logged_links);
    let sizes = (0..).zip(config.uniform_sizes()).map(unlogged);
    let mut links: Vec<_> =
        config.links.iter().zip(sizes).zip(&paths.classes).zip(0..).map(make).collect();
    if let Some(first) = links.first_mut() {
        first.meter.tell_classes_apart();
    }
    Links::new(links, config.pools.clone())
}
