//! What a side reads at its times, and what it gives at the end.

use super::agenda::Task;
use super::host::{COLLECTS, Host, refused};
use super::sending::Stage;
use super::tally::{Counts, Tally};
use super::tcp_info::TcpInfo;
use crate::failure::Failure;
use forebay_sim::probe::histogram::Histogram;
use forebay_sim::probe::trace::Trace;
use forebay_sim::time::Picos;
use rustix::time::{ClockId, clock_gettime};

/// One side's readings.
pub(super) struct HostReadings {
    pub(super) tally: Tally,
    pub(super) trace: Trace,
    pub(super) rtt: Vec<Histogram>,
    /// By flow: datagrams that arrived of those that `Script::judges`.
    pub(super) received: Vec<u64>,
    pub(super) failures: u64,
    /// Processor time of the thread in the window.
    pub(super) cpu: Picos,
}

impl Host {
    /// Ends a batch.
    pub(super) fn cut(&mut self) -> Result<(), Failure> {
        self.mailbox.collect(&self.script, &mut self.tally).map_err(refused)?;
        let first = self.tally.cuts.is_empty();
        let mut live = Vec::new();
        for sending in self.senders.iter_mut().filter(|one| one.stage != Stage::Connecting) {
            let info = TcpInfo::of(&sending.socket).map_err(refused)?;
            let class = self.script.flows[sending.flow as usize].class;
            live.push((class, sending.flow, Counts::of_sender(&info, &sending.base)));
            if first {
                sending.seen = info;
            }
        }
        for sink in self.sinks.iter() {
            let class = self.script.flows[sink.flow as usize].class;
            live.push((class, sink.flow, self.delivered(sink)?));
        }
        self.tally.cut(live.into_iter());
        if self.tally.over() {
            self.note_unfinished();
        }
        self.cpu[usize::from(!first)] = thread_time();
        Ok(())
    }

    /// The window has ended: what is on its way to this side has not.
    fn note_unfinished(&mut self) {
        let end = self.script.cuts[self.script.cuts.len() - 1];
        for (flow, spec) in (0..).zip(&self.script.flows) {
            let from = self.script.classes[usize::from(spec.class)].from;
            if from != self.side
                && let Some(after) = self.script.under_way(flow, end)
            {
                self.tally.unfinished[usize::from(spec.class)].push(after);
            }
        }
    }

    /// Takes the sample that was due at `at`.
    pub(super) fn sample(&mut self, at: Picos) -> Result<(), Failure> {
        if self.tally.over() {
            return Ok(());
        }
        self.sampler.begin(at);
        for sending in self.senders.iter_mut().filter(|one| one.stage != Stage::Connecting) {
            let info = TcpInfo::of(&sending.socket).map_err(refused)?;
            let class = self.script.flows[sending.flow as usize].class;
            self.sampler.take(class, sending.flow, &sending.seen, &info);
            sending.seen = info;
        }
        let next = at.saturating_add(self.script.step);
        if self.script.cuts.last().is_some_and(|&end| next < end) {
            self.agenda.put(next, Task::Sample);
        }
        Ok(())
    }

    /// Takes the datagrams that have arrived, and will again.
    pub(super) fn collect(&mut self, at: Picos) -> Result<(), Failure> {
        self.mailbox.collect(&self.script, &mut self.tally).map_err(refused)?;
        self.agenda.put(self.clock.now_ps().max(at) + COLLECTS, Task::Collect);
        Ok(())
    }

    /// Ends every connection, and gives what it has read.
    pub(super) fn finish(self) -> HostReadings {
        let (trace, rtt) = self.sampler.finish();
        HostReadings {
            trace,
            rtt,
            received: self.mailbox.received,
            failures: self.failures,
            cpu: self.cpu[1].saturating_sub(self.cpu[0]),
            tally: self.tally,
        }
    }
}

fn thread_time() -> Picos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    (time.tv_sec as Picos * 1_000_000_000 + time.tv_nsec as Picos) * 1_000
}
