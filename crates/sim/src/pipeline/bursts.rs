//! What a flow's window lets it send where its host has segmentation offload: bursts, of which each
//! crosses the access link back to back.

use super::sending::AccessState;
use crate::fast::flow_kind::{FlowKind, GeneralKind};
use crate::flow::Flow;
use crate::network::Network;
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
        while left > 0 && !self.holds_burst_back::<K>(now, flow, goal, profile) {
            let burst = flow.sender.next_burst(now, left, goal, bytes, profile);
            if burst == 0 {
                break;
            }
            self.send_burst::<K>(now, flow, burst, left <= 2, profile, &mut access);
            left -= u64::from(burst);
        }
        self.arm_timer_if_no_ack_pending::<K>(now, flow);
        access
    }

    /// Small queues or the pacer hold the next burst back.
    #[inline]
    fn holds_burst_back<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        goal: u32,
        profile: &Profile,
    ) -> bool {
        let held = if profile.offload.queues_bursts { goal } else { 1 };
        if profile.small_queues && flow.tsq_limit_of_bursts_reached(now, held) {
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
        for sent in 0..burst {
            if sent > 0 && !as_one && self.holds_burst_back::<K>(now, flow, burst, profile) {
                return;
            }
            self.put_on_access_link::<K>(now, flow, free, access);
        }
        if K::PACED && as_one && burst > 1 {
            flow.sender.pace_burst(now, held_until, burst);
        }
    }
}
