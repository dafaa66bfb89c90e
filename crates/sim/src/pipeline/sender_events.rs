//! The events of a flow's sender: an ACK that arrives, and its timer.

use crate::fast::flow_kind::{FlowKind, PacedKind};
use crate::flow::Flow;
use crate::network::Network;
use crate::packet::Payload;
use crate::tcp::ack_packet::{AckPacket, NO_LOST_ACKS, SackRun};
use crate::time::{NEVER, Picos};

impl Network<'_> {
    /// An ACK reaches the sender, and the segments that it lets the sender send reach the first queue.
    #[inline(always)]
    pub(crate) fn on_ack_arrival<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        packet: Payload,
    ) {
        debug_assert!(packet.is_ack());
        if let Some(recorder) = self.recorder.as_mut().filter(|_| !K::FAST_PATH) {
            recorder.acked(now, flow, packet);
        }
        let ack = packet.as_ack();
        if K::FAST_PATH
            || (packet.connection() == flow.connection && ack.carried_lost_acks == NO_LOST_ACKS)
        {
            self.on_ack::<K>(now, flow, ack, &[]);
        } else {
            self.on_ack_with_lost_acks::<K>(now, flow, packet);
        }
        if K::SACK_ONLY {
            self.arm_delack_if_no_ack_in_flight(now, flow);
        }
    }

    /// `on_ack_arrival` of a flow that paces: code apart from what other flows need.
    #[inline(never)]
    pub(crate) fn on_paced_ack_arrival(&mut self, now: Picos, flow: &mut Flow, packet: Payload) {
        self.on_ack_arrival::<PacedKind>(now, flow, packet);
    }

    /// `on_ack_arrival` of an ACK of an earlier connection, which is ignored, or of one that repeats what lost ones reported.
    #[cold]
    #[inline(never)]
    fn on_ack_with_lost_acks<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow, packet: Payload) {
        let ack = packet.as_ack();
        let lost = self.lost_acks.take(ack.carried_lost_acks);
        if packet.connection() == flow.connection {
            self.on_ack::<K>(now, flow, ack, &lost);
        }
    }

    #[inline(always)]
    fn on_ack<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        ack: AckPacket,
        lost: &[SackRun],
    ) {
        let profile = self.profile::<K>(flow);
        if let Some(rtt) = flow.sender.on_ack::<K>(now, ack, lost, profile) {
            let class = self.class(flow);
            self.rtt[class].record(rtt);
            if let Some(recorder) = self.flow_recorder.as_mut().filter(|_| K::RECORDS) {
                recorder.measured(flow, rtt);
            }
        }
        self.send::<K>(now, flow, profile);
    }

    /// The flow starts, or its retransmission timer may have expired. The timer's event is moved
    /// only when it fires: an ACK that postpones it costs nothing.
    pub(crate) fn on_timer<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow) {
        if !flow.timer.fire(now) {
            return;
        }
        if !K::FAST_PATH && flow.app.is_some() && self.on_app_timer(now, flow) {
            return;
        }
        let begins = flow.sender.snd_max == 0;
        let timer_at = flow.sender.timer_at;
        if !begins && timer_at > now {
            if timer_at != NEVER && !flow.ack_path.delivers_before(now, timer_at) {
                self.arm_timer(flow, timer_at);
            }
            return;
        }
        if !begins {
            flow.sender.on_timer(now, self.profile::<K>(flow));
        }
        self.transmit::<K>(now, flow);
    }
}
