//! The driver's result: the merged readings of both sides.

use super::counters::{Counters, Counts};
use super::drive_plan::{DrivePlan, Side, Source};
use super::emitter::Emitted;
use super::reading::HostReadings;
use forebay_sim::meters::histogram::Histogram;
use forebay_sim::meters::trace::Trace;
use forebay_sim::time::Picos;

/// Datagrams of one flow that were sent in the window, early enough to arrive before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The flow.
    pub flow: u32,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams of these that arrived.
    pub received: u64,
}

/// Endpoints' readings of the measured window. Readings of the router (drops, queues) are
/// separate.
#[derive(Default)]
pub struct DriveReadings {
    /// Data packets sent; by batch, then class.
    pub sent: Vec<Vec<u64>>,
    /// Bytes on the link of segments received in order; by batch, then class.
    pub delivered_bytes: Vec<Vec<u64>>,
    /// Retransmission timeouts; by batch, then class.
    pub timeouts: Vec<Vec<u64>>,
    /// Segments sent again; by batch, then class.
    pub retransmissions: Vec<Vec<u64>>,
    /// `delivered_bytes` of each flow over the window.
    pub flow_bytes: Vec<u64>,
    /// Completion times of transfers that began and ended in the window, by class: from the first byte
    /// that the sender's kernel was given to the last one at the receiver.
    pub completions: Vec<Vec<Picos>>,
    /// Ages of transfers that had not ended at the window's end, by class.
    pub unfinished: Vec<Vec<Picos>>,
    /// Open-loop flows.
    pub streams: Vec<Stream>,
    /// Samples at the plan's steps in the window; `queue` and `drops` are empty, and
    /// `flows`, `windows` and `reductions` too without a trace.
    pub trace: Trace,
    /// Share of the senders' time limited by the receiver's window, except in classes with a
    /// `max_window`.
    pub rwnd_limited: f64,
    /// Share of the senders' time limited by their send buffers.
    pub sndbuf_limited: f64,
    /// Duplicate SACKs received.
    pub dsacks: u64,
    /// Connections that ended before all their data had arrived.
    pub failures: u64,
    /// Datagrams that the kernel did not accept.
    pub refused: u64,
    /// Lateness of sending datagrams.
    pub lateness: Histogram,
    /// CPU time of both sides' threads over the window.
    pub cpu: f64,
}

/// Both sides' readings.
pub(super) struct Sides {
    /// In the order of `Side`.
    pub(super) hosts: [HostReadings; 2],
    /// What each side with open-loop flows emitted, in the order of `Side`.
    pub(super) emitted: Vec<Emitted>,
}

impl Sides {
    pub(super) fn join(mut self, drive_plan: &DrivePlan) -> DriveReadings {
        let (over, totals) = (self.window(drive_plan), self.batches(drive_plan));
        let busy = |of: fn(&Counts) -> u64, limits: bool| {
            let free = |nth: &usize| limits || drive_plan.classes[*nth].max_window.is_none();
            let classes = (0..over.len()).filter(free);
            classes.map(|nth| of(&over[nth])).sum::<u64>() as f64
        };
        let of = |read: fn(&Counts) -> u64| -> Vec<Vec<u64>> {
            totals.iter().map(|row| row.iter().map(read).collect()).collect()
        };
        DriveReadings {
            sent: of(|counts| counts.sent),
            delivered_bytes: of(|counts| counts.delivered),
            timeouts: of(|counts| counts.timeouts),
            retransmissions: of(|counts| counts.retransmissions),
            flow_bytes: self.flow_bytes(),
            rwnd_limited: share(busy(|counts| counts.rwnd_limited, false), busy(|c| c.busy, false)),
            sndbuf_limited: share(busy(|c| c.sndbuf_limited, true), busy(|c| c.busy, true)),
            dsacks: over.iter().map(|counts| counts.dsacks).sum(),
            failures: self.hosts.iter().map(|host| host.failures).sum(),
            cpu: self.cpu(drive_plan),
            refused: self.emitted.iter().map(|emitted| emitted.refused).sum(),
            lateness: self
                .emitted
                .iter()
                .fold(Histogram::default(), |all, emitted| merge(all, &emitted.lateness)),
            streams: self.streams(drive_plan),
            completions: self.of_sinks(drive_plan, |counters| &mut counters.completions),
            unfinished: self.of_sinks(drive_plan, |counters| &mut counters.unfinished),
            trace: self.trace(drive_plan),
        }
    }

    /// By batch, then class.
    fn batches(&self, drive_plan: &DrivePlan) -> Vec<Vec<Counts>> {
        let cuts = self.hosts.iter().map(|host| host.counters.cuts.len()).min().unwrap_or(0);
        let classes = drive_plan.classes.len();
        (1..cuts)
            .map(|cut| (0..classes).map(|nth| self.between(cut - 1, cut, nth)).collect())
            .collect()
    }

    /// By class, from the first batch boundary to the last.
    fn window(&self, drive_plan: &DrivePlan) -> Vec<Counts> {
        let cuts = self.hosts.iter().map(|host| host.counters.cuts.len()).min().unwrap_or(0);
        let last = cuts.saturating_sub(1);
        (0..drive_plan.classes.len()).map(|class| self.between(0, last, class)).collect()
    }

    fn between(&self, from: usize, to: usize, class: usize) -> Counts {
        let mut sum = Counts::default();
        for cuts in self.hosts.iter().map(|host| &host.counters.cuts) {
            if let (Some(from), Some(to)) = (cuts.get(from), cuts.get(to)) {
                sum.add(&to[class].since(&from[class]));
            }
        }
        for batch in self.emitted.iter().flat_map(|emitted| emitted.sent.get(from..to)).flatten() {
            sum.sent += batch[class];
        }
        sum
    }

    fn cpu(&self, drive_plan: &DrivePlan) -> f64 {
        let time: Picos = self.hosts.iter().map(|host| host.cpu).sum();
        time as f64 / (drive_plan.cuts[drive_plan.cuts.len() - 1] - drive_plan.cuts[0]) as f64
    }

    fn flow_bytes(&self) -> Vec<u64> {
        let [left, right] = self.hosts.each_ref().map(|host| {
            let [begin, end] = &host.counters.bytes;
            end.iter().zip(begin).map(|(end, begin)| end - begin).collect::<Vec<_>>()
        });
        left.iter().zip(&right).map(|(left, right)| left + right).collect()
    }

    fn streams(&self, drive_plan: &DrivePlan) -> Vec<Stream> {
        let stream = |(flow, spec): (u32, &super::drive_plan::Flow)| {
            matches!(spec.source, Source::Packets(..)).then(|| {
                let at = flow as usize;
                let sent = self.emitted.iter().map(|emitted| emitted.judged[at]).sum();
                let received = self.hosts.iter().map(|host| host.received[at]).sum();
                Stream { flow, sent, received }
            })
        };
        (0..).zip(&drive_plan.flows).filter_map(stream).collect()
    }

    /// A class's sinks are all on one side, and so are its senders.
    fn of_sinks(
        &mut self,
        drive_plan: &DrivePlan,
        read: fn(&mut Counters) -> &mut Vec<Vec<Picos>>,
    ) -> Vec<Vec<Picos>> {
        let take = |(nth, class): (usize, &super::drive_plan::Class)| {
            let sinks = &mut self.hosts[class.from.other() as usize].counters;
            std::mem::take(&mut read(sinks)[nth])
        };
        drive_plan.classes.iter().enumerate().map(take).collect()
    }

    fn trace(self, drive_plan: &DrivePlan) -> Trace {
        let [left, right] = self.hosts.map(|host| host.trace);
        let samples = left.at.len().min(right.at.len());
        let from = |flow: u32| drive_plan.from(flow) == Side::Left;
        let mut reductions = [left.reductions, right.reductions].concat();
        reductions.sort_by_key(|incident| (incident.at, incident.flow));
        let flows = drive_plan.traced.iter().zip(left.flows.into_iter().zip(right.flows));
        let windows = (0..).zip(left.windows.into_iter().zip(right.windows));
        Trace {
            at: left.at[..samples].to_vec(),
            window_sum: left.window_sum.iter().zip(&right.window_sum).map(|(l, r)| l + r).collect(),
            in_avoidance: left
                .in_avoidance
                .iter()
                .zip(&right.in_avoidance)
                .map(|(l, r)| l + r)
                .collect(),
            flows: flows.map(|(&flow, (l, r))| if from(flow) { l } else { r }).collect(),
            windows: windows.map(|(flow, (l, r))| if from(flow) { l } else { r }).collect(),
            reductions,
            ..Trace::default()
        }
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn merge(mut into: Histogram, from: &Histogram) -> Histogram {
    for (&count, &edge) in from.counts().iter().zip(&from.edges()) {
        (0..count).for_each(|_| into.record(edge));
    }
    into
}
