//! How packets pass queues, from one to the next of their route, ACKs too.

use crate::events::EventKey;
use crate::events::event_key::{HOP, encode};
use crate::fast::flow_kind::{FlowKind, GeneralKind, dispatch_kind};
use crate::flow::Flow;
use crate::flow::flows::Flows;
use crate::link::Verdict;
use crate::network::Network;
use crate::packet::Payload;
use crate::paths::{LinkClass, Then};
use crate::time::Picos;

impl Network<'_> {
    /// A segment reaches the first queue of its route.
    #[inline(always)]
    pub(crate) fn enqueue_first_hop<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        segment: Payload,
    ) {
        if K::NEWRENO_ONLY {
            self.enqueue::<K>(now, flow, self.paths.unpack(flow.first_hop), segment);
        } else if K::FAST_PATH {
            self.enqueue_plain_outlined::<K>(now, flow, segment.seq());
        } else {
            self.enqueue_outlined::<K>(now, flow, self.paths.unpack(flow.first_hop), segment);
        }
    }

    /// `enqueue_outlined` for flows over one queue, whose segments carry nothing but their number.
    #[inline(never)]
    fn enqueue_plain_outlined<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow, seq: u64) {
        let (at, segment) = (self.paths.unpack(flow.first_hop), Payload::data(seq, 0));
        self.enqueue::<K>(now, flow, at, segment);
    }

    /// A packet reaches a queue of its route: a segment any but the first. The event had `key`. Of its flow, which lies in memory,
    /// a segment that goes on to another queue needs nothing.
    #[inline(always)]
    pub(crate) fn on_hop(&mut self, now: Picos, flow: &mut Flow, key: EventKey, packet: Payload) {
        if packet.is_ack() {
            return self.on_ack_hop(now, flow, packet);
        }
        let hop = self.paths.hop(packet.place());
        let Some((departs, packet)) = self.pass_queue(now, flow, hop.at, packet) else { return };
        if hop.then == Then::Hop {
            let at = departs + self.links[hop.at.link as usize].delay;
            self.schedule_in(hop.next_part, at, key, packet.at_next_queue());
        } else {
            self.deliver(flow, departs, packet);
        }
    }

    /// An ACK arrives at a queue of its route.
    #[inline(never)]
    pub(crate) fn on_ack_hop(&mut self, now: Picos, flow: &mut Flow, ack: Payload) {
        let hop = self.paths.hop(flow.route.place_of(ack));
        self.enqueue_outlined::<GeneralKind>(now, flow, hop.at, ack);
    }

    /// `enqueue` as one function for all callers: inlined code of a flow with SACK would not stay in
    /// the instruction cache.
    #[inline(never)]
    fn enqueue_outlined<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        at: LinkClass,
        packet: Payload,
    ) {
        self.enqueue::<K>(now, flow, at, packet);
    }

    /// A packet reaches a queue.
    #[inline(always)]
    fn enqueue<K: FlowKind>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        at: LinkClass,
        packet: Payload,
    ) {
        let Some((departs, packet)) = self.pass_queue(now, flow, at, packet) else { return };
        if K::FAST_PATH || flow.route.has_one_queue() {
            self.receive::<K>(flow, departs, packet, self.profile::<K>(flow));
        } else {
            self.forward(flow, departs, packet);
        }
    }

    /// A packet reaches a queue: when it leaves the wire, and what it carries then; `None` where it is dropped or
    /// waits.
    #[inline(always)]
    fn pass_queue(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        at: LinkClass,
        packet: Payload,
    ) -> Option<(Picos, Payload)> {
        let verdict = match self.links.try_enqueue_fast(now, at.link as usize, at.class) {
            Some(verdict) => verdict,
            None => self.enqueue_whole(now, flow, at, packet),
        };
        match verdict {
            Verdict::Departs(departs) => return Some((departs, packet)),
            Verdict::DepartsMarked(departs) => return Some((departs, packet.with_ce(true))),
            Verdict::Dropped => self.on_drop(flow, packet),
            Verdict::Queued => {}
        }
        None
    }

    /// A packet reaches a queue that needs to know more of it than its class. If it waits there, the link's next dequeue
    /// is scheduled. Apart: inlined it would cost the fast path registers.
    #[inline(never)]
    fn enqueue_whole(
        &mut self,
        now: Picos,
        flow: &Flow,
        at: LinkClass,
        packet: Payload,
    ) -> Verdict {
        let (link, whole) = (at.link as usize, self.traffic.packet(flow, at.class, packet));
        let dropped_before = self.side_drops.len();
        let verdict = self.links.enqueue(now, link, &whole, &mut self.side_drops);
        if let Some(log) = &mut self.packet_log {
            log.arrived(now, at.link, &whole, verdict, &self.side_drops[dropped_before..]);
        }
        if verdict == Verdict::Queued {
            if let Some(waiting) = self.waiting.get_mut(flow.index() as usize) {
                *waiting += 1;
            }
            self.arm_dequeue(now, link);
        }
        verdict
    }

    /// A queue has dropped a packet.
    #[inline(always)]
    fn on_drop(&mut self, flow: &mut Flow, packet: Payload) {
        if packet.is_ack() {
            self.on_ack_drop(flow, packet);
        } else {
            flow.route.drops += 1;
        }
    }

    /// An ACK is dropped: the next one of its connection repeats what it reported.
    #[cold]
    #[inline(never)]
    fn on_ack_drop(&mut self, flow: &mut Flow, packet: Payload) {
        let ack = packet.as_ack();
        let carried = self.lost_acks.take(ack.carried_lost_acks);
        if packet.connection() == flow.connection {
            flow.route.on_ack_drop(packet.hop(), ack, carried);
        }
    }

    /// A packet leaves the wire of the queue that it was at, at `departs`.
    #[inline(always)]
    pub(crate) fn forward(&mut self, flow: &mut Flow, departs: Picos, packet: Payload) {
        if flow.route.has_one_queue() {
            self.deliver(flow, departs, packet);
        } else {
            self.forward_on_route(flow, departs, packet);
        }
    }

    /// `forward` on a route over several queues.
    #[inline(never)]
    fn forward_on_route(&mut self, flow: &mut Flow, departs: Picos, packet: Payload) {
        let hop = self.paths.hop(flow.route.place_of(packet));
        let packet = if packet.is_ack() { self.merge_lost_acks(flow, packet) } else { packet };
        match hop.then {
            Then::Hop => {
                let at = departs + self.links[hop.at.link as usize].delay;
                let key = encode(flow.index(), HOP);
                self.schedule_in(hop.next_part, at, key, packet.at_next_queue());
            }
            Then::Receiver => self.deliver(flow, departs, packet),
            Then::Sender => {
                let at = departs + flow.route.last_ack_hop_delay();
                let key = encode(flow.index(), GeneralKind::ACK_EVENT);
                self.schedule_in(hop.next_part, at, key, packet);
            }
        }
    }

    /// A segment leaves the last queue.
    #[inline]
    fn deliver(&mut self, flow: &mut Flow, departs: Picos, segment: Payload) {
        if segment.connection() == flow.connection {
            dispatch_kind!(flow.ack_event(), K => self.receive_outlined::<K>(flow, departs, segment));
        } else {
            self.on_late_segment(flow, departs, segment);
        }
    }

    /// An ACK that passes a queue takes along what others, lost there, have reported.
    fn merge_lost_acks(&mut self, flow: &mut Flow, packet: Payload) -> Payload {
        if packet.connection() != flow.connection {
            return packet;
        }
        let Some(lost) = flow.route.lost_ack_segments(packet.hop()) else { return packet };
        let mut ack = packet.as_ack();
        ack.carried_lost_acks = self.lost_acks.attach(ack.carried_lost_acks, lost);
        packet.with_ack(ack)
    }

    /// `receive` where no sender's event is at hand, which would ask for an ACK that is held back.
    #[inline(never)]
    fn receive_outlined<K: FlowKind>(&mut self, flow: &mut Flow, departs: Picos, segment: Payload) {
        if K::FAST_PATH {
            self.passed[flow.index() as usize] += 1;
        }
        self.receive::<K>(flow, departs, segment, self.profile::<K>(flow));
        if K::SACK_ONLY {
            self.arm_delack_if_no_ack_in_flight(departs, flow);
        }
    }

    /// A link can take the next packet off its queue, and further ones while nothing else happens
    /// before: these need no event of their own.
    pub(crate) fn on_dequeue_event(&mut self, now: Picos, link: usize, flows: &mut Flows) {
        if !self.dequeue_timers[link].timer.fire(now) {
            return;
        }
        let mut now = now;
        loop {
            let dropped_before = self.side_drops.len();
            let (sent, next) = self.links[link].dequeue(now, &mut self.side_drops);
            if let Some(log) = &mut self.packet_log {
                log.dequeued(now, link as u32, sent, &self.side_drops[dropped_before..]);
            }
            if let Some((packet, departs, marked)) = sent {
                let flow = flows.of_packet(packet.flow);
                self.waits_no_longer(packet.flow);
                self.forward(flow, departs, packet.payload.with_ce(marked));
            }
            let Some(next) = next else { return };
            let at = next.max(now);
            if !self.is_next_event(at) {
                return self.schedule_dequeue(link, at);
            }
            self.account_side_drops(flows);
            now = at;
        }
    }

    /// A packet of the flow has left its queue.
    #[inline]
    fn waits_no_longer(&mut self, flow: u32) {
        if let Some(waiting) = self.waiting.get_mut(flow as usize) {
            *waiting -= 1;
        }
    }

    /// Counts the packets that a queue dropped other than the one that arrived, or at dequeue.
    #[inline]
    pub(crate) fn account_side_drops(&mut self, flows: &mut Flows) {
        if self.side_drops.is_empty() {
            return;
        }
        while let Some(packet) = self.side_drops.pop() {
            let flow = flows.of_packet(packet.flow);
            self.waits_no_longer(packet.flow);
            self.on_drop(flow, packet.payload);
        }
    }
}
