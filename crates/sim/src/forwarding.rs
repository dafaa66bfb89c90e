//! How packets of a route over several queues move from one to the next, ACKs too.

use crate::flow::Flow;
use crate::flow_kind::{FlowKind, GeneralKind, dispatch_kind};
use crate::link::{FastVerdict, Verdict, memory_admits};
use crate::network::{DataDeparture, HOP, Network};
use crate::packet::{Packet, Payload};
use crate::paths::Then;
use crate::time::Picos;

impl Network<'_> {
    /// A packet reaches a queue of its route: a segment any but the first.
    #[inline(never)]
    pub(crate) fn on_hop(&mut self, now: Picos, flow: &mut Flow, payload: Payload) {
        let hop = self.paths.hop(flow.path, payload.hop());
        let link = hop.link as usize;
        match self.links[link].try_enqueue_fast(now, hop.class) {
            FastVerdict::Departs(at) => self.forward(flow, at, payload),
            FastVerdict::Dropped => self.on_drop(flow, payload),
            FastVerdict::Unknown => {
                let packet = self.packet(flow, hop.class, payload);
                self.enqueue_hop(now, flow, link, packet);
            }
        }
    }

    /// A packet reaches a queue whose memory other queues may share.
    pub(crate) fn enqueue_hop(&mut self, now: Picos, flow: &mut Flow, link: usize, packet: Packet) {
        if !memory_admits(&mut self.links, &self.config.pools, link, now, packet.bytes) {
            self.links[link].refuse(now, packet.class);
            return self.on_drop(flow, packet.payload);
        }
        match self.links[link].enqueue(now, packet.as_arriving(), || packet, &mut self.side_drops) {
            Verdict::Departs(at, marked) => self.forward(flow, at, packet.payload.with_ce(marked)),
            Verdict::Dropped => self.on_drop(flow, packet.payload),
            Verdict::Waits => self.arm_dequeue(now, link),
        }
    }

    /// A queue has dropped a packet.
    pub(crate) fn on_drop(&mut self, flow: &mut Flow, payload: Payload) {
        if !payload.is_ack() {
            flow.drops += 1;
            return;
        }
        let ack = payload.as_ack();
        let carried = self.lost_acks.take(ack.carried_lost_acks);
        if payload.connection() == flow.connection
            && let Some(multi_hop) = &mut flow.multi_hop
        {
            multi_hop.on_ack_drop(payload.hop(), ack, carried);
        }
    }

    /// A packet leaves the wire of the queue that it was at, at `departs`.
    #[inline]
    pub(crate) fn forward(&mut self, flow: &mut Flow, departs: Picos, payload: Payload) {
        let hop = self.paths.hop(flow.path, payload.hop());
        let payload = if payload.is_ack() { self.merge_lost_acks(flow, payload) } else { payload };
        match hop.then {
            Then::Hop => {
                let at = departs + self.links[hop.link as usize].delay;
                self.schedule(flow, HOP, at, payload.at_hop(payload.hop() + 1));
            }
            Then::Receiver if payload.connection() == flow.connection => {
                let packet = DataDeparture { at: departs, payload };
                dispatch_kind!(flow.ack_event(), K => self.receive_and_arm_delack::<K>(flow, packet));
            }
            Then::Receiver => {
                self.passed[flow.index() as usize] += 1; // nobody waits for it any longer
                self.capture(departs, 0, flow, payload);
            }
            Then::Sender => {
                let last_ack_hop_delay =
                    flow.multi_hop.as_ref().map_or(0, |multi_hop| multi_hop.last_ack_hop_delay);
                self.schedule(flow, GeneralKind::ACK_EVENT, departs + last_ack_hop_delay, payload);
            }
        }
    }

    /// An ACK that passes a queue takes along what others, lost there, have reported.
    fn merge_lost_acks(&mut self, flow: &mut Flow, payload: Payload) -> Payload {
        match &mut flow.multi_hop {
            Some(multi_hop) if payload.connection() == flow.connection => {
                let mut ack = payload.as_ack();
                ack.carried_lost_acks = self
                    .lost_acks
                    .attach(ack.carried_lost_acks, multi_hop.lost_ack_segments(payload.hop()));
                payload.with_ack(ack)
            }
            _ => payload,
        }
    }

    /// `receive` where no sender's event is at hand, which would ask for an ACK that is held back.
    #[inline(never)]
    fn receive_and_arm_delack<K: FlowKind>(&mut self, flow: &mut Flow, packet: DataDeparture) {
        self.receive::<K>(flow, packet, self.profile::<K>(flow));
        if K::SACK_ONLY {
            self.arm_delack_if_no_ack_in_flight(packet.at, flow);
        }
    }
}

/// The backward queue to which a receiver's ACKs go, by its number on the route.
#[inline]
pub(crate) fn first_ack_hop(flow: &Flow) -> Option<u8> {
    flow.multi_hop.as_ref().and_then(|multi_hop| multi_hop.first_ack_hop())
}

/// What a receiver's ACK is, and the kind of event in which it acts: at the first backward queue, or
/// the sender.
#[inline]
pub(crate) fn ack_event_for(flow: &Flow, payload: Payload) -> (u32, Payload) {
    match first_ack_hop(flow) {
        Some(hop) => (HOP, payload.at_hop(hop)),
        None => (flow.ack_event(), payload),
    }
}
