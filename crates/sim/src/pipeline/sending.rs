//! The segments that a flow's window lets it send, over its access link to the first queue.
//!
//! A packet needs an event to leave the access link only where anything else happens before: the
//! second of two that an ACK lets the sender send mostly follows the first at once.

use super::runs::Run;
use crate::events::event_key::{ACCESS, PACE};
use crate::fast::flow_kind::{FlowKind, GeneralKind, PacedKind};
use crate::flow::Flow;
use crate::network::Network;
use crate::packet::Payload;
use crate::tcp::profile::Profile;
use crate::time::Picos;

/// What becomes of an access link.
pub(super) enum AccessState {
    /// What it did before.
    Unchanged,
    /// It was idle, and is no longer.
    Busy,
    /// It was idle, its first packet leaves it then, and something else happens before.
    ScheduledAt(Picos),
    /// Nothing waited on it, and now this does, which is not in its queue yet.
    Holds(Run),
}

impl AccessState {
    /// Segments that wait on it though they are not in its queue.
    pub(super) fn held(&self) -> usize {
        if let Self::Holds(run) = self { run.count as usize } else { 0 }
    }

    /// Puts them there.
    pub(super) fn queue_held(&mut self, flow: &mut Flow) {
        if let Self::Holds(run) = self {
            flow.access.push_run(run.at, run.seq, run.count);
            *self = Self::Busy;
        }
    }
}

impl Network<'_> {
    /// Sends what the flow's window holds, where it was not an ACK that opened it.
    #[inline(never)]
    pub(crate) fn transmit<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow) {
        self.send::<K>(now, flow, self.profile::<K>(flow));
        if K::SACK_ONLY {
            self.arm_delack_if_no_ack_in_flight(now, flow);
        }
    }

    /// Sends what the flow's window holds.
    #[inline(always)]
    pub(crate) fn send<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow, profile: &Profile) {
        match self.send_window::<K>(now, flow, profile) {
            AccessState::Unchanged => {}
            AccessState::Busy => self.drain_access::<K>(flow, profile),
            AccessState::ScheduledAt(at) => self.schedule(flow, ACCESS, at, Payload::NONE),
            AccessState::Holds(run) => self.admit::<K>(flow, run),
        }
    }

    /// Sends what the flow's window holds, but packets that wait on an access link that was idle: returns what became
    /// of that link.
    #[inline(always)]
    fn send_window<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        profile: &Profile,
    ) -> AccessState {
        if !K::NEWRENO_ONLY && !flow.access.is_idle(now) {
            flow.tsq_throttled = false;
        }
        debug_assert!(!flow.tsq_throttled, "an idle access link holds nothing back");
        debug_assert!(flow.sender.invariants_hold());
        if K::FOREIGN && flow.sender.snd_max == 0 {
            flow.sender.begin(now);
        }
        if flow.sender.waits_for_pacer::<K>(now) && flow.access.waiting() == 0 {
            self.arm_timer_if_no_ack_pending::<K>(now, flow);
            return AccessState::Unchanged;
        }
        if !K::NEWRENO_ONLY && flow.offloads {
            return self.send_bursts::<K>(now, flow);
        }
        let mut access = AccessState::Unchanged;
        let sendable_segments = flow.sender.sendable_segments::<K>(profile);
        // Small queues look at what waits behind the packet on the access link: no more than two of
        // these do.
        let few = (sendable_segments <= 2) | ((sendable_segments == 3) & flow.access.is_idle(now));
        let free = K::NEWRENO_ONLY || !profile.small_queues || few;
        let mut left = sendable_segments;
        while left > 0 && self.send_segment::<K>(now, flow, free, profile, &mut access) {
            left -= 1;
        }
        self.arm_timer_if_no_ack_pending::<K>(now, flow);
        access
    }

    /// Makes sure that the sender's timer fires in time, unless an ACK comes before that asks for it.
    #[inline(always)]
    pub(super) fn arm_timer_if_no_ack_pending<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow) {
        let timer_at = flow.sender.timer_at;
        let an_ack_will_ask = K::FAST_PATH && flow.ack_path.delivers_before(now, timer_at);
        if !an_ack_will_ask && !flow.timer.fires_by(timer_at) {
            self.arm_timer(flow, timer_at);
        }
    }

    /// Sends one segment; false where small queues or the pacer hold it back. `free` says that the
    /// access link holds too few for small queues to look at.
    #[inline(always)]
    fn send_segment<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        free: bool,
        profile: &Profile,
        access: &mut AccessState,
    ) -> bool {
        if !K::NEWRENO_ONLY && profile.small_queues && flow.tsq_limit_reached(now) {
            flow.tsq_throttled = true;
            return false;
        }
        if let Some(at) = flow.sender.earliest_departure_time(now).filter(|_| K::PACED) {
            self.arm_pacing_timer(flow, at);
            return false;
        }
        self.put_on_access_link::<K>(now, flow, free, access);
        true
    }

    /// The next segment crosses the access link, or waits there.
    #[inline(always)]
    pub(super) fn put_on_access_link<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        free: bool,
        access: &mut AccessState,
    ) {
        let seq = flow.sender.next_segment::<K>(now);
        self.cross_access_link::<K>(now, flow, seq, free, access);
    }

    /// `put_on_access_link` of segment `seq`.
    #[inline(always)]
    pub(super) fn cross_access_link<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        seq: u64,
        free: bool,
        access: &mut AccessState,
    ) {
        if let Some(recorder) = self.recorder.as_mut().filter(|_| !K::FAST_PATH) {
            recorder.sent(now, flow, seq);
        }
        let segment = if K::FAST_PATH { Payload::data(seq, 0) } else { flow.segment(seq) };
        let at = flow.access.take_wire(now);
        if at == now || (free && self.departs_before_next_event(at, flow)) {
            self.enqueue_first_hop::<K>(at, flow, segment);
        } else {
            if flow.access.waiting() == 0 {
                *access = if free { AccessState::ScheduledAt(at) } else { AccessState::Busy };
            }
            flow.access.push(at, segment);
        }
    }

    /// The pacer lets the next packet go. Flows of two kinds alone pace.
    #[inline(never)]
    pub(crate) fn on_pacing_timer(&mut self, now: Picos, flow: &mut Flow) {
        if !flow.sender.pacer().is_some_and(|pacer| pacer.timer.fire(now)) {
            return;
        }
        if flow.ack_event() != PacedKind::ACK_EVENT {
            return self.transmit::<GeneralKind>(now, flow);
        }
        self.send::<PacedKind>(now, flow, self.profile::<PacedKind>(flow));
        self.arm_delack_if_no_ack_in_flight(now, flow);
    }

    /// Makes sure that the flow's pacer fires no later than `at`.
    #[inline(always)]
    pub(super) fn arm_pacing_timer(&mut self, flow: &mut Flow, at: Picos) {
        if flow.sender.pacer().is_some_and(|pacer| pacer.timer.arm(at)) {
            self.schedule(flow, PACE, at, Payload::NONE);
        }
    }

    /// A packet leaves the flow's access link, and what follows at once.
    pub(crate) fn on_access<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow) {
        if flow.access.next_departure() != Some(now) {
            return; // it was of an earlier connection
        }
        let profile = self.profile::<K>(flow);
        self.pop_access::<K>(now, flow, profile);
        self.drain_access::<K>(flow, profile);
        if K::SACK_ONLY {
            self.arm_delack_if_no_ack_in_flight(now, flow);
        }
    }

    /// The first packet on the flow's access link reaches the queue, and may make room there.
    #[inline(always)]
    fn pop_access<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow, profile: &Profile) {
        let segment = flow.access.pop().expect("a packet on the access link");
        self.enqueue_first_hop::<K>(now, flow, segment);
        if flow.tsq_throttled {
            self.send_window::<K>(now, flow, profile).queue_held(flow);
        }
    }

    /// What leaves an access link, on which nothing else waits, reaches the queue at once as far as nothing happens before. The rest waits.
    #[inline(never)]
    fn admit<K: FlowKind>(&mut self, flow: &mut Flow, run: Run) {
        let mut run = run;
        while run.count > 0 {
            let passed = self.enqueue_run::<K>(flow, run);
            if passed == 0 && !self.is_next_event(run.at) {
                flow.access.push_run(run.at, run.seq, run.count);
                return self.schedule(flow, ACCESS, run.at, Payload::NONE);
            }
            if passed == 0 {
                self.enqueue_first_hop::<K>(run.at, flow, Payload::data(run.seq, 0));
            }
            run = run.after(passed.max(1), flow.access.packet_time);
        }
    }

    /// Nothing else happens before a packet leaves the access link at `at`.
    #[inline]
    fn departs_before_next_event(&self, at: Picos, flow: &Flow) -> bool {
        flow.access.waiting() == 0 && self.is_next_event(at)
    }

    /// Packets need an event to leave the access link only where anything else happens before: a burst reaches the queue
    /// at once as far as nothing does.
    #[inline(never)]
    fn drain_access<K: FlowKind>(&mut self, flow: &mut Flow, profile: &Profile) {
        while let Some(at) = flow.access.next_departure() {
            if !self.is_next_event(at) {
                return self.schedule(flow, ACCESS, at, Payload::NONE);
            }
            self.pop_access::<K>(at, flow, profile);
        }
    }
}
