//! The run: a dumbbell's flows, its bottleneck, and the loop that moves them through time.

use crate::config::{Config, ConfigError};
use crate::events::{Node, Wheel};
use crate::flow::Flow;
use crate::link::{Link, Verdict};
use crate::probe::histogram::Histogram;
use crate::report::{ClassBatch, Report};
use crate::tcp::profile::Profile;
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

/// Event nodes of a flow: its next ACK, its timer, its access link, its pacer.
const NODES_PER_FLOW: u32 = 4;
const ACK: u32 = 0;
const TIMER: u32 = 1;
const ACCESS: u32 = 2;
const PACE: u32 = 3;

/// Events between two looks at `Control`.
const WATCH_INTERVAL: u64 = 4096;

struct Simulation<'a> {
    config: &'a Config,
    flows: Vec<Flow>,
    link: Link,
    wheel: Wheel,
    rtt: Vec<Histogram>,
    completions: Vec<Vec<Picos>>,
    packets: u64,
}

/// Runs `config` to its end. Gives `None` if `control` stopped it.
pub fn run(config: &Config, control: &Control) -> Result<Option<Report>, ConfigError> {
    config.check()?;
    Ok(Simulation::new(config).run(control))
}

impl<'a> Simulation<'a> {
    fn new(config: &'a Config) -> Self {
        let classes = config.profiles.len();
        let nodes = config.flows.len() * NODES_PER_FLOW as usize;
        let mut simulation = Self {
            config,
            flows: config.flows.iter().map(|spec| Flow::new(spec, config)).collect(),
            link: Link::new(config.rate_bps, config.queue, classes),
            wheel: Wheel::new(nodes, grain(config), horizon(config)),
            rtt: vec![Histogram::default(); classes],
            completions: vec![Vec::new(); classes],
            packets: 0,
        };
        for (index, flow) in simulation.flows.iter().enumerate() {
            simulation.wheel.insert(node(index, TIMER), flow.start);
        }
        simulation
    }

    fn run(mut self, control: &Control) -> Option<Report> {
        let mut readings = Readings::new(self.config);
        let mut events = 0_u64;
        while let Some((now, node)) = self.wheel.pop() {
            while now >= readings.next_cut {
                readings.cut(&mut self);
                if readings.done() {
                    return Some(readings.finish(self, events));
                }
            }
            if events % WATCH_INTERVAL == 0 && watch(control, now) {
                return None;
            }
            events += 1;
            self.handle(now, node);
        }
        // Every flow has ended before the window did: the rest of it is silence.
        while !readings.done() {
            readings.cut(&mut self);
        }
        Some(readings.finish(self, events))
    }

    #[inline]
    fn handle(&mut self, now: Picos, node: Node) {
        let index = (node / NODES_PER_FLOW) as usize;
        match node % NODES_PER_FLOW {
            ACK => self.on_ack(now, index),
            TIMER => self.on_timer(now, index),
            ACCESS => self.on_access(now, index),
            _ => self.transmit(now, index),
        }
    }

    #[inline]
    fn on_ack(&mut self, now: Picos, index: usize) {
        let flow = &mut self.flows[index];
        let ack = flow.receiver.acks.pop_front().expect("scheduled with an ACK in flight");
        let profile = &self.config.profiles[flow.class as usize];
        if let Some(rtt) = flow.sender.on_ack(now, ack, profile) {
            self.rtt[flow.class as usize].record(rtt);
        }
        self.transmit(now, index);
        let acks = &self.flows[index].receiver.acks;
        if let Some(next) = acks.front() {
            self.wheel.hasten(self::node(index, ACK), next.at);
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
            if sender.rto_at != NEVER {
                let at = sender.rto_at;
                self.wheel.insert(node(index, TIMER), at);
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
            self.wheel.insert(node(index, ACCESS), at);
        }
        self.arrive(now, index, seq);
    }

    /// Sends what the window of flow `index` lets go.
    #[inline]
    fn transmit(&mut self, now: Picos, index: usize) {
        let class = self.flows[index].class as usize;
        let profile: &Profile = &self.config.profiles[class];
        loop {
            if let Some(at) = self.flows[index].sender.paced_beyond(now) {
                self.wheel.hasten(node(index, PACE), at);
                break;
            }
            let Some(seq) = self.flows[index].sender.next_segment(now, profile) else { break };
            let flow = &mut self.flows[index];
            let at = flow.through_access(now);
            if at == now {
                self.arrive(now, index, seq);
                continue;
            }
            flow.in_access.push_back((at, seq));
            if flow.in_access.len() == 1 {
                self.wheel.insert(node(index, ACCESS), at);
            }
        }
        let rto_at = self.flows[index].sender.rto_at;
        if rto_at != NEVER {
            self.wheel.hasten(node(index, TIMER), rto_at);
        }
    }

    /// A packet of flow `index` reaches the queue.
    #[inline]
    fn arrive(&mut self, now: Picos, index: usize, seq: u64) {
        let flow = &mut self.flows[index];
        let Verdict::Departs(departs) = self.link.offer(now, flow.packet_bytes, flow.class) else {
            return;
        };
        self.packets += 1;
        let delay = self.config.profiles[flow.class as usize].delayed_ack;
        let before = flow.receiver.rcv_nxt;
        flow.receiver.on_segment(seq, departs + flow.loop_delay, false, delay);
        let first = flow.receiver.acks.front().expect("every segment is acknowledged");
        if flow.receiver.acks.len() == 1 {
            self.wheel.hasten(node(index, ACK), first.at);
        }
        if flow.receiver.rcv_nxt >= flow.sender.end && before < flow.sender.end {
            let completed = departs + flow.onward_delay - flow.start;
            self.completions[flow.class as usize].push(completed);
        }
    }
}

fn node(index: usize, kind: u32) -> Node {
    index as Node * NODES_PER_FLOW + kind
}

fn watch(control: &Control, now: Picos) -> bool {
    control.reached.store(now, Ordering::Relaxed);
    control.stop.load(Ordering::Relaxed)
}

/// Slots about half as wide as a packet takes on the bottleneck.
fn grain(config: &Config) -> Picos {
    let bytes = config.flows.iter().map(|flow| flow.packet_bytes).min().unwrap_or(1500);
    serialization(bytes, config.rate_bps) / 2
}

/// Far enough for round trips and nearly all retransmission timers.
fn horizon(config: &Config) -> Picos {
    let rtt = config.flows.iter().map(|flow| flow.rtt).max().unwrap_or(SECOND);
    (4 * rtt).max(SECOND)
}

/// Cuts the measured window into its batches.
struct Readings<'a> {
    config: &'a Config,
    next_cut: Picos,
    cuts: u32,
    totals: Vec<ClassBatch>,
    classes: Vec<Vec<ClassBatch>>,
    flows_at_start: Vec<u64>,
}

impl<'a> Readings<'a> {
    fn new(config: &'a Config) -> Self {
        Self {
            config,
            next_cut: config.warmup,
            cuts: 0,
            totals: vec![ClassBatch::default(); config.profiles.len()],
            classes: Vec::new(),
            flows_at_start: Vec::new(),
        }
    }

    fn done(&self) -> bool {
        self.cuts > self.config.batches
    }

    fn cut(&mut self, simulation: &mut Simulation) {
        simulation.link.cut(self.next_cut);
        let totals = class_totals(simulation);
        if self.cuts == 0 {
            simulation.link.meter.begin();
            simulation.rtt.iter_mut().for_each(|rtt| *rtt = Histogram::default());
            simulation.completions.iter_mut().for_each(Vec::clear);
            self.flows_at_start = simulation.flows.iter().map(received_bytes).collect();
        } else {
            self.classes.push(totals.iter().zip(&self.totals).map(difference).collect());
        }
        self.totals = totals;
        self.cuts += 1;
        let share = u128::from(self.config.window) * u128::from(self.cuts);
        self.next_cut = self.config.warmup + (share / u128::from(self.config.batches)) as Picos;
    }

    fn finish(self, simulation: Simulation, events: u64) -> Report {
        let starts = self.flows_at_start.iter();
        let ends = simulation.flows.iter().map(received_bytes);
        Report {
            queue_bin_width: simulation.link.meter.bin_width(),
            flow_bytes: ends.zip(starts).map(|(end, start)| end - start).collect(),
            link: simulation.link.meter.batches,
            delay: simulation.link.meter.delay,
            classes: self.classes,
            rtt: simulation.rtt,
            completions: simulation.completions,
            packets: simulation.packets,
            events,
        }
    }
}

fn received_bytes(flow: &Flow) -> u64 {
    flow.receiver.rcv_nxt * u64::from(flow.packet_bytes)
}

fn class_totals(simulation: &Simulation) -> Vec<ClassBatch> {
    let mut totals = vec![ClassBatch::default(); simulation.config.profiles.len()];
    for flow in &simulation.flows {
        let total = &mut totals[flow.class as usize];
        total.delivered_segments += flow.receiver.rcv_nxt;
        total.delivered_bytes += received_bytes(flow);
        total.timeouts += flow.sender.timeouts;
        total.retransmissions += flow.sender.retransmissions;
    }
    totals
}

fn difference((end, start): (&ClassBatch, &ClassBatch)) -> ClassBatch {
    ClassBatch {
        delivered_segments: end.delivered_segments - start.delivered_segments,
        delivered_bytes: end.delivered_bytes - start.delivered_bytes,
        timeouts: end.timeouts - start.timeouts,
        retransmissions: end.retransmissions - start.retransmissions,
    }
}
