//! What flows share: links and the event queue; and how a packet moves between them.

use crate::config::{Config, MOST_STAGES, Route, Source};
use crate::events::{Node, Wheel};
use crate::flow::{Detour, Flow, Transit};
use crate::link::{Arriving, Link, Verdict, memory_admits};
use crate::parcel::{Load, Parcel};
use crate::probe::histogram::Histogram;
use crate::tcp::profile::Profile;
use crate::tcp::receiver::AckPacket;
use crate::time::{NEVER, Picos, SECOND, serialization};

/// Event nodes of a flow: its next ACK, its timer, its access link, its pacer, and one for each
/// queue on its route but the first.
pub(crate) const HOME: u32 = 0;
pub(crate) const TIMER: u32 = 1;
pub(crate) const ACCESS: u32 = 2;
pub(crate) const PACE: u32 = 3;
pub(crate) const STAGES: u32 = 4;

pub(crate) struct Network<'a> {
    pub(crate) config: &'a Config,
    pub(crate) links: Vec<Link>,
    pub(crate) wheel: Wheel,
    /// A flow has 2^this nodes.
    pub(crate) node_bits: u32,
    /// Round-trip times that senders measured, by class.
    pub(crate) rtt: Vec<Histogram>,
    /// Completion times, by class.
    pub(crate) completions: Vec<Vec<Picos>>,
    /// Data packets that reached, or are bound to reach, their receivers.
    pub(crate) packets: u64,
    /// When the next reading is taken.
    pub(crate) next_reading: Picos,
    /// Packets that a queue lost while it did something else.
    lost: Vec<Parcel>,
    /// The first node of a link.
    link_nodes: Node,
}

impl<'a> Network<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        let classes = config.profiles.len();
        let node_bits = node_bits(config);
        let link_nodes = config.flows.len() << node_bits;
        let nodes = link_nodes + config.links.len();
        let sizes = config.uniform_sizes();
        let make = |((spec, size), seed)| {
            Link::new(spec, &config.wire(spec), config.seed ^ seed, classes, size)
        };
        Self {
            config,
            links: config.links.iter().zip(sizes).zip(0..).map(make).collect(),
            wheel: Wheel::new(nodes, grain(config), horizon(config)),
            node_bits,
            rtt: vec![Histogram::default(); classes],
            completions: vec![Vec::new(); classes],
            packets: 0,
            next_reading: 0,
            lost: Vec::new(),
            link_nodes: link_nodes as Node,
        }
    }

    /// The link whose node this is, if it is a link's.
    #[inline]
    pub(crate) fn link_of(&self, node: Node) -> Option<usize> {
        node.checked_sub(self.link_nodes).map(|link| link as usize)
    }

    /// The flow and the kind of a node.
    #[inline]
    pub(crate) fn place(&self, node: Node) -> (usize, u32) {
        ((node >> self.node_bits) as usize, node & ((1 << self.node_bits) - 1))
    }

    /// Makes sure that a node of `flow` fires no later than `at`.
    #[inline]
    pub(crate) fn schedule(&mut self, flow: &Flow, kind: u32, at: Picos) {
        self.wheel.hasten((flow.index << self.node_bits) + kind, at);
    }

    /// An ACK reaches the sender, and what it lets go reaches the first queue.
    #[inline]
    pub(crate) fn on_home(&mut self, now: Picos, flow: &mut Flow) {
        if flow.plain {
            self.on_home_of::<true>(now, flow);
        } else {
            self.on_home_of::<false>(now, flow);
        }
    }

    #[inline(always)]
    fn on_home_of<const PLAIN: bool>(&mut self, now: Picos, flow: &mut Flow) {
        let pipe = match &mut flow.detour {
            Some(detour) if !PLAIN => detour.acks.last_mut().unwrap_or(&mut flow.receiver.acks),
            _ => &mut flow.receiver.acks,
        };
        let ack = pipe.pop_front().expect("scheduled with an ACK in flight");
        if let Some(next) = pipe.front() {
            self.wheel.insert(flow.index << self.node_bits, next.at); // it has just fired
        }
        if !PLAIN && ack.also > 0 {
            tell_of_lost_acks(flow, ack.also);
        }
        let profile = self.profile(flow);
        if let Some(rtt) = flow.sender.on_ack::<PLAIN>(now, ack, profile) {
            self.rtt[flow.class as usize].record(rtt);
        }
        self.send::<PLAIN>(now, flow, profile);
    }

    /// The flow starts, or its retransmission timer may have expired. The timer's node is moved
    /// only when it fires: an ACK that postpones it costs nothing.
    pub(crate) fn on_timer(&mut self, now: Picos, flow: &mut Flow) {
        flow.wakes_at = NEVER;
        if flow.play.is_some() && self.plays(now, flow) {
            return;
        }
        let begins = flow.sender.snd_max == 0;
        if !begins && flow.sender.timer_at > now {
            if flow.sender.timer_at != NEVER {
                self.wake_at(flow, flow.sender.timer_at);
            }
            return;
        }
        if !begins {
            flow.sender.on_timer(now, self.profile(flow));
        }
        self.transmit(now, flow);
    }

    /// What kind of TCP a flow is.
    #[inline]
    pub(crate) fn profile(&self, flow: &Flow) -> &'a Profile {
        &self.config.profiles[flow.class as usize]
    }

    /// Makes sure that the flow's timer node fires no later than `at`.
    #[inline(never)]
    pub(crate) fn wake_at(&mut self, flow: &mut Flow, at: Picos) {
        flow.wakes_at = flow.wakes_at.min(at);
        self.schedule(flow, TIMER, at);
    }

    /// `enter` for packets that need an event of their own.
    #[inline(never)]
    pub(crate) fn enter_late(&mut self, now: Picos, flow: &mut Flow, seq: u64) {
        self.enter::<false>(now, flow, seq, self.profile(flow));
    }

    /// A data packet reaches the first queue of its route.
    #[inline(always)]
    pub(crate) fn enter<const PLAIN: bool>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        seq: u64,
        profile: &Profile,
    ) {
        match self.links[flow.first_link as usize].pass(now, flow.class) {
            Some(at) if PLAIN || flow.detour.is_none() => {
                self.receive::<PLAIN>(flow, Transit { at, seq, marked: false }, profile);
            }
            Some(at) => self.pass_on(flow, 0, Transit { at, seq, marked: false }),
            None => self.enter_slowly(now, flow, seq, profile),
        }
    }

    /// `enter` for packets that their link does not let pass at once.
    #[inline(never)]
    fn enter_slowly(&mut self, now: Picos, flow: &mut Flow, seq: u64, profile: &Profile) {
        let link = flow.first_link as usize;
        let bytes = self.data_bytes(flow, seq);
        let arriving = Arriving { bytes, class: flow.class, ecn: flow.ecn };
        let parcel = || flow.parcel(0, bytes, Load::Data { seq, marked: false });
        if self.links[link].pool.is_some() {
            return self.offer_shared(now, flow, link, parcel());
        }
        match self.links[link].offer(now, arriving, parcel, &mut self.lost) {
            Verdict::Departs(at, marked) if flow.detour.is_none() => {
                self.receive::<false>(flow, Transit { at, seq, marked }, profile);
            }
            Verdict::Departs(at, marked) => self.pass_on(flow, 0, Transit { at, seq, marked }),
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

    /// A packet reaches a queue whose memory other queues may share.
    fn offer_shared(&mut self, now: Picos, flow: &mut Flow, link: usize, parcel: Parcel) {
        if !memory_admits(&mut self.links, &self.config.pools, link, now, parcel.bytes) {
            self.links[link].refuse(now, parcel.class);
            return flow.lose(parcel);
        }
        match self.links[link].offer(now, parcel.arriving(), || parcel, &mut self.lost) {
            Verdict::Departs(at, marked) => self.passed(flow, parcel, at, marked),
            Verdict::Dropped => flow.lose(parcel),
            Verdict::Waits => self.await_service(now, link),
        }
    }

    #[cold]
    fn await_service(&mut self, now: Picos, link: usize) {
        if let Some(at) = self.links[link].next_service() {
            self.wheel.hasten(self.link_nodes + link as Node, at.max(now));
        }
    }

    /// A link can take the next packet off its queue.
    pub(crate) fn on_service(&mut self, now: Picos, link: usize, flows: &mut [Flow]) {
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

    /// A packet leaves a queue's wire at `at`, marked there or not.
    #[inline]
    fn passed(&mut self, flow: &mut Flow, parcel: Parcel, at: Picos, marked: bool) {
        match parcel.load {
            Load::Data { seq, marked: before } => {
                let packet = Transit { at, seq, marked: marked || before };
                if flow.detour.is_none() {
                    self.receive::<false>(flow, packet, self.profile(flow));
                } else {
                    self.pass_on(flow, parcel.stage as usize, packet);
                }
            }
            Load::Ack(ack) => self.pass_back(flow, parcel.stage as usize, at, ack),
        }
    }

    /// A packet has left the last forward queue at `packet.at`: its receiver answers.
    #[inline(always)]
    fn receive<const PLAIN: bool>(&mut self, flow: &mut Flow, packet: Transit, profile: &Profile) {
        self.packets += 1;
        if !PLAIN && flow.play.is_some() && self.received_alone(flow, packet.seq) {
            return;
        }
        let before = flow.receiver.rcv_nxt;
        let answered = packet.at + flow.turn_delay;
        flow.receiver.on_segment(packet.seq, answered, packet.marked, profile);
        // Of two, the first may be a delayed ACK that was hastened.
        if flow.receiver.acks.len() <= 2 {
            let first = flow.receiver.acks.front().map_or(answered, |ack| ack.at);
            let node = if PLAIN { HOME } else { turning_node(flow) };
            self.schedule(flow, node, first);
        }
        if flow.receiver.rcv_nxt >= flow.sender.end && before < flow.sender.end {
            self.finish(flow, packet);
        }
    }

    /// The last segment has been received.
    #[cold]
    fn finish(&mut self, flow: &mut Flow, packet: Transit) {
        let completed = packet.at + flow.onward_delay - flow.start;
        self.completions[flow.class as usize].push(completed);
        if flow.play.is_some() {
            let home = flow.detour.as_ref().map_or(0, |detour| detour.home_delay);
            self.file_ended(flow, packet.at + flow.turn_delay + home);
        }
    }

    /// A packet reaches queue number `stage` of its route: forward queues first, from 0.
    pub(crate) fn on_stage(&mut self, now: Picos, flow: &mut Flow, stage: usize) {
        let route = &self.config.routes[flow.route as usize];
        let node = STAGES + stage as u32 - 1;
        let (link, load, next) = match stage.checked_sub(route.forward.len()) {
            None => {
                let pipe = &mut detour(flow).data[stage - 1];
                let packet = pipe.pop_front().expect("scheduled with a packet in transit");
                let load = Load::Data { seq: packet.seq, marked: packet.marked };
                (route.forward[stage], load, pipe.front().map(|next| next.at))
            }
            Some(back) => {
                let pipe = match back {
                    0 => &mut flow.receiver.acks,
                    _ => &mut detour(flow).acks[back - 1],
                };
                let ack = pipe.pop_front().expect("scheduled with an ACK in transit");
                (route.backward[back], Load::Ack(ack), pipe.front().map(|next| next.at))
            }
        };
        if let Some(at) = next {
            self.schedule(flow, node, at);
        }
        let bytes = match load {
            Load::Data { seq, .. } => self.data_bytes(flow, seq),
            Load::Ack(_) => self.config.profiles[flow.class as usize].ack_bytes,
        };
        let parcel = flow.parcel(stage, bytes, load);
        self.offer_shared(now, flow, link as usize, parcel);
    }

    /// A data packet has left forward queue `stage` at `packet.at`.
    fn pass_on(&mut self, flow: &mut Flow, stage: usize, packet: Transit) {
        let forward = &self.config.routes[flow.route as usize].forward;
        if stage + 1 == forward.len() {
            return self.receive::<false>(flow, packet, self.profile(flow));
        }
        let at = packet.at + self.links[forward[stage] as usize].delay;
        let pipe = &mut detour(flow).data[stage];
        pipe.push_back(Transit { at, ..packet });
        if pipe.len() == 1 {
            self.schedule(flow, STAGES + stage as u32, at);
        }
    }

    /// An ACK leaves the queue number `stage` of its route at `departs`.
    fn pass_back(&mut self, flow: &mut Flow, stage: usize, departs: Picos, ack: AckPacket) {
        let route = &self.config.routes[flow.route as usize];
        let back = stage - route.forward.len();
        let home = back + 1 == route.backward.len();
        let link = &self.links[route.backward[back] as usize];
        let at = departs + if home { detour(flow).home_delay } else { link.delay };
        if detour(flow).carry_ack(back, AckPacket { at, ..ack }) {
            self.schedule(flow, if home { HOME } else { STAGES + stage as u32 }, at);
        }
    }
}

fn detour(flow: &mut Flow) -> &mut Detour {
    flow.detour.as_mut().expect("a route of several queues")
}

/// The node at which a receiver's ACKs act: the first backward queue, or the sender.
#[inline]
fn turning_node(flow: &Flow) -> u32 {
    match &flow.detour {
        Some(detour) if !detour.acks.is_empty() => STAGES + detour.data.len() as u32,
        _ => HOME,
    }
}

#[cold]
fn tell_of_lost_acks(flow: &mut Flow, count: u16) {
    let Some(detour) = &mut flow.detour else { return };
    detour.unreported.drain(..count as usize).for_each(|seq| flow.sender.on_sacked(seq));
}

/// Bits of an event node's number that tell a flow's nodes apart.
fn node_bits(config: &Config) -> u32 {
    let stages = |route: &Route| route.forward.len() + route.backward.len();
    let most = config.routes.iter().map(stages).max().unwrap_or(1).min(MOST_STAGES) as u32;
    (STAGES + most - 1).next_power_of_two().ilog2()
}

/// Slots about half as wide as a packet takes on the fastest link.
fn grain(config: &Config) -> Picos {
    let bytes = config.flows.iter().map(|flow| flow.packet_bytes).min().unwrap_or(1500);
    let times = config.links.iter().map(|link| serialization(bytes, link.rate_bps));
    times.min().unwrap_or(SECOND) / 4
}

/// Far enough for round trips and nearly all retransmission timers.
fn horizon(config: &Config) -> Picos {
    let rtt = config.flows.iter().map(|flow| flow.rtt).max().unwrap_or(SECOND);
    (4 * rtt).max(SECOND)
}
