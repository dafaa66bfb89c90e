//! The timer of an ACK that a receiver holds back.

use crate::events::event_key::{DELACK, encode};
use crate::fast::flow_kind::{FlowKind, GeneralKind};
use crate::flow::Flow;
use crate::network::Network;
use crate::packet::Payload;
use crate::time::{NEVER, Picos};

impl Network<'_> {
    /// The time of an ACK that the receiver held back may have come.
    pub(crate) fn on_delack_timer<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow) {
        if !flow.delack_timer.fire(now) {
            return;
        }
        let deadline = flow.receiver.delack_deadline();
        if deadline > now + self.ack_lead(flow) {
            return self.arm_delack(flow, deadline);
        }
        let ack = Payload::ack(flow.receiver.release(), flow.connection);
        let ack = flow.route.first_ack_hop().map_or(ack, |hop| ack.at_hop(hop));
        match flow.route.ack_part() {
            Some(part) if part != self.part.number() => {
                self.schedule_in(part, deadline, encode(flow.index(), DELACK), ack);
            }
            Some(_) => self.on_held_ack_arrival(now, flow, ack),
            None => self.on_ack_arrival::<K>(now, flow, ack),
        }
    }

    /// An ACK that the receiver has held back acts at the first backward queue, or the sender.
    pub(crate) fn on_held_ack_arrival(&mut self, now: Picos, flow: &mut Flow, ack: Payload) {
        match flow.route.first_ack_hop() {
            Some(_) => self.on_ack_hop(now, flow, ack),
            None => self.on_ack_arrival::<GeneralKind>(now, flow, ack),
        }
    }

    /// How long before an ACK that is held back acts, its timer fires: an ACK that acts in another part
    /// of the network is sent when the receiver sends it.
    #[inline(always)]
    fn ack_lead(&self, flow: &Flow) -> Picos {
        let is_elsewhere = flow.route.ack_part().is_some_and(|part| part != self.part.number());
        if is_elsewhere { flow.ack_path.return_delay } else { 0 }
    }

    /// Arms the timer of an ACK that the receiver holds back, unless another ACK is in flight: its arrival
    /// calls this again. Mostly another segment comes before either.
    #[inline(always)]
    pub(crate) fn arm_delack_if_no_ack_in_flight(&mut self, now: Picos, flow: &mut Flow) {
        if flow.ack_path.is_empty(now) {
            self.arm_delack(flow, flow.receiver.delack_deadline());
        }
    }

    /// Makes sure that the timer fires in time for an ACK that acts at `deadline`.
    #[inline]
    pub(crate) fn arm_delack(&mut self, flow: &mut Flow, deadline: Picos) {
        let lead = if deadline == NEVER { 0 } else { self.ack_lead(flow) };
        let at = deadline - lead;
        if flow.delack_timer.arm(at) {
            self.schedule(flow, DELACK, at, Payload::NONE);
        }
    }
}
