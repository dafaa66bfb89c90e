//! Takes the run's readings at their instants: the ends of batches, and samples when due.

use crate::config::Config;
use crate::fast::flow_kind::{FlowKind, dispatch_kind};
use crate::flow::Flow;
use crate::flow::flows::Flows;
use crate::link::Link;
use crate::meters::histogram::Histogram;
use crate::meters::report::{ClassBatch, LinkReport, Report};
use crate::network::Network;
use crate::run::sampling::Sampler;
use crate::time::Picos;
use std::ops::Range;

pub(crate) struct Readings<'a> {
    config: &'a Config,
    /// The next instant at which something is read.
    pub(crate) next_at: Picos,
    next_batch_end: Picos,
    batches_done: u32,
    totals: Vec<ClassBatch>,
    classes: Vec<Vec<ClassBatch>>,
    flows_at_start: Vec<u64>,
    packets_at_start: Vec<(u64, u64)>,
    sampler: Sampler<'a>,
}

impl<'a> Readings<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        Self {
            config,
            next_at: config.warmup,
            next_batch_end: config.warmup,
            batches_done: 0,
            totals: vec![ClassBatch::default(); config.profiles.len()],
            classes: Vec::new(),
            flows_at_start: Vec::new(),
            packets_at_start: Vec::new(),
            sampler: Sampler::new(config),
        }
    }

    /// Takes what is due up to `now`; true once the measured window is over.
    #[cold]
    pub(crate) fn take(&mut self, network: &mut Network, flows: &Flows, now: Picos) -> bool {
        while self.next_at <= now && self.batches_done <= self.config.batches {
            if self.sampler.next_at < self.next_batch_end {
                self.sampler.sample(network, flows);
            } else {
                self.end_batch(network, flows);
            }
            self.next_at = self.next_batch_end.min(self.sampler.next_at);
        }
        self.batches_done > self.config.batches
    }

    fn end_batch(&mut self, network: &mut Network, flows: &Flows) {
        network.links.iter_mut().for_each(|link| link.end_batch(self.next_batch_end));
        network.early_deliveries.leave(self.next_batch_end);
        let totals = class_totals(network, flows);
        if self.batches_done == 0 {
            let detailed = self.sampler.details_links();
            network.links.iter_mut().for_each(|link| link.begin(detailed));
            self.sampler.begin(flows);
            network.rtt.iter_mut().for_each(|rtt| *rtt = Histogram::default());
            self.flows_at_start = received_bytes(network, flows);
            self.packets_at_start = decided_packets(network, flows);
        } else {
            self.classes.push(totals.iter().zip(&self.totals).map(difference).collect());
        }
        if self.batches_done == self.config.batches {
            network.links.iter_mut().for_each(|link| link.meter.end());
        }
        self.totals = totals;
        self.batches_done += 1;
        let share = u128::from(self.config.window) * u128::from(self.batches_done);
        self.next_batch_end =
            self.config.warmup + (share / u128::from(self.config.batches)) as Picos;
        network.early_deliveries.next_batch_end = self.next_batch_end;
    }

    pub(crate) fn finish(self, mut network: Network, flows: &Flows, events: u64) -> Report {
        // In an order that does not depend on which part of the network counted them.
        network.completions.iter_mut().for_each(|ended| ended.sort_unstable());
        let ends = received_bytes(&network, flows);
        let received = (&self.flows_at_start[..], &ends[..]);
        let recorder = network.flow_recorder.take();
        let flow_records =
            recorder.map(|recorder| recorder.finish(self.config, flows.iter(), received));
        let window = self.config.warmup..self.config.warmup + self.config.window;
        let unfinished = under_way(&network, flows, &window);
        network.requests.iter_mut().for_each(|ended| ended.sort_unstable());
        let unfinished_requests = requests_under_way(&network, &window);
        let requests = network.requests.iter().map(|ended| times_within(&window, ended.clone()));
        let requests = requests.collect();
        let packets = decided_packets(&network, flows);
        let since = |(end, start): (&(u64, u64), (u64, u64))| (end.0 - start.0, end.1 - start.1);
        let completions = network.completions.into_iter();
        let links = network.links.into_iter();
        Report {
            flow_records,
            flow_bytes: ends
                .into_iter()
                .zip(self.flows_at_start)
                .map(|(end, start)| end - start)
                .collect(),
            flow_packets: packets.iter().zip(self.packets_at_start).map(since).collect(),
            completions: completions.map(|ended| times_within(&window, ended)).collect(),
            unfinished,
            requests,
            unfinished_requests,
            links: links.zip(network.paths.classes).map(read_link).collect(),
            classes: self.classes,
            rtt: network.rtt,
            trace: self.sampler.finish(),
            capture: network.recorder.map(|recorder| recorder.finish()),
            packet_log: network.packet_log.map(|log| log.finish()),
            packets: packets.iter().map(|&(_, passed)| passed).sum(),
            events,
        }
    }
}

fn read_link((link, classes): (Link, Vec<u16>)) -> LinkReport {
    LinkReport { classes, ..link.meter.into() }
}

impl From<crate::meters::link::LinkMeter> for LinkReport {
    fn from(mut meter: crate::meters::link::LinkMeter) -> Self {
        Self {
            queue_bin_width: meter.bin_width(),
            delay: std::mem::take(&mut meter.delay),
            longest: meter.longest,
            delays: meter.take_delays(),
            held_at_first: meter.held_at_first,
            detail: meter.detail.take(),
            classes: (0..meter.classes().len() as u16).collect(),
            batches: meter.into_batches(),
        }
    }
}

/// How long those took that began and ended in the window, in the order given, that of completion.
fn times_within(window: &Range<Picos>, mut ended: Vec<(Picos, Picos)>) -> Vec<Picos> {
    ended.retain(|&(at, took)| window.contains(&at) && window.contains(&(at - took)));
    ended.into_iter().map(|(_, took)| took).collect()
}

/// How long those transfers had taken, by class, that had begun and not ended when the window did.
fn under_way(network: &Network, flows: &Flows, window: &Range<Picos>) -> Vec<Vec<Picos>> {
    let config = network.traffic.config;
    let mut ages = vec![Vec::new(); config.profiles.len()];
    for flow in flows.iter() {
        if flow.transfers(config) && flow.start(config) < window.end {
            ages[network.class(flow)].push(window.end - flow.start(config));
        }
    }
    add_late(&mut ages, &network.completions, window);
    ages
}

/// The same of requests.
fn requests_under_way(network: &Network, window: &Range<Picos>) -> Vec<Vec<Picos>> {
    let mut ages = vec![Vec::new(); network.traffic.config.profiles.len()];
    for (flow, asked) in network.barriers.open() {
        if asked < window.end {
            ages[network.traffic.class(flow)].push(window.end - asked);
        }
    }
    add_late(&mut ages, &network.requests, window);
    ages
}

/// Adds those of which it is known that they end after the window, and that began before.
fn add_late(ages: &mut [Vec<Picos>], ended: &[Vec<(Picos, Picos)>], window: &Range<Picos>) {
    for (ages, ended) in ages.iter_mut().zip(ended) {
        let begun = |&(at, took): &(Picos, Picos)| at >= window.end && at - took < window.end;
        let late = ended.iter().filter(|ended| begun(ended));
        ages.extend(late.map(|&(at, took)| window.end + took - at));
    }
}

/// Data packets of each flow that queues dropped, and that last queues send.
fn decided_packets(network: &Network, flows: &Flows) -> Vec<(u64, u64)> {
    let pass = |flow: usize| flows.get(flow).map_or(network.passed[flow], |it| passed(network, it));
    let delivered = flows.delivered().enumerate();
    delivered.map(|(flow, each)| (each.drops.into(), pass(flow))).collect()
}

/// Data packets of a flow of which it is known when they leave, or have left, the last forward queue. With few
/// instructions for a packet, what was sent is counted, and what did not get so far.
fn passed(network: &Network, flow: &Flow) -> u64 {
    let link = &network.traffic.config.links[network.paths.unpack(flow.first_hop).link as usize];
    let is_fast = dispatch_kind!(flow.ack_event(), K => K::FAST_PATH);
    if is_fast && !link.queue.decides_at_dequeue() {
        flow.counts().sent - flow.access.waiting() as u64 - u64::from(flow.route.drops)
    } else {
        network.passed[flow.index() as usize]
    }
}

/// Bytes that each flow's receiver had counted at the end of the last batch.
fn received_bytes(network: &Network, flows: &Flows) -> Vec<u64> {
    let mut bytes: Vec<u64> = flows.delivered().map(|each| each.bytes).collect();
    for later in &network.early_deliveries.deliveries {
        bytes[later.flow as usize] -= later.bytes;
    }
    bytes
}

fn class_totals(network: &Network, flows: &Flows) -> Vec<ClassBatch> {
    let mut totals = network.freed.clone();
    for flow in flows.iter() {
        flow_totals(network, flow, &mut totals[network.class(flow)]);
    }
    for later in &network.early_deliveries.deliveries {
        let total = &mut totals[network.traffic.class(later.flow)];
        total.delivered_segments -= later.segments;
        total.delivered_bytes -= later.bytes;
    }
    totals
}

/// Adds what a flow has counted.
pub(crate) fn flow_totals(network: &Network, flow: &Flow, total: &mut ClassBatch) {
    let counts = flow.counts();
    total.add(&ClassBatch {
        sent_segments: counts.sent,
        drops: flow.route.drops.into(),
        passed: passed(network, flow),
        delivered_segments: counts.received,
        delivered_bytes: counts.received_bytes,
        timeouts: counts.timeouts,
        retransmissions: counts.retransmissions,
    });
}

fn difference((end, start): (&ClassBatch, &ClassBatch)) -> ClassBatch {
    ClassBatch {
        sent_segments: end.sent_segments - start.sent_segments,
        drops: end.drops - start.drops,
        passed: end.passed - start.passed,
        delivered_segments: end.delivered_segments - start.delivered_segments,
        delivered_bytes: end.delivered_bytes - start.delivered_bytes,
        timeouts: end.timeouts - start.timeouts,
        retransmissions: end.retransmissions - start.retransmissions,
    }
}
