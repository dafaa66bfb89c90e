//! A side's periodic readings, and its result.

use super::counters::{Counters, Counts};
use super::host::{COLLECTS, Host, refused};
use super::sender::Stage;
use super::tcp_info::TcpInfo;
use super::timer_queue::Task;
use crate::failure::Failure;
use forebay_sim::meters::trace::Trace;
use forebay_sim::time::Picos;
use rustix::time::{ClockId, clock_gettime};

/// One side's readings.
pub(super) struct HostReadings {
    pub(super) counters: Counters,
    pub(super) trace: Trace,
    /// By flow: arrived datagrams that `DrivePlan::counts_in_window`.
    pub(super) received: Vec<u64>,
    pub(super) failures: u64,
    /// CPU time of the thread in the window.
    pub(super) cpu: Picos,
}

impl Host {
    /// Ends a batch.
    pub(super) fn cut(&mut self) -> Result<(), Failure> {
        self.udp_sink.collect(&self.drive_plan, &mut self.counters).map_err(refused)?;
        let first = self.counters.cuts.is_empty();
        let mut live = Vec::new();
        for sender in self.senders.iter_mut().filter(|one| one.stage != Stage::Connecting) {
            let info = TcpInfo::of(&sender.socket).map_err(refused)?;
            let class = self.drive_plan.flows[sender.flow as usize].class;
            live.push((class, sender.flow, Counts::of_sender(&info, &sender.base)));
            if first {
                sender.seen = info;
            }
        }
        for sink in self.sinks.iter() {
            let class = self.drive_plan.flows[sink.flow as usize].class;
            live.push((class, sink.flow, self.delivered(sink)?));
        }
        self.counters.cut(live.into_iter());
        if self.counters.over() {
            self.note_unfinished();
        }
        self.cpu[usize::from(!first)] = thread_time();
        Ok(())
    }

    /// Records the transfers to this side that are unfinished at the end of the window.
    fn note_unfinished(&mut self) {
        let end = self.drive_plan.cuts[self.drive_plan.cuts.len() - 1];
        for (flow, spec) in (0..).zip(&self.drive_plan.flows) {
            let from = self.drive_plan.classes[usize::from(spec.class)].from;
            if from != self.side
                && let Some(after) = self.drive_plan.under_way(flow, end)
            {
                self.counters.unfinished[usize::from(spec.class)].push(after);
            }
        }
    }

    /// Takes the sample that was due at `at`.
    pub(super) fn sample(&mut self, at: Picos) -> Result<(), Failure> {
        if self.counters.over() {
            return Ok(());
        }
        self.sampler.begin(at);
        for sender in self.senders.iter_mut().filter(|one| one.stage != Stage::Connecting) {
            let info = TcpInfo::of(&sender.socket).map_err(refused)?;
            self.sampler.take(sender.flow, &sender.seen, &info);
            sender.seen = info;
        }
        let next = at.saturating_add(self.drive_plan.step);
        if self.drive_plan.cuts.last().is_some_and(|&end| next < end) {
            self.timer_queue.put(next, Task::Sample);
        }
        Ok(())
    }

    /// Reads the datagrams that have arrived, and schedules the next time.
    pub(super) fn collect(&mut self, at: Picos) -> Result<(), Failure> {
        self.udp_sink.collect(&self.drive_plan, &mut self.counters).map_err(refused)?;
        self.timer_queue.put(self.clock.now_ps().max(at) + COLLECTS, Task::Collect);
        Ok(())
    }

    /// Ends every connection and returns the readings.
    pub(super) fn finish(self) -> HostReadings {
        HostReadings {
            trace: self.sampler.finish(),
            received: self.udp_sink.received,
            failures: self.failures,
            cpu: self.cpu[1].saturating_sub(self.cpu[0]),
            counters: self.counters,
        }
    }
}

fn thread_time() -> Picos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    (time.tv_sec as Picos * 1_000_000_000 + time.tv_nsec as Picos) * 1_000
}
