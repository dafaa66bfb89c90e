//! How packets of a route over several queues move from one to the next, ACKs too.

use crate::flow::Flow;
use crate::link::{Passage, Verdict, memory_admits};
use crate::network::{HOP, Network, Transit};
use crate::parcel::{Load, Parcel};
use crate::paths::Then;
use crate::time::Picos;
use crate::way::{Any, Way, as_kind};

impl Network<'_> {
    /// A packet reaches a queue of its route: a segment any but the first.
    #[inline(never)]
    pub(crate) fn on_hop(&mut self, now: Picos, flow: &mut Flow, load: Load) {
        let hop = self.paths.hop(flow.path, load.hop());
        let link = hop.link as usize;
        match self.links[link].pass(now, hop.class) {
            Passage::Departs(at) => self.forward(flow, at, load),
            Passage::Dropped => self.lose(flow, load),
            Passage::Unknown => {
                let parcel = self.parcel(flow, hop.class, load);
                self.offer_shared(now, flow, link, parcel);
            }
        }
    }

    /// A packet reaches a queue whose memory other queues may share.
    pub(crate) fn offer_shared(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        link: usize,
        parcel: Parcel,
    ) {
        if !memory_admits(&mut self.links, &self.config.pools, link, now, parcel.bytes) {
            self.links[link].refuse(now, parcel.class);
            return self.lose(flow, parcel.load);
        }
        match self.links[link].offer(now, parcel.arriving(), || parcel, &mut self.lost) {
            Verdict::Departs(at, marked) => self.forward(flow, at, parcel.load.and_marked(marked)),
            Verdict::Dropped => self.lose(flow, parcel.load),
            Verdict::Waits => self.await_service(now, link),
        }
    }

    /// A queue has dropped a packet.
    pub(crate) fn lose(&mut self, flow: &mut Flow, load: Load) {
        if !load.is_ack() {
            flow.drops += 1;
            return;
        }
        let ack = load.acknowledges();
        let carried = self.lost_acks.take(ack.lost_acks);
        if load.connection() == flow.connection
            && let Some(detour) = &mut flow.detour
        {
            detour.lose_ack(load.hop(), ack, carried);
        }
    }

    /// A packet leaves the wire of the queue that it was at, at `departs`.
    #[inline]
    pub(crate) fn forward(&mut self, flow: &mut Flow, departs: Picos, load: Load) {
        let hop = self.paths.hop(flow.path, load.hop());
        let load = if load.is_ack() { self.take_along(flow, load) } else { load };
        match hop.then {
            Then::Hop => {
                let at = departs + self.links[hop.link as usize].delay;
                self.schedule(flow, HOP, at, load.at_hop(load.hop() + 1));
            }
            Then::Receiver if load.connection() == flow.connection => {
                let packet = Transit { at: departs, load };
                as_kind!(flow.home(), W => self.receive_late::<W>(flow, packet));
            }
            Then::Receiver => self.passed[flow.index() as usize] += 1, // nobody waits for it any longer
            Then::Sender => {
                let home_delay = flow.detour.as_ref().map_or(0, |detour| detour.home_delay);
                self.schedule(flow, Any::HOME, departs + home_delay, load);
            }
        }
    }

    /// An ACK that passes a queue takes along what others, lost there, have reported.
    fn take_along(&mut self, flow: &mut Flow, load: Load) -> Load {
        match &mut flow.detour {
            Some(detour) if load.connection() == flow.connection => {
                let mut ack = load.acknowledges();
                ack.lost_acks = self.lost_acks.load(ack.lost_acks, detour.untold(load.hop()));
                load.carrying(ack)
            }
            _ => load,
        }
    }

    /// `receive` where no sender's event is at hand, which would ask for an ACK that is held back.
    #[inline(never)]
    fn receive_late<W: Way>(&mut self, flow: &mut Flow, packet: Transit) {
        self.receive::<W>(flow, packet, self.profile::<W>(flow));
        if W::SACK {
            self.ask_without_ack(packet.at, flow);
        }
    }
}

/// The backward queue to which a receiver's ACKs go, by its number on the route.
#[inline]
pub(crate) fn first_ack_hop(flow: &Flow) -> Option<u8> {
    flow.detour.as_ref().and_then(|detour| detour.first_ack_hop())
}

/// What a receiver's ACK is, and the kind of event in which it acts: at the first backward queue, or
/// the sender.
#[inline]
pub(crate) fn turn(flow: &Flow, load: Load) -> (u32, Load) {
    match first_ack_hop(flow) {
        Some(hop) => (HOP, load.at_hop(hop)),
        None => (flow.home(), load),
    }
}
