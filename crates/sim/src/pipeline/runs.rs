//! Segments that follow each other and leave the access link back to back: as far as nothing else happens before, they
//! reach the queue and the receiver in one step.

use crate::fast::flow_kind::FlowKind;
use crate::flow::Flow;
use crate::network::Network;
use crate::packet::Payload;
use crate::time::{NEVER, Picos};

/// Fewer segments reach the queue one by one.
const LONG: u32 = 4;
/// So many at once.
const MOST: usize = 16;

/// Segments that follow each other and leave the access link back to back.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// When the first leaves it.
    pub(super) at: Picos,
    pub(super) seq: u64,
    pub(super) count: u32,
}

impl Run {
    /// Without the first so many.
    pub(super) fn after(self, passed: u32, packet_time: Picos) -> Self {
        Self {
            at: self.at + Picos::from(passed) * packet_time,
            seq: self.seq + u64::from(passed),
            count: self.count - passed,
        }
    }
}

impl Network<'_> {
    /// Segments of a flow over one queue leave its access link and reach that queue and the receiver: as many as do so before
    /// anything else happens. Gives how many have: none where one by one is faster, or the queue is to be asked for each.
    #[inline(always)]
    pub(super) fn enqueue_run<K: FlowKind>(&mut self, flow: &mut Flow, run: Run) -> u32 {
        let long = K::IN_RUNS && run.count >= LONG;
        if long { self.enqueue_long_run::<K>(flow, run) } else { 0 }
    }

    #[inline(never)]
    fn enqueue_long_run<K: FlowKind>(&mut self, flow: &mut Flow, run: Run) -> u32 {
        let at = (run.at, flow.access.packet_time);
        // What the receiver sends comes no sooner.
        let answered = (run.at + flow.ack_path.return_delay).min(flow.receiver.delack_deadline());
        let until = self.quiet_until().min(answered);
        let hop = self.paths.unpack(flow.first_hop);
        let mut departures = [NEVER; MOST];
        let room = departures.len().min(run.count as usize);
        let link = &mut self.links[hop.link as usize];
        let passed = link.enqueue_run(at, until, hop.class, &mut departures[..room]);
        self.receive_run::<K>(flow, run.seq, &departures[..passed]);
        passed as u32
    }

    /// Segments from `seq` on leave the last queue, in part: `NEVER` is one that was dropped.
    #[inline(always)]
    fn receive_run<K: FlowKind>(&mut self, flow: &mut Flow, seq: u64, departures: &[Picos]) {
        let (profile, delay) = (self.profile::<K>(flow), flow.ack_path.return_delay);
        // The batch counts them, and they are not the last of their transfer.
        let last = departures.iter().rev().find(|&&departs| departs < NEVER);
        let usual = last.is_some_and(|&last| last <= self.early_deliveries.next_batch_end)
            && seq + (departures.len() as u64) < flow.sender.app_limit;
        let mut seqs = seq..;
        let mut left = departures;
        while let (Some((&departs, rest)), Some(seq)) = (left.split_first(), seqs.next()) {
            left = rest;
            if departs == NEVER {
                flow.route.drops += 1;
                continue;
            }
            let first = departs + delay;
            if usual && flow.receiver.begins_pair(seq, first) {
                if let Some((&next, rest)) = left.split_first()
                    && next < NEVER
                    && let Some(ack) = flow.receiver.on_pair((first, next + delay), profile)
                {
                    self.wheel.insert(next + delay, flow.key, Payload::ack(ack, 0));
                    flow.ack_path.last_arrival = next + delay;
                    (left, _) = (rest, seqs.next());
                    continue;
                }
            } else if usual && flow.receiver.joins_compressed(seq, first) {
                continue;
            }
            self.receive_single::<K>(flow, departs, seq);
        }
    }

    #[inline(never)]
    fn receive_single<K: FlowKind>(&mut self, flow: &mut Flow, departs: Picos, seq: u64) {
        self.receive::<K>(flow, departs, Payload::data(seq, 0), self.profile::<K>(flow));
    }
}
