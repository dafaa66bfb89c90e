//! Takes the run's readings at their instants: cuts between batches, samples of the trace.

use crate::cc::Phase;
use crate::config::Config;
use crate::flow::Flow;
use crate::probe::histogram::Histogram;
use crate::probe::trace::{FlowTrace, Trace};
use crate::report::{ClassBatch, LinkReport, Report};
use crate::simulation::Simulation;
use crate::time::{NEVER, Picos};

pub(crate) struct Readings<'a> {
    config: &'a Config,
    /// The next instant at which something is read.
    pub(crate) next_at: Picos,
    next_cut: Picos,
    next_sample: Picos,
    cuts: u32,
    totals: Vec<ClassBatch>,
    classes: Vec<Vec<ClassBatch>>,
    flows_at_start: Vec<u64>,
    trace: Option<Trace>,
}

impl<'a> Readings<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        let trace = config.trace.as_ref().map(|spec| Trace {
            queue: vec![Vec::new(); config.links.len()],
            flows: vec![FlowTrace::default(); spec.flows.len()],
            ..Trace::default()
        });
        Self {
            config,
            next_at: config.warmup,
            next_cut: config.warmup,
            next_sample: if trace.is_some() { config.warmup } else { NEVER },
            cuts: 0,
            totals: vec![ClassBatch::default(); config.profiles.len()],
            classes: Vec::new(),
            flows_at_start: Vec::new(),
            trace,
        }
    }

    /// Takes what is due up to `now`; true once the measured window is over.
    #[cold]
    pub(crate) fn take(&mut self, simulation: &mut Simulation, now: Picos) -> bool {
        while self.next_at <= now && self.cuts <= self.config.batches {
            if self.next_sample < self.next_cut {
                self.sample(simulation);
            } else {
                self.cut(simulation);
            }
            self.next_at = self.next_cut.min(self.next_sample);
        }
        self.cuts > self.config.batches
    }

    fn cut(&mut self, simulation: &mut Simulation) {
        simulation.network.links.iter_mut().for_each(|link| link.cut(self.next_cut));
        let totals = class_totals(simulation);
        if self.cuts == 0 {
            simulation.network.links.iter_mut().for_each(|link| link.meter.begin());
            simulation.network.rtt.iter_mut().for_each(|rtt| *rtt = Histogram::default());
            simulation.network.completions.iter_mut().for_each(Vec::clear);
            self.flows_at_start = simulation.flows.iter().map(received_bytes).collect();
        } else {
            self.classes.push(totals.iter().zip(&self.totals).map(difference).collect());
        }
        self.totals = totals;
        self.cuts += 1;
        let share = u128::from(self.config.window) * u128::from(self.cuts);
        self.next_cut = self.config.warmup + (share / u128::from(self.config.batches)) as Picos;
    }

    fn sample(&mut self, simulation: &mut Simulation) {
        let (Some(trace), Some(spec)) = (&mut self.trace, &self.config.trace) else { return };
        let now = self.next_sample;
        trace.at.push(now);
        for (samples, link) in trace.queue.iter_mut().zip(&mut simulation.network.links) {
            samples.push(link.waiting(now) as u32);
        }
        if spec.window_sum {
            let begun = || simulation.flows.iter().filter(|flow| flow.sender.snd_max > 0);
            trace.window_sum.push(begun().map(|flow| flow.sender.window.cwnd).sum());
            trace.in_avoidance.push(begun().filter(|flow| in_avoidance(flow)).count() as u32);
        }
        for (samples, &index) in trace.flows.iter_mut().zip(&spec.flows) {
            let sender = &simulation.flows[index as usize].sender;
            samples.cwnd.push(sender.window.cwnd);
            samples.srtt.push(sender.rtt.srtt);
            samples.phase.push(sender.phase);
        }
        self.next_sample += spec.step;
    }

    pub(crate) fn finish(self, simulation: Simulation, events: u64) -> Report {
        let starts = self.flows_at_start.iter();
        let ends = simulation.flows.iter().map(received_bytes);
        Report {
            flow_bytes: ends.zip(starts).map(|(end, start)| end - start).collect(),
            links: simulation.network.links.into_iter().map(|link| link.meter.into()).collect(),
            classes: self.classes,
            rtt: simulation.network.rtt,
            completions: simulation.network.completions,
            trace: self.trace,
            packets: simulation.network.packets,
            events,
        }
    }
}

impl From<crate::probe::link::LinkMeter> for LinkReport {
    fn from(meter: crate::probe::link::LinkMeter) -> Self {
        Self { queue_bin_width: meter.bin_width(), batches: meter.batches, delay: meter.delay }
    }
}

fn in_avoidance(flow: &Flow) -> bool {
    flow.sender.phase == Phase::Open && !flow.sender.window.in_slow_start()
}

fn received_bytes(flow: &Flow) -> u64 {
    flow.counts().received_bytes
}

fn class_totals(simulation: &Simulation) -> Vec<ClassBatch> {
    let mut totals = vec![ClassBatch::default(); simulation.network.config.profiles.len()];
    for flow in &simulation.flows {
        let total = &mut totals[flow.class as usize];
        let counts = flow.counts();
        total.sent_segments += counts.sent;
        total.drops += flow.drops;
        total.delivered_segments += counts.received;
        total.delivered_bytes += counts.received_bytes;
        total.timeouts += counts.timeouts;
        total.retransmissions += counts.retransmissions;
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
