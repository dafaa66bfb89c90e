//! Forwarding of packets through the router.

use super::slab::{PacketMeta, Slot};
use super::tcp_segment::Segment;
use super::timer_queue::Due;
use super::{Egress, Router, Side, TimedPacket, packet};
use forebay_sim::link::Verdict;
use forebay_sim::packet::{Packet, Payload};
use forebay_sim::time::{NEVER, Picos};

impl Router {
    /// The flow and direction of a packet; `None` if it belongs to no flow.
    pub(super) fn identify(&mut self, side: Side, slot: Slot, bytes: usize) -> Option<PacketMeta> {
        let headers = packet::headers(self.slab.buffer(slot).get(..bytes)?)?;
        let other = match side {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        };
        let flow = headers.destination.to_bits().checked_sub(self.first[other as usize])?;
        let forward = self.flows.get(flow as usize)?.reverse == (side == Side::Right);
        let data = forward && headers.payload;
        Some(PacketMeta { flow, bytes: headers.bytes, hop: 0, forward, data, ecn: headers.ecn })
    }

    /// A packet reaches the next queue of its route, or its end.
    pub(super) fn on_packet(&mut self, now: Picos, slot: Slot, egress: &mut impl Egress) {
        let meta = *self.slab.meta_of(slot);
        let flow = &self.flows[meta.flow as usize];
        let route = &self.routes[flow.route as usize];
        let hops = if meta.forward { &route.forward } else { &route.backward };
        match hops.get(meta.hop as usize) {
            Some(&link) => self.enqueue(now, slot, link, egress),
            // An ACK without queues still has its whole propagation delay.
            None if hops.is_empty() && meta.hop == 0 => {
                let at = now + flow.to_sender;
                self.slab.meta_of(slot).hop = 1;
                egress.returns(now, self.slab.packet(slot));
                self.send_off(at, slot, egress);
            }
            None => {
                self.measure(now, &meta, slot);
                egress.deliver(self.end_of(&meta), now, self.slab.packet(slot));
                self.slab.give(slot);
            }
        }
    }

    /// An ACK of a TCP connection may measure a round trip.
    fn measure(&mut self, now: Picos, meta: &PacketMeta, slot: Slot) {
        if meta.forward {
            return;
        }
        let flow = &mut self.flows[meta.flow as usize];
        let ack = Segment::read(self.slab.packet(slot));
        if let Some(rtt) = ack.and_then(|ack| flow.round_trips.on_ack(now, &ack)) {
            self.recorder.measured(flow.class, rtt);
        }
    }

    fn end_of(&self, meta: &PacketMeta) -> Side {
        let reverse = self.flows[meta.flow as usize].reverse;
        if meta.forward == reverse { Side::Left } else { Side::Right }
    }

    /// Sends a packet on its last hop, which it completes `at`.
    fn send_off(&mut self, at: Picos, slot: Slot, egress: &mut impl Egress) {
        let meta = *self.slab.meta_of(slot);
        let (side, bytes) = (self.end_of(&meta), meta.bytes as usize);
        if !egress.takes_early(side) {
            return self.timer_queue.note(at, Due::Packet(slot));
        }
        egress.post(TimedPacket { side, at, slot, bytes, buffer: self.slab.lend(slot) });
    }

    fn enqueue(&mut self, now: Picos, slot: Slot, link: usize, egress: &mut impl Egress) {
        let meta = *self.slab.meta_of(slot);
        let class = self.flows[meta.flow as usize].class;
        let payload = Payload::data(slot.into(), 0).with_ecn(meta.ecn, false);
        let packet = Packet { flow: meta.flow, bytes: meta.bytes, class, payload };
        let verdict = match self.links.try_enqueue_fast(now, link, class) {
            Some(verdict) => verdict,
            None => self.links.enqueue(now, link, &packet, &mut self.side_drops),
        };
        match verdict {
            Verdict::Departs(at) => self.on_departure(slot, link, at, false, egress),
            Verdict::DepartsMarked(at) => self.on_departure(slot, link, at, true, egress),
            Verdict::Dropped => self.on_drop(now, slot),
            Verdict::Queued => self.arm_dequeue(now, link),
        }
        self.account_side_drops(now);
    }

    pub(super) fn on_dequeue_event(&mut self, now: Picos, link: usize, egress: &mut impl Egress) {
        if self.service_at[link] != now {
            return; // it was scheduled again for another time
        }
        self.service_at[link] = NEVER;
        let (sent, _) = self.links[link].dequeue(now, &mut self.side_drops);
        if let Some((held, at, marked)) = sent {
            self.on_departure(slot_of(&held), link, at, marked, egress);
        }
        self.arm_dequeue(now, link);
        self.account_side_drops(now);
    }

    fn arm_dequeue(&mut self, now: Picos, link: usize) {
        let Some(at) = self.links[link].next_dequeue_at().map(|at| at.max(now)) else { return };
        if at < self.service_at[link] {
            self.service_at[link] = at;
            self.timer_queue.note(at, Due::Service(link as u32));
        }
    }

    /// A packet leaves a link's wire at `at`, marked there or not.
    fn on_departure(
        &mut self,
        slot: Slot,
        link: usize,
        at: Picos,
        marked: bool,
        egress: &mut impl Egress,
    ) {
        if marked {
            packet::mark(self.slab.packet(slot));
        }
        let packet = self.slab.packet(slot);
        if link == 0 {
            self.first_link_bytes += packet.len() as u64;
        }
        egress.departs(link, at, packet);
        let meta = self.slab.meta_of(slot);
        meta.hop += 1;
        let flow = &self.flows[meta.flow as usize];
        let route = &self.routes[flow.route as usize];
        let (hops, residual) = match meta.forward {
            true => (&route.forward, flow.to_receiver),
            false => (&route.backward, flow.to_sender),
        };
        let last = meta.hop as usize == hops.len();
        if last && meta.data {
            self.recorder.passed(flow.class, meta.flow);
        }
        if last {
            self.send_off(at + residual, slot, egress);
        } else {
            self.timer_queue.note(at + self.links[link].delay, Due::Packet(slot));
        }
    }

    fn account_side_drops(&mut self, now: Picos) {
        while let Some(held) = self.side_drops.pop() {
            self.on_drop(now, slot_of(&held));
        }
    }

    fn on_drop(&mut self, now: Picos, slot: Slot) {
        let meta = self.slab.meta_of(slot);
        if meta.data {
            self.recorder.dropped(now, self.flows[meta.flow as usize].class, meta.flow);
        }
        self.slab.give(slot);
    }
}

fn slot_of(held: &Packet) -> Slot {
    held.payload.seq() as Slot
}
