//! What a flow knows of its route, and has lost on it.

use crate::config::Route;
use crate::packet::Payload;
use crate::tcp::ack_packet::{AckPacket, SackRun};
use crate::time::Picos;

/// A flow's route. Its first queue is `Flow::first_hop`.
#[repr(C)]
pub(crate) struct RouteState {
    /// `None` for a route over one queue.
    multi_hop: Option<Box<MultiHopState>>,
    /// Where it begins in `Paths`.
    pub(crate) path: u32,
    /// Data packets that its queues have dropped.
    pub(crate) drops: u32,
}

/// What a route over more than one queue needs.
struct MultiHopState {
    /// From an ACK's departure at the last backward queue to the sender.
    last_ack_hop_delay: Picos,
    /// Of each backward queue, what ACKs that it lost have reported, for the next one to repeat.
    lost_ack_segments: Vec<Vec<SackRun>>,
    /// Forward queues.
    forward: u8,
    /// The part of the network in which the receiver's ACKs act.
    ack_part: u8,
}

impl RouteState {
    /// A route that has carried nothing yet.
    /// Its receiver's ACKs act in part `ack_part` of the network.
    pub(crate) fn new(path: u32, route: &Route, last_ack_hop_delay: Picos, ack_part: u8) -> Self {
        let multi_hop = (!route.has_one_link()).then(|| {
            Box::new(MultiHopState {
                last_ack_hop_delay,
                lost_ack_segments: vec![Vec::new(); route.backward.len()],
                forward: route.forward.len() as u8,
                ack_part,
            })
        });
        Self { multi_hop, path, drops: 0 }
    }

    /// Where in `Paths` the queue is that a packet is at or reaches next.
    #[inline(always)]
    pub(crate) fn place_of(&self, packet: Payload) -> u32 {
        if packet.is_ack() { self.path + u32::from(packet.hop()) } else { packet.place() }
    }

    /// It has one queue.
    #[inline(always)]
    pub(crate) fn has_one_queue(&self) -> bool {
        self.multi_hop.is_none()
    }

    /// The backward queue to which the receiver's ACKs go, by its number on the route.
    #[inline]
    pub(crate) fn first_ack_hop(&self) -> Option<u8> {
        let hop =
            |state: &MultiHopState| (!state.lost_ack_segments.is_empty()).then_some(state.forward);
        self.multi_hop.as_deref().and_then(hop)
    }

    /// The part of the network in which the receiver's ACKs act; `None` where that is the receiver's own, for it has
    /// one queue.
    #[inline]
    pub(crate) fn ack_part(&self) -> Option<u8> {
        self.multi_hop.as_ref().map(|state| state.ack_part)
    }

    /// From an ACK's departure at the last backward queue to the sender.
    #[inline]
    pub(crate) fn last_ack_hop_delay(&self) -> Picos {
        self.multi_hop.as_ref().map_or(0, |state| state.last_ack_hop_delay)
    }

    /// An ACK is lost at queue number `hop` of the route, and with it what it `carried`.
    pub(crate) fn on_ack_drop(&mut self, hop: u8, ack: AckPacket, carried: Vec<SackRun>) {
        if let Some(lost) = self.lost_ack_segments(hop) {
            lost.extend(carried);
            lost.push(SackRun { last: ack.sacked_last, count: ack.sacked_count });
        }
    }

    /// What an ACK that passes queue number `hop` of the route takes along.
    #[inline]
    pub(crate) fn lost_ack_segments(&mut self, hop: u8) -> Option<&mut Vec<SackRun>> {
        let state = self.multi_hop.as_deref_mut()?;
        state.lost_ack_segments.get_mut(usize::from(hop - state.forward))
    }

    /// Forgets what ACKs of an earlier connection have reported.
    pub(crate) fn restart(&mut self) {
        if let Some(state) = self.multi_hop.as_deref_mut() {
            state.lost_ack_segments.iter_mut().for_each(Vec::clear);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_that_is_lost_at_a_queue_is_repeated_by_the_next_at_that_queue() {
        let route = Route { forward: vec![0, 1], backward: vec![2, 3] };
        let mut state = RouteState::new(0, &route, 0, 0);
        assert_eq!((state.has_one_queue(), state.first_ack_hop()), (false, Some(2)));
        let ack = AckPacket { sacked_last: 9, sacked_count: 2, ..AckPacket::default() };
        let carried = SackRun { last: 5, count: 1 };
        state.on_ack_drop(3, ack, vec![carried]);
        assert_eq!(state.lost_ack_segments(2).map(|lost| lost.len()), Some(0), "the first one");
        let lost = [carried, SackRun { last: 9, count: 2 }];
        assert_eq!(state.lost_ack_segments(3).map(std::mem::take), Some(lost.to_vec()));
        state.on_ack_drop(2, ack, vec![]);
        state.restart();
        assert_eq!(
            state.lost_ack_segments(2).map(|lost| lost.len()),
            Some(0),
            "of another connection"
        );
    }

    #[test]
    fn a_route_of_one_queue_has_no_acks_to_lose() {
        let route = Route { forward: vec![4], backward: vec![] };
        let mut state = RouteState::new(0, &route, 0, 0);
        assert_eq!((state.has_one_queue(), state.first_ack_hop()), (true, None));
        assert_eq!(state.last_ack_hop_delay(), 0);
        assert!(state.lost_ack_segments(0).is_none());
    }
}
