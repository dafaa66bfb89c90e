//! What a flow's window lets it send where its host has segmentation offload: bursts, of which each
//! crosses the access link back to back.

use super::runs::Run;
use super::sending::AccessState;
use crate::fast::flow_kind::{FlowKind, GeneralKind};
use crate::flow::Flow;
use crate::network::Network;
use crate::packet::Payload;
use crate::tcp::profile::Profile;
use crate::time::Picos;

impl Network<'_> {
    /// `send_window` in bursts (Linux, tcp_write_xmit).
    #[inline(never)]
    pub(super) fn send_bursts<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow) -> AccessState {
        let profile = self.profile::<GeneralKind>(flow);
        let bytes = profile.segment_bytes_of(flow.packet_bytes);
        let mut access = AccessState::Unchanged;
        let mut left = flow.sender.sendable_segments::<K>(profile);
        let goal = if left > 0 { flow.sender.burst_goal(bytes, profile) } else { 0 };
        while left > 0 && !self.holds_burst_back::<K>(now, flow, goal, access.held(), profile) {
            let burst = flow.sender.next_burst(now, left, goal, bytes, profile);
            if burst == 0 {
                break;
            }
            access.queue_held(flow);
            self.send_burst::<K>(now, flow, burst, left <= 2, profile, &mut access);
            left -= u64::from(burst);
        }
        if flow.tsq_throttled {
            access.queue_held(flow);
        }
        self.arm_timer_if_no_ack_pending::<K>(now, flow);
        access
    }

    /// Small queues or the pacer hold the next burst back. So many segments wait on the access link that are not in its queue.
    #[inline]
    fn holds_burst_back<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        goal: u32,
        held: usize,
        profile: &Profile,
    ) -> bool {
        let burst = if profile.offload.queues_bursts { goal } else { 1 };
        let waiting = flow.access.waiting() + held;
        if profile.small_queues && flow.tsq_limit_of_bursts_reached(now, burst, waiting) {
            flow.tsq_throttled = true;
            return true;
        }
        if let Some(at) = flow.sender.earliest_departure_time(now).filter(|_| K::PACED) {
            self.arm_pacing_timer(flow, at);
            return true;
        }
        false
    }

    /// Sends one burst. `free` says that the access link holds too few for small queues to look at.
    fn send_burst<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        burst: u32,
        free: bool,
        profile: &Profile,
        access: &mut AccessState,
    ) {
        let (held_until, as_one) = (flow.sender.paced_until, profile.offload.paces_bursts);
        if as_one
            && burst > 1
            && !self.single_events
            && let Some(first) = flow.sender.next_segments::<K>(now, burst)
        {
            if !free && flow.access.waiting() == 0 {
                *access = AccessState::Holds(self.begin_burst::<K>(now, flow, first, burst));
                return;
            }
            for seq in first..first + u64::from(burst) {
                self.cross_access_link::<K>(now, flow, seq, free, access);
            }
            return;
        }
        for sent in 0..burst {
            if sent > 0 && !as_one && self.holds_burst_back::<K>(now, flow, burst, 0, profile) {
                return;
            }
            self.put_on_access_link::<K>(now, flow, free, access);
        }
        if K::PACED && as_one && burst > 1 {
            flow.sender.pace_burst(now, held_until, burst);
        }
    }

    /// A burst, from `first` on, takes an access link on which nothing waits: what of it leaves that later.
    fn begin_burst<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        first: u64,
        burst: u32,
    ) -> Run {
        let at = flow.access.take_wire_of(now, burst);
        if at > now {
            return Run { at, seq: first, count: burst };
        }
        self.enqueue_first_hop::<K>(at, flow, Payload::data(first, 0));
        Run { at: at + flow.access.packet_time, seq: first + 1, count: burst - 1 }
    }
}
