//! The run: flows, links, and the loop that moves packets between them through time.

use crate::config::{Config, ConfigError, MOST_STAGES};
use crate::events::{Node, Wheel};
use crate::flow::{Flow, Transit};
use crate::link::{Link, Verdict};
use crate::probe::histogram::Histogram;
use crate::readings::Readings;
use crate::report::Report;
use crate::tcp::receiver::AckPacket;
use crate::time::{NEVER, Picos, SECOND, serialization};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Lets another thread watch a run and stop it.
#[derive(Default)]
pub struct Control {
    /// Simulated time reached.
    pub reached: AtomicU64,
    /// Set to end the run early; it then gives no report.
    pub stop: AtomicBool,
}

/// Event nodes of a flow: its next ACK, its timer, its access link, its pacer, and one for each
/// queue on its route but the first.
const HOME: u32 = 0;
const TIMER: u32 = 1;
const ACCESS: u32 = 2;
const PACE: u32 = 3;
const STAGES: u32 = 4;

/// Events between two looks at `Control`.
const WATCH_INTERVAL: u64 = 4096;

/// A run in progress.
pub(crate) struct Simulation<'a> {
    pub(crate) config: &'a Config,
    pub(crate) flows: Vec<Flow>,
    pub(crate) links: Vec<Link>,
    wheel: Wheel,
    /// Nodes a flow are 2^this.
    node_bits: u32,
    pub(crate) rtt: Vec<Histogram>,
    pub(crate) completions: Vec<Vec<Picos>>,
    pub(crate) packets: u64,
}

/// Runs `config` to its end. Gives `None` if `control` stopped it.
pub fn run(config: &Config, control: &Control) -> Result<Option<Report>, ConfigError> {
    config.check()?;
    Ok(Simulation::new(config).run(control))
}

impl<'a> Simulation<'a> {
    fn new(config: &'a Config) -> Self {
        let classes = config.profiles.len();
        let node_bits = node_bits(config);
        let mut simulation = Self {
            config,
            flows: config.flows.iter().map(|spec| Flow::new(spec, config)).collect(),
            links: config.links.iter().map(|spec| Link::new(spec, classes)).collect(),
            wheel: Wheel::new(config.flows.len() << node_bits, grain(config), horizon(config)),
            node_bits,
            rtt: vec![Histogram::default(); classes],
            completions: vec![Vec::new(); classes],
            packets: 0,
        };
        for (index, flow) in config.flows.iter().enumerate() {
            simulation.wheel.insert(simulation.node(index, TIMER), flow.start);
        }
        simulation
    }

    fn run(mut self, control: &Control) -> Option<Report> {
        let mut readings = Readings::new(self.config);
        let mut events = 0_u64;
        while let Some((now, node)) = self.wheel.pop() {
            if now >= readings.next_at && readings.take(&mut self, now) {
                break;
            }
            if events % WATCH_INTERVAL == 0 && watch(control, now) {
                return None;
            }
            events += 1;
            self.handle(now, node);
        }
        // Where every flow has ended before the window did, the rest of it is silence.
        readings.take(&mut self, NEVER);
        Some(readings.finish(self, events))
    }

    #[inline]
    fn handle(&mut self, now: Picos, node: Node) {
        let index = (node >> self.node_bits) as usize;
        match node & ((1 << self.node_bits) - 1) {
            HOME => self.on_home(now, index),
            TIMER => self.on_timer(now, index),
            ACCESS => self.on_access(now, index),
            PACE => self.transmit(now, index),
            stage => self.on_stage(now, index, (stage - STAGES) as usize + 1),
        }
    }

    #[inline]
    fn node(&self, index: usize, kind: u32) -> Node {
        ((index as Node) << self.node_bits) + kind
    }

    /// An ACK reaches the sender, and what it lets go reaches the first queue.
    #[inline]
    fn on_home(&mut self, now: Picos, index: usize) {
        let flow = &mut self.flows[index];
        let pipe = match &mut flow.detour {
            Some(detour) if !detour.acks.is_empty() => detour.acks.last_mut(),
            _ => None,
        };
        let pipe = pipe.unwrap_or(&mut flow.receiver.acks);
        let ack = pipe.pop_front().expect("scheduled with an ACK in flight");
        let next = pipe.front().map(|next| next.at);
        let profile = &self.config.profiles[flow.class as usize];
        if let Some(detour) = flow.detour.as_mut().filter(|_| ack.also > 0) {
            detour.unreported.drain(..ack.also as usize).for_each(|seq| flow.sender.on_sacked(seq));
        }
        if let Some(rtt) = flow.sender.on_ack(now, ack, profile) {
            self.rtt[flow.class as usize].record(rtt);
        }
        self.transmit(now, index);
        if let Some(at) = next {
            let node = self.node(index, HOME);
            self.wheel.hasten(node, at);
        }
    }

    /// The flow starts, or its retransmission timer may have expired. The timer's node is moved
    /// only when it fires: an ACK that postpones it costs nothing.
    fn on_timer(&mut self, now: Picos, index: usize) {
        let flow = &mut self.flows[index];
        let profile = &self.config.profiles[flow.class as usize];
        let sender = &mut flow.sender;
        let begins = sender.snd_max == 0;
        if !begins && sender.rto_at > now {
            let at = sender.rto_at;
            if at != NEVER {
                let node = self.node(index, TIMER);
                self.wheel.insert(node, at);
            }
            return;
        }
        if !begins {
            sender.on_timeout(now, profile);
        }
        self.transmit(now, index);
    }

    fn on_access(&mut self, now: Picos, index: usize) {
        let flow = &mut self.flows[index];
        let (_, seq) = flow.in_access.pop_front().expect("scheduled with a packet in access");
        if let Some(&(at, _)) = flow.in_access.front() {
            let node = self.node(index, ACCESS);
            self.wheel.insert(node, at);
        }
        self.enter(now, index, seq);
    }

    /// Sends what the window of flow `index` lets go.
    #[inline]
    fn transmit(&mut self, now: Picos, index: usize) {
        let profile = &self.config.profiles[self.flows[index].class as usize];
        loop {
            let flow = &mut self.flows[index];
            if let Some(at) = flow.sender.paced_beyond(now) {
                let node = self.node(index, PACE);
                self.wheel.hasten(node, at);
                break;
            }
            let Some(seq) = flow.sender.next_segment(now, profile) else { break };
            let at = flow.through_access(now);
            if at == now {
                self.enter(now, index, seq);
                continue;
            }
            flow.in_access.push_back((at, seq));
            if flow.in_access.len() == 1 {
                let node = self.node(index, ACCESS);
                self.wheel.insert(node, at);
            }
        }
        let rto_at = self.flows[index].sender.rto_at;
        if rto_at != NEVER {
            let node = self.node(index, TIMER);
            self.wheel.hasten(node, rto_at);
        }
    }

    /// A data packet of flow `index` reaches the first queue of its route.
    #[inline]
    fn enter(&mut self, now: Picos, index: usize, seq: u64) {
        let flow = &mut self.flows[index];
        let link = &mut self.links[flow.first_link as usize];
        let Verdict::Departs(at, marked) = link.offer(now, flow.packet_bytes, flow.class) else {
            flow.drops += 1;
            return;
        };
        self.packets += 1;
        if flow.detour.is_none() {
            self.receive(index, Transit { at, seq, marked });
        } else {
            self.pass_on(index, 0, Transit { at, seq, marked });
        }
    }

    /// A packet has left the last forward queue at `packet.at`: its receiver answers.
    #[inline]
    fn receive(&mut self, index: usize, packet: Transit) {
        let flow = &mut self.flows[index];
        let delay = self.config.profiles[flow.class as usize].delayed_ack;
        let before = flow.receiver.rcv_nxt;
        let answered = packet.at + flow.turn_delay;
        flow.receiver.on_segment(packet.seq, answered, packet.marked, delay);
        let first = flow.receiver.acks.front().expect("every segment is acknowledged").at;
        if flow.receiver.rcv_nxt >= flow.sender.end && before < flow.sender.end {
            let completed = packet.at + flow.onward_delay - flow.start;
            self.completions[flow.class as usize].push(completed);
        }
        if flow.receiver.acks.len() == 1 {
            let kind = self.turning_node(index);
            let node = self.node(index, kind);
            self.wheel.hasten(node, first);
        }
    }

    /// The node at which a receiver's ACKs act: the first backward queue, or the sender.
    #[inline]
    fn turning_node(&self, index: usize) -> u32 {
        match &self.flows[index].detour {
            Some(detour) if !detour.acks.is_empty() => STAGES + detour.data.len() as u32,
            _ => HOME,
        }
    }

    /// A packet reaches queue number `stage` of its route: forward queues first, from 0.
    fn on_stage(&mut self, now: Picos, index: usize, stage: usize) {
        let forward = self.forward(index).len();
        if stage < forward {
            self.on_data_stage(now, index, stage);
        } else {
            self.on_ack_stage(now, index, stage - forward);
        }
    }

    fn on_data_stage(&mut self, now: Picos, index: usize, stage: usize) {
        let link = self.forward(index)[stage] as usize;
        let flow = &mut self.flows[index];
        let pipe = &mut flow.detour.as_mut().expect("a route of several queues").data[stage - 1];
        let packet = pipe.pop_front().expect("scheduled with a packet in transit");
        let next = pipe.front().map(|next| next.at);
        match self.links[link].offer(now, flow.packet_bytes, flow.class) {
            Verdict::Dropped => flow.drops += 1,
            Verdict::Departs(at, marked) => {
                let marked = marked || packet.marked;
                self.pass_on(index, stage, Transit { at, marked, ..packet });
            }
        }
        if let Some(at) = next {
            let node = self.node(index, STAGES + stage as u32 - 1);
            self.wheel.hasten(node, at);
        }
    }

    /// A data packet has left forward queue `stage` at `packet.at`.
    fn pass_on(&mut self, index: usize, stage: usize, packet: Transit) {
        let forward = self.forward(index);
        if stage + 1 == forward.len() {
            return self.receive(index, packet);
        }
        let at = packet.at + self.links[forward[stage] as usize].delay;
        let detour = self.flows[index].detour.as_mut().expect("a route of several queues");
        detour.data[stage].push_back(Transit { at, ..packet });
        if detour.data[stage].len() == 1 {
            let node = self.node(index, STAGES + stage as u32);
            self.wheel.hasten(node, at);
        }
    }

    fn on_ack_stage(&mut self, now: Picos, index: usize, stage: usize) {
        let route = &self.config.routes[self.flows[index].route as usize];
        let link = route.backward[stage] as usize;
        let flow = &mut self.flows[index];
        let bytes = self.config.profiles[flow.class as usize].ack_bytes;
        let detour = flow.detour.as_mut().expect("a route of several queues");
        let pipe = if stage == 0 { &mut flow.receiver.acks } else { &mut detour.acks[stage - 1] };
        let ack = pipe.pop_front().expect("scheduled with an ACK in transit");
        let next = pipe.front().map(|next| next.at);
        let home = stage + 1 == route.backward.len();
        match self.links[link].offer(now, bytes, flow.class) {
            Verdict::Dropped => {
                detour.unreported.push_back(ack.trigger);
                detour.untold[stage] += 1 + ack.also;
            }
            Verdict::Departs(departs, _) => {
                let also = ack.also + std::mem::take(&mut detour.untold[stage]);
                let onward = if home { flow.home_delay } else { self.links[link].delay };
                let at = departs + onward;
                detour.acks[stage].push_back(AckPacket { at, also, ..ack });
                if detour.acks[stage].len() == 1 {
                    let kind =
                        if home { HOME } else { STAGES + (route.forward.len() + stage) as u32 };
                    let node = self.node(index, kind);
                    self.wheel.hasten(node, at);
                }
            }
        }
        if let Some(at) = next {
            let node = self.node(index, STAGES + (route.forward.len() + stage) as u32 - 1);
            self.wheel.hasten(node, at);
        }
    }

    fn forward(&self, index: usize) -> &'a [u16] {
        &self.config.routes[self.flows[index].route as usize].forward
    }
}

fn watch(control: &Control, now: Picos) -> bool {
    control.reached.store(now, Ordering::Relaxed);
    control.stop.load(Ordering::Relaxed)
}

/// Bits of an event node's number that tell a flow's nodes apart.
fn node_bits(config: &Config) -> u32 {
    let stages = |route: &crate::config::Route| route.forward.len() + route.backward.len();
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
