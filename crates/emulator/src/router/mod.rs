//! The router: it forwards packets between the two namespaces over the links of the plan.
//!
//! Everything happens at its computed time: a packet leaves a link so many picoseconds after the
//! one before it, however late this process runs. It knows no clock and no device; `pump` moves it
//! and tells it when packets arrive.

mod agenda;
pub mod capture;
mod ends;
pub mod gauge;
pub mod packet;
pub mod pump;
pub mod recorder;
mod slab;
mod ways;

#[cfg(test)]
mod tests;

use crate::plan::Plan;
use agenda::{Agenda, Due};
use forebay_sim::link::{Arriving, Link, Verdict, memory_admits};
use forebay_sim::parcel::{Load, Parcel as Held};
use forebay_sim::queue::naming::NamingError;
use forebay_sim::time::{NEVER, Picos};
use recorder::{Recorder, RouterReadings};
pub use slab::Slot;
use slab::{Parcel, Slab};
use std::net::Ipv4Addr;
use ways::{Flow, Layout, Way};

/// A namespace: sender's or receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The plan's sender.
    Left,
    /// The plan's receiver.
    Right,
}

/// Where packets go that have reached their end.
pub trait Egress {
    /// A packet reaches `side`; it was due there `at`.
    fn deliver(&mut self, side: Side, at: Picos, packet: &[u8]);
    /// A packet's last bit leaves the first link `at`, now or soon.
    fn departs(&mut self, at: Picos, packet: &[u8]);
}

/// See the module's page.
pub struct Router {
    flows: Vec<Flow>,
    ways: Vec<Way>,
    links: Vec<Link>,
    pools: Vec<u64>,
    /// When the next service of each link is noted for.
    service_at: Vec<Picos>,
    agenda: Agenda,
    slab: Slab,
    /// What the flows' addresses count from, left and right.
    first: [u32; 2],
    recorder: Recorder,
    /// Packets that a queue lost while it did something else.
    lost: Vec<Held>,
    /// Bytes that the first link has taken on since the run began.
    pub first_link_bytes: u64,
}

impl Router {
    /// An idle router.
    pub fn new(plan: &Plan) -> Result<Self, NamingError> {
        let layout = Layout::of(plan)?;
        Ok(Self {
            service_at: vec![NEVER; layout.links.len()],
            recorder: Recorder::new(plan),
            flows: layout.flows,
            ways: layout.ways,
            links: layout.links,
            pools: layout.pools,
            agenda: Agenda::default(),
            slab: Slab::new(ways::largest_packet(plan).next_multiple_of(64) as usize),
            first: [plan.first_sender, plan.first_receiver].map(Ipv4Addr::to_bits),
            lost: Vec::new(),
            first_link_bytes: 0,
        })
    }

    /// A buffer to read a packet into, or the limit of memory that it would exceed.
    #[inline]
    pub fn take(&mut self) -> Result<Slot, usize> {
        self.slab.take()
    }

    /// The buffer's bytes.
    #[inline]
    pub fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    /// Gives back a buffer into which nothing was read.
    #[inline]
    pub fn give(&mut self, slot: Slot) {
        self.slab.give(slot);
    }

    /// When the router next has something to do.
    #[inline]
    pub fn next_at(&self) -> Picos {
        self.agenda.next_at().min(self.recorder.next_at)
    }

    /// Whether the measured window is over.
    pub fn finished(&self) -> bool {
        self.recorder.finished()
    }

    /// Does what is due next, if that is not after `now`; false if nothing is.
    #[inline]
    pub fn step(&mut self, now: Picos, egress: &mut impl Egress) -> bool {
        let at = self.agenda.next_at().min(now);
        if at >= self.recorder.next_at {
            self.recorder.take(at, &mut self.links);
        }
        if self.agenda.next_at() > now || self.finished() {
            return false;
        }
        match self.agenda.pop() {
            Some((at, Due::Packet(slot))) => self.on_packet(at, slot, egress),
            Some((at, Due::Service(link))) => self.on_service(at, link as usize, egress),
            None => return false,
        }
        self.recorder.events += 1;
        true
    }

    /// A packet of `bytes` has been read into `slot` from `side` at `now`. Nothing else is due
    /// before that.
    pub fn arrive(
        &mut self,
        now: Picos,
        side: Side,
        slot: Slot,
        bytes: usize,
        egress: &mut impl Egress,
    ) {
        let Some(parcel) = self.identify(side, slot, bytes) else {
            self.recorder.strays += 1;
            return self.slab.give(slot);
        };
        *self.slab.parcel(slot) = parcel;
        let flow = &mut self.flows[parcel.flow as usize];
        if parcel.data {
            self.recorder.sent(flow.class);
        }
        let at = if parcel.onward { flow.through_access(now, parcel.bytes) } else { now };
        if at > now {
            self.agenda.note(at, Due::Packet(slot));
        } else {
            self.on_packet(now, slot, egress);
        }
    }

    fn identify(&mut self, side: Side, slot: Slot, bytes: usize) -> Option<Parcel> {
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
    fn on_packet(&mut self, now: Picos, slot: Slot, egress: &mut impl Egress) {
        let parcel = *self.slab.parcel(slot);
        let flow = &self.flows[parcel.flow as usize];
        let way = &self.ways[flow.way as usize];
        let path = if parcel.onward { &way.onward } else { &way.back };
        match path.get(parcel.stage as usize) {
            Some(&link) => self.offer(now, slot, link, egress),
            // An ACK that crosses no queue has the rest of its way before it.
            None if path.is_empty() && parcel.stage == 0 => {
                self.slab.parcel(slot).stage = 1;
                self.agenda.note(now + flow.to_sender, Due::Packet(slot));
            }
            None => {
                let side = if parcel.onward == flow.reverse { Side::Left } else { Side::Right };
                egress.deliver(side, now, self.slab.packet(slot));
                self.slab.give(slot);
            }
        }
    }

    fn offer(&mut self, now: Picos, slot: Slot, link: usize, egress: &mut impl Egress) {
        let parcel = *self.slab.parcel(slot);
        let class = self.flows[parcel.flow as usize].class;
        if !memory_admits(&mut self.links, &self.pools, link, now, parcel.bytes) {
            self.links[link].refuse(class);
            return self.lose(slot);
        }
        let arriving = Arriving { bytes: parcel.bytes, class, ecn: parcel.ecn };
        let load = Load::Data { seq: slot.into(), marked: false };
        let (flow, bytes, stage) = (parcel.flow, parcel.bytes, parcel.stage);
        let held = Held { flow, bytes, class, stage, ecn: parcel.ecn, load };
        match self.links[link].offer(now, arriving, || held, &mut self.lost) {
            Verdict::Departs(at, marked) => self.pass(slot, link, at, marked, egress),
            Verdict::Dropped => self.lose(slot),
            Verdict::Waits => self.await_service(now, link),
        }
        self.settle();
    }

    fn on_service(&mut self, now: Picos, link: usize, egress: &mut impl Egress) {
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
        if link == 0 {
            let packet = self.slab.packet(slot);
            self.first_link_bytes += packet.len() as u64;
            egress.departs(at, packet);
        }
        let parcel = self.slab.parcel(slot);
        parcel.stage += 1;
        let flow = &self.flows[parcel.flow as usize];
        let way = &self.ways[flow.way as usize];
        let (path, rest) = match parcel.onward {
            true => (&way.onward, flow.to_receiver),
            false => (&way.back, flow.to_sender),
        };
        let last = parcel.stage as usize == path.len();
        self.recorder.packets += u64::from(last && parcel.data);
        let onward = if last { rest } else { self.links[link].delay };
        self.agenda.note(at + onward, Due::Packet(slot));
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

    /// What was read, once the window is over.
    pub fn finish(self) -> RouterReadings {
        self.recorder.finish(self.links)
    }
}

fn slot_of(held: &Held) -> Slot {
    match held.load {
        Load::Data { seq, .. } => seq as Slot,
        Load::Ack(_) => unreachable!("links are handed data only"),
    }
}
