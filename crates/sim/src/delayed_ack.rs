//! The timer of an ACK that a receiver holds back.

use crate::event_key::DELACK;
use crate::flow::Flow;
use crate::flow_kind::FlowKind;
use crate::network::Network;
use crate::packet::Payload;
use crate::time::Picos;

impl Network<'_> {
    /// The time of an ACK that the receiver held back may have come.
    pub(crate) fn on_delack_timer<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow) {
        if !flow.delack_timer.fire(now) {
            return;
        }
        let deadline = flow.receiver.delack_deadline();
        if deadline > now {
            return self.arm_delack(flow, deadline);
        }
        let ack = Payload::ack(flow.receiver.release(), flow.connection);
        match flow.route.first_ack_hop() {
            Some(hop) => self.on_ack_hop(now, flow, ack.at_hop(hop)),
            None => self.on_ack_arrival::<K>(now, flow, ack),
        }
    }

    /// Arms the timer of an ACK that the receiver holds back, unless another ACK is in flight: its arrival
    /// calls this again. Mostly another segment comes before either.
    #[inline(always)]
    pub(crate) fn arm_delack_if_no_ack_in_flight(&mut self, now: Picos, flow: &mut Flow) {
        if flow.ack_path.is_empty(now) {
            self.arm_delack(flow, flow.receiver.delack_deadline());
        }
    }

    /// Makes sure that the timer fires no later than `at`.
    #[inline]
    pub(crate) fn arm_delack(&mut self, flow: &mut Flow, at: Picos) {
        if flow.delack_timer.arm(at) {
            self.schedule(flow, DELACK, at, Payload::NONE);
        }
    }
}
