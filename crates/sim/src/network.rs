//! What flows share: links and the event queue; and how a packet moves between them.

use crate::config::{Config, MOST_STAGES, Route};
use crate::events::{Node, Wheel};
use crate::flow::{Detour, Flow, Transit};
use crate::link::{Link, Verdict};
use crate::probe::histogram::Histogram;
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
    node_bits: u32,
    /// Round-trip times that senders measured, by class.
    pub(crate) rtt: Vec<Histogram>,
    /// Completion times, by class.
    pub(crate) completions: Vec<Vec<Picos>>,
    /// Data packets that first links accepted.
    pub(crate) packets: u64,
}

impl<'a> Network<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        let classes = config.profiles.len();
        let node_bits = node_bits(config);
        Self {
            config,
            links: config.links.iter().map(|spec| Link::new(spec, classes)).collect(),
            wheel: Wheel::new(config.flows.len() << node_bits, grain(config), horizon(config)),
            node_bits,
            rtt: vec![Histogram::default(); classes],
            completions: vec![Vec::new(); classes],
            packets: 0,
        }
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
        let pipe = flow.detour.as_mut().and_then(|detour| detour.acks.last_mut());
        let pipe = pipe.unwrap_or(&mut flow.receiver.acks);
        let ack = pipe.pop_front().expect("scheduled with an ACK in flight");
        let next = pipe.front().map(|next| next.at);
        if ack.also > 0 {
            tell_of_lost_acks(flow, ack.also);
        }
        let profile = &self.config.profiles[flow.class as usize];
        if let Some(rtt) = flow.sender.on_ack(now, ack, profile) {
            self.rtt[flow.class as usize].record(rtt);
        }
        self.transmit(now, flow);
        if let Some(at) = next {
            self.schedule(flow, HOME, at);
        }
    }

    /// The flow starts, or its retransmission timer may have expired. The timer's node is moved
    /// only when it fires: an ACK that postpones it costs nothing.
    pub(crate) fn on_timer(&mut self, now: Picos, flow: &mut Flow) {
        let begins = flow.sender.snd_max == 0;
        if !begins && flow.sender.rto_at > now {
            if flow.sender.rto_at != NEVER {
                self.schedule(flow, TIMER, flow.sender.rto_at);
            }
            return;
        }
        if !begins {
            flow.sender.on_timeout(now, &self.config.profiles[flow.class as usize]);
        }
        self.transmit(now, flow);
    }

    pub(crate) fn on_access(&mut self, now: Picos, flow: &mut Flow) {
        let (_, seq) = flow.in_access.pop_front().expect("scheduled with a packet in access");
        if let Some(&(at, _)) = flow.in_access.front() {
            self.schedule(flow, ACCESS, at);
        }
        self.enter(now, flow, seq);
    }

    /// Sends what the flow's window lets go.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Picos, flow: &mut Flow) {
        for _ in 0..flow.sender.allowance(&self.config.profiles[flow.class as usize]) {
            if let Some(at) = flow.sender.paced_beyond(now) {
                self.schedule(flow, PACE, at);
                break;
            }
            let seq = flow.sender.next_segment(now);
            let at = flow.through_access(now);
            if at == now {
                self.enter(now, flow, seq);
                continue;
            }
            flow.in_access.push_back((at, seq));
            if flow.in_access.len() == 1 {
                self.schedule(flow, ACCESS, at);
            }
        }
        if flow.sender.rto_at != NEVER {
            self.schedule(flow, TIMER, flow.sender.rto_at);
        }
    }

    /// A data packet reaches the first queue of its route.
    #[inline]
    fn enter(&mut self, now: Picos, flow: &mut Flow, seq: u64) {
        let link = &mut self.links[flow.first_link as usize];
        let Verdict::Departs(at, marked) = link.offer(now, flow.packet_bytes, flow.class) else {
            flow.drops += 1;
            return;
        };
        self.packets += 1;
        if flow.detour.is_none() {
            self.receive(flow, Transit { at, seq, marked });
        } else {
            self.pass_on(flow, 0, Transit { at, seq, marked });
        }
    }

    /// A packet has left the last forward queue at `packet.at`: its receiver answers.
    #[inline]
    fn receive(&mut self, flow: &mut Flow, packet: Transit) {
        let delay = self.config.profiles[flow.class as usize].delayed_ack;
        let unfinished = flow.receiver.rcv_nxt < flow.sender.end;
        let answered = packet.at + flow.turn_delay;
        flow.receiver.on_segment(packet.seq, answered, packet.marked, delay);
        if flow.receiver.acks.len() == 1 {
            let first = flow.receiver.acks.front().map_or(answered, |ack| ack.at);
            self.schedule(flow, turning_node(flow), first);
        }
        if unfinished && flow.receiver.rcv_nxt >= flow.sender.end {
            let completed = packet.at + flow.onward_delay - flow.start;
            self.completions[flow.class as usize].push(completed);
        }
    }

    /// A packet reaches queue number `stage` of its route: forward queues first, from 0.
    pub(crate) fn on_stage(&mut self, now: Picos, flow: &mut Flow, stage: usize) {
        let route = &self.config.routes[flow.route as usize];
        match stage.checked_sub(route.forward.len()) {
            None => self.on_data_stage(now, flow, stage, route),
            Some(back) => self.on_ack_stage(now, flow, back, route),
        }
    }

    fn on_data_stage(&mut self, now: Picos, flow: &mut Flow, stage: usize, route: &Route) {
        let pipe = &mut detour(flow).data[stage - 1];
        let packet = pipe.pop_front().expect("scheduled with a packet in transit");
        if let Some(at) = pipe.front().map(|next| next.at) {
            self.schedule(flow, STAGES + stage as u32 - 1, at);
        }
        let link = &mut self.links[route.forward[stage] as usize];
        match link.offer(now, flow.packet_bytes, flow.class) {
            Verdict::Dropped => flow.drops += 1,
            Verdict::Departs(at, marked) => {
                let marked = marked || packet.marked;
                self.pass_on(flow, stage, Transit { at, marked, ..packet });
            }
        }
    }

    /// A data packet has left forward queue `stage` at `packet.at`.
    fn pass_on(&mut self, flow: &mut Flow, stage: usize, packet: Transit) {
        let forward = &self.config.routes[flow.route as usize].forward;
        if stage + 1 == forward.len() {
            return self.receive(flow, packet);
        }
        let at = packet.at + self.links[forward[stage] as usize].delay;
        let pipe = &mut detour(flow).data[stage];
        pipe.push_back(Transit { at, ..packet });
        if pipe.len() == 1 {
            self.schedule(flow, STAGES + stage as u32, at);
        }
    }

    fn on_ack_stage(&mut self, now: Picos, flow: &mut Flow, back: usize, route: &Route) {
        let node = STAGES + (route.forward.len() + back) as u32 - 1;
        let pipe = match back {
            0 => &mut flow.receiver.acks,
            _ => &mut detour(flow).acks[back - 1],
        };
        let ack = pipe.pop_front().expect("scheduled with an ACK in transit");
        if let Some(at) = pipe.front().map(|next| next.at) {
            self.schedule(flow, node, at);
        }
        let bytes = self.config.profiles[flow.class as usize].ack_bytes;
        let link = &mut self.links[route.backward[back] as usize];
        let Verdict::Departs(departs, _) = link.offer(now, bytes, flow.class) else {
            detour(flow).lose_ack(back, ack);
            return;
        };
        let home = back + 1 == route.backward.len();
        let at = departs + if home { flow.home_delay } else { link.delay };
        if detour(flow).carry_ack(back, AckPacket { at, ..ack }) {
            self.schedule(flow, if home { HOME } else { node + 1 }, at);
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
    times.min().unwrap_or(SECOND) / 2
}

/// Far enough for round trips and nearly all retransmission timers.
fn horizon(config: &Config) -> Picos {
    let rtt = config.flows.iter().map(|flow| flow.rtt).max().unwrap_or(SECOND);
    (4 * rtt).max(SECOND)
}
