//! Takes the run's readings at their instants: cuts between batches, and samples when due.

use crate::config::Config;
use crate::probe::histogram::Histogram;
use crate::report::{ClassBatch, LinkReport, Report};
use crate::sampling::Sampler;
use crate::simulation::Simulation;
use crate::time::Picos;
use std::ops::Range;

pub(crate) struct Readings<'a> {
    config: &'a Config,
    /// The next instant at which something is read.
    pub(crate) next_at: Picos,
    next_cut: Picos,
    cuts: u32,
    totals: Vec<ClassBatch>,
    classes: Vec<Vec<ClassBatch>>,
    flows_at_start: Vec<u64>,
    sampler: Sampler<'a>,
}

impl<'a> Readings<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        Self {
            config,
            next_at: config.warmup,
            next_cut: config.warmup,
            cuts: 0,
            totals: vec![ClassBatch::default(); config.profiles.len()],
            classes: Vec::new(),
            flows_at_start: Vec::new(),
            sampler: Sampler::new(config),
        }
    }

    /// Takes what is due up to `now`; true once the measured window is over.
    #[cold]
    pub(crate) fn take(&mut self, simulation: &mut Simulation, now: Picos) -> bool {
        while self.next_at <= now && self.cuts <= self.config.batches {
            if self.sampler.next_at < self.next_cut {
                self.sampler.sample(simulation);
            } else {
                self.cut(simulation);
            }
            self.next_at = self.next_cut.min(self.sampler.next_at);
        }
        self.cuts > self.config.batches
    }

    fn cut(&mut self, simulation: &mut Simulation) {
        simulation.network.links.iter_mut().for_each(|link| link.cut(self.next_cut));
        simulation.network.underway.leave(self.next_cut);
        let totals = class_totals(simulation);
        if self.cuts == 0 {
            let detailed = self.sampler.details_links();
            simulation.network.links.iter_mut().for_each(|link| link.begin(detailed));
            self.sampler.begin(&simulation.flows);
            simulation.network.rtt.iter_mut().for_each(|rtt| *rtt = Histogram::default());
            self.flows_at_start = received_bytes(simulation);
        } else {
            self.classes.push(totals.iter().zip(&self.totals).map(difference).collect());
        }
        if self.cuts == self.config.batches {
            simulation.network.links.iter_mut().for_each(|link| link.meter.end());
        }
        self.totals = totals;
        self.cuts += 1;
        let share = u128::from(self.config.window) * u128::from(self.cuts);
        self.next_cut = self.config.warmup + (share / u128::from(self.config.batches)) as Picos;
        simulation.network.underway.next_cut = self.next_cut;
    }

    pub(crate) fn finish(self, simulation: Simulation, events: u64) -> Report {
        let ends = received_bytes(&simulation).into_iter();
        let window = self.config.warmup..self.config.warmup + self.config.window;
        let completions = simulation.network.completions.into_iter();
        Report {
            flow_bytes: ends.zip(self.flows_at_start).map(|(end, start)| end - start).collect(),
            completions: completions.map(|ended| times_within(&window, ended)).collect(),
            links: simulation.network.links.into_iter().map(|link| link.meter.into()).collect(),
            classes: self.classes,
            rtt: simulation.network.rtt,
            trace: self.sampler.finish(),
            packets: simulation.network.packets,
            events,
        }
    }
}

impl From<crate::probe::link::LinkMeter> for LinkReport {
    fn from(meter: crate::probe::link::LinkMeter) -> Self {
        Self {
            queue_bin_width: meter.bin_width(),
            batches: meter.batches,
            delay: meter.delay,
            detail: meter.detail,
        }
    }
}

/// How long those took that ended in the window, in order of completion.
fn times_within(window: &Range<Picos>, mut ended: Vec<(Picos, Picos)>) -> Vec<Picos> {
    ended.retain(|(at, _)| window.contains(at));
    ended.sort_by_key(|&(at, _)| at);
    ended.into_iter().map(|(_, took)| took).collect()
}

/// Bytes that each flow's receiver had counted at the last cut.
fn received_bytes(simulation: &Simulation) -> Vec<u64> {
    let counted = simulation.flows.iter().map(|flow| flow.counts().received_bytes);
    let mut bytes: Vec<u64> = counted.collect();
    for later in &simulation.network.underway.deliveries {
        bytes[later.flow as usize] -= later.bytes;
    }
    bytes
}

fn class_totals(simulation: &Simulation) -> Vec<ClassBatch> {
    let mut totals = vec![ClassBatch::default(); simulation.network.config.profiles.len()];
    for flow in &simulation.flows {
        let total = &mut totals[flow.class as usize];
        let counts = flow.counts();
        total.sent_segments += counts.sent;
        total.drops += u64::from(flow.drops);
        total.delivered_segments += counts.received;
        total.delivered_bytes += counts.received_bytes;
        total.timeouts += counts.timeouts;
        total.retransmissions += counts.retransmissions;
    }
    for later in &simulation.network.underway.deliveries {
        let total = &mut totals[simulation.flows[later.flow as usize].class as usize];
        total.delivered_segments -= later.segments;
        total.delivered_bytes -= later.bytes;
    }
    totals
}

fn difference((end, start): (&ClassBatch, &ClassBatch)) -> ClassBatch {
    ClassBatch {
        sent_segments: end.sent_segments - start.sent_segments,
        drops: end.drops - start.drops,
        delivered_segments: end.delivered_segments - start.delivered_segments,
        delivered_bytes: end.delivered_bytes - start.delivered_bytes,
        timeouts: end.timeouts - start.timeouts,
        retransmissions: end.retransmissions - start.retransmissions,
    }
}
