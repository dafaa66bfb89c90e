//! A packet's way through the router.

use super::agenda::Due;
use super::slab::{Parcel, Slot};
use super::{Egress, Posted, Router, Side, packet};
use forebay_sim::link::{Arriving, Verdict, memory_admits};
use forebay_sim::parcel::{Load, Parcel as Held};
use forebay_sim::time::{NEVER, Picos};

impl Router {
    /// Whose packet this is, and which way it goes; `None` if it belongs to no flow.
    pub(super) fn identify(&mut self, side: Side, slot: Slot, bytes: usize) -> Option<Parcel> {
        let headers = packet::headers(self.slab.buffer(slot).get(..bytes)?)?;
        let other = match side {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        };
        let flow = headers.destination.to_bits().checked_sub(self.first[other as usize])?;
        let onward = self.flows.get(flow as usize)?.reverse == (side == Side::Right);
        let data = onward && headers.payload;
        Some(Parcel { flow, bytes: headers.bytes, stage: 0, onward, data, ecn: headers.ecn })
    }

    /// A packet reaches the next queue on its way, or its end.
    pub(super) fn on_packet(&mut self, now: Picos, slot: Slot, egress: &mut impl Egress) {
        let parcel = *self.slab.parcel(slot);
        let flow = &self.flows[parcel.flow as usize];
        let way = &self.ways[flow.way as usize];
        let path = if parcel.onward { &way.onward } else { &way.back };
        match path.get(parcel.stage as usize) {
            Some(&link) => self.offer(now, slot, link, egress),
            // An ACK that crosses no queue has the rest of its way before it.
            None if path.is_empty() && parcel.stage == 0 => {
                let at = now + flow.to_sender;
                self.slab.parcel(slot).stage = 1;
                self.send_off(at, slot, egress);
            }
            None => {
                egress.deliver(self.end_of(&parcel), now, self.slab.packet(slot));
                self.slab.give(slot);
            }
        }
    }

    fn end_of(&self, parcel: &Parcel) -> Side {
        let reverse = self.flows[parcel.flow as usize].reverse;
        if parcel.onward == reverse { Side::Left } else { Side::Right }
    }

    /// A packet has nothing before it but time, until `at`.
    fn send_off(&mut self, at: Picos, slot: Slot, egress: &mut impl Egress) {
        let parcel = *self.slab.parcel(slot);
        let (side, bytes) = (self.end_of(&parcel), parcel.bytes as usize);
        if !egress.takes_ahead(side) {
            return self.agenda.note(at, Due::Packet(slot));
        }
        egress.post(Posted { side, at, slot, bytes, buffer: self.slab.lend(slot) });
    }

    fn offer(&mut self, now: Picos, slot: Slot, link: usize, egress: &mut impl Egress) {
        let parcel = *self.slab.parcel(slot);
        let class = self.flows[parcel.flow as usize].class;
        if !memory_admits(&mut self.links, &self.pools, link, now, parcel.bytes) {
            self.links[link].refuse(now, class);
            return self.lose(slot);
        }
        let arriving = Arriving { bytes: parcel.bytes, class, ecn: parcel.ecn };
        let load = Load::data(slot.into(), false, 0).with_ecn(parcel.ecn, false);
        let held = Held { flow: parcel.flow, bytes: parcel.bytes, class, load };
        match self.links[link].offer(now, arriving, || held, &mut self.lost) {
            Verdict::Departs(at, marked) => self.pass(slot, link, at, marked, egress),
            Verdict::Dropped => self.lose(slot),
            Verdict::Waits => self.await_service(now, link),
        }
        self.settle();
    }

    pub(super) fn on_service(&mut self, now: Picos, link: usize, egress: &mut impl Egress) {
        if self.service_at[link] != now {
            return; // it was noted anew for another time
        }
        self.service_at[link] = NEVER;
        if let Some((held, at, marked)) = self.links[link].serve(now, &mut self.lost) {
            self.pass(slot_of(&held), link, at, marked, egress);
        }
        self.await_service(now, link);
        self.settle();
    }

    fn await_service(&mut self, now: Picos, link: usize) {
        let Some(at) = self.links[link].next_service().map(|at| at.max(now)) else { return };
        if at < self.service_at[link] {
            self.service_at[link] = at;
            self.agenda.note(at, Due::Service(link as u32));
        }
    }

    /// A packet leaves a link's wire at `at`, marked there or not.
    fn pass(&mut self, slot: Slot, link: usize, at: Picos, marked: bool, egress: &mut impl Egress) {
        if marked {
            packet::mark(self.slab.packet(slot));
        }
        let packet = self.slab.packet(slot);
        if link == 0 {
            self.first_link_bytes += packet.len() as u64;
        }
        egress.departs(link, at, packet);
        let parcel = self.slab.parcel(slot);
        parcel.stage += 1;
        let flow = &self.flows[parcel.flow as usize];
        let way = &self.ways[flow.way as usize];
        let (path, rest) = match parcel.onward {
            true => (&way.onward, flow.to_receiver),
            false => (&way.back, flow.to_sender),
        };
        let last = parcel.stage as usize == path.len();
        if last && parcel.data {
            self.recorder.passed(flow.class, parcel.flow);
        }
        if last {
            self.send_off(at + rest, slot, egress);
        } else {
            self.agenda.note(at + self.links[link].delay, Due::Packet(slot));
        }
    }

    fn settle(&mut self) {
        while let Some(held) = self.lost.pop() {
            self.lose(slot_of(&held));
        }
    }

    fn lose(&mut self, slot: Slot) {
        let parcel = self.slab.parcel(slot);
        if parcel.data {
            self.recorder.dropped(self.flows[parcel.flow as usize].class, parcel.flow);
        }
        self.slab.give(slot);
    }
}

fn slot_of(held: &Held) -> Slot {
    held.load.seq() as Slot
}
