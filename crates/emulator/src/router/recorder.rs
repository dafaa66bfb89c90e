//! The router's own readings: batches, and samples.

use super::stall_drops::StallDrops;
use crate::plan::Plan;
use forebay_sim::link::Link;
use forebay_sim::meters::histogram::Histogram;
use forebay_sim::meters::trace::EventCount;
use forebay_sim::report::LinkReport;
use forebay_sim::time::{NEVER, Picos};

/// Data packets of a class.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Sent.
    pub sent: u64,
    /// Dropped by queues.
    pub drops: u64,
    /// Passed: their departure from the last queue is known.
    pub passed: u64,
}

/// Samples through the window.
pub struct QueueTrace {
    /// Times.
    pub at: Vec<Picos>,
    /// Packets waiting, for each link.
    pub queue: Vec<Vec<u32>>,
    /// Data packets dropped since the previous sample.
    pub drops: Vec<EventCount>,
}

/// Readings of the router.
pub struct RouterReadings {
    /// The plan's links.
    pub links: Vec<LinkReport>,
    /// By batch, then class.
    pub classes: Vec<Vec<Counts>>,
    /// Of each flow in the window, without sent packets.
    pub flows: Vec<Counts>,
    /// Round trips that senders measured in the window, by class.
    pub rtt: Vec<Histogram>,
    /// Trace, if requested.
    pub trace: Option<QueueTrace>,
    /// Data packets that left last links since the run began.
    pub packets: u64,
    /// Events since the run began.
    pub events: u64,
    /// Packets that belong to no flow.
    pub unmatched: u64,
    /// Data packets dropped in the window soon after a stall of the machine.
    pub stall_drops: u64,
}

/// Counts of each batch, and samples of the queues.
pub struct Recorder {
    /// Time of the next reading; `NEVER` after the window.
    pub next_at: Picos,
    pub packets: u64,
    pub events: u64,
    pub unmatched: u64,
    /// Drops after stalls of the machine.
    pub stall_drops: StallDrops,
    warmup: Picos,
    window: Picos,
    batches: u32,
    /// The plan's links; others are not reported.
    links: usize,
    batches_done: u32,
    next_batch_end: Picos,
    next_sample: Picos,
    step: Picos,
    totals: Vec<Counts>,
    flows: Vec<Counts>,
    flows_at_first: Vec<Counts>,
    at_batch_ends: Vec<Vec<Counts>>,
    rtt: Vec<Histogram>,
    trace: Option<QueueTrace>,
    /// Flows whose packets were dropped since the last sample, one entry for each packet.
    dropped: Vec<u32>,
}

impl Recorder {
    pub fn new(plan: &Plan) -> Self {
        let links = plan.links.len();
        let step = plan.trace.as_ref().map(|trace| trace.step_ps);
        let trace =
            || QueueTrace { at: Vec::new(), queue: vec![Vec::new(); links], drops: Vec::new() };
        Self {
            next_at: plan.warmup_ps,
            packets: 0,
            events: 0,
            unmatched: 0,
            stall_drops: StallDrops::new(plan),
            warmup: plan.warmup_ps,
            window: plan.window_ps,
            batches: plan.batches,
            links,
            batches_done: 0,
            next_batch_end: plan.warmup_ps,
            next_sample: step.map_or(NEVER, |_| plan.warmup_ps),
            step: step.unwrap_or(NEVER),
            totals: vec![Counts::default(); plan.classes.len()],
            flows: vec![Counts::default(); plan.flows.len()],
            flows_at_first: Vec::new(),
            at_batch_ends: Vec::new(),
            rtt: vec![Histogram::default(); plan.classes.len()],
            trace: step.map(|_| trace()),
            dropped: Vec::new(),
        }
    }

    /// A sender has sent a data packet.
    #[inline]
    pub fn sent(&mut self, class: u16) {
        self.totals[class as usize].sent += 1;
    }

    /// A queue has dropped a data packet at `now`.
    pub fn dropped(&mut self, now: Picos, class: u16, flow: u32) {
        self.totals[class as usize].drops += 1;
        if self.measuring() {
            self.stall_drops.dropped(now);
        }
        if !self.finished() {
            self.flows[flow as usize].drops += 1;
        }
        if self.trace.is_some() && self.batches_done > 0 {
            self.dropped.push(flow);
        }
    }

    /// The departure of a data packet from its last queue is known.
    #[inline]
    pub fn passed(&mut self, class: u16, flow: u32) {
        self.packets += 1;
        self.totals[class as usize].passed += 1;
        if !self.finished() {
            self.flows[flow as usize].passed += 1;
        }
    }

    /// A sender has measured a round trip.
    #[inline]
    pub fn measured(&mut self, class: u16, rtt: Picos) {
        if self.measuring() {
            self.rtt[class as usize].record(rtt);
        }
    }

    /// Whether the measured window has begun and is not over.
    #[inline]
    pub fn measuring(&self) -> bool {
        self.batches_done > 0 && !self.finished()
    }

    /// Whether the measured window is over.
    #[inline]
    pub fn finished(&self) -> bool {
        self.batches_done > self.batches
    }

    /// Takes the readings that are due by `now`.
    #[cold]
    pub fn take(&mut self, now: Picos, links: &mut [Link]) {
        while self.next_at <= now {
            if self.next_sample < self.next_batch_end {
                self.sample(links);
            } else {
                self.end_batch(links);
            }
            self.next_at = match self.finished() {
                true => NEVER,
                false => self.next_batch_end.min(self.next_sample),
            };
        }
    }

    fn end_batch(&mut self, links: &mut [Link]) {
        links.iter_mut().for_each(|link| link.end_batch(self.next_batch_end));
        if self.batches_done == 0 {
            self.flows_at_first.clone_from(&self.flows);
            links.iter_mut().for_each(|link| link.begin(self.trace.is_some()));
        }
        if self.batches_done == self.batches {
            links.iter_mut().for_each(|link| link.meter.end());
        }
        self.at_batch_ends.push(self.totals.clone());
        self.batches_done += 1;
        let share = u128::from(self.window) * u128::from(self.batches_done);
        self.next_batch_end = self.warmup + (share / u128::from(self.batches)) as Picos;
    }

    fn sample(&mut self, links: &mut [Link]) {
        let (now, dropped) = (self.next_sample, &mut self.dropped);
        self.next_sample = now.saturating_add(self.step);
        let Some(trace) = &mut self.trace else { return };
        trace.at.push(now);
        for (samples, link) in trace.queue.iter_mut().zip(links) {
            samples.push(link.waiting(now) as u32);
        }
        dropped.sort_unstable();
        let incident =
            |flow: &[u32]| EventCount { at: now, flow: flow[0], count: flow.len() as u32 };
        trace.drops.extend(dropped.chunk_by(|a, b| a == b).map(incident));
        dropped.clear();
    }

    pub fn finish(self, links: impl IntoIterator<Item = Link>) -> RouterReadings {
        let batch = |tun_ports: &[Vec<Counts>]| {
            let pairs = tun_ports[0].iter().zip(&tun_ports[1]);
            pairs.map(since).collect()
        };
        let flows = self.flows_at_first.iter().zip(&self.flows).map(since).collect();
        RouterReadings {
            links: links.into_iter().take(self.links).map(|link| link.meter.into()).collect(),
            flows,
            rtt: self.rtt,
            classes: self.at_batch_ends.windows(2).map(batch).collect(),
            trace: self.trace,
            packets: self.packets,
            events: self.events,
            unmatched: self.unmatched,
            stall_drops: self.stall_drops.drops(),
        }
    }
}

fn since((from, to): (&Counts, &Counts)) -> Counts {
    Counts {
        sent: to.sent - from.sent,
        drops: to.drops - from.drops,
        passed: to.passed - from.passed,
    }
}
