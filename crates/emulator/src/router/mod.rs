//! The router: it forwards packets between the two namespaces over the links of the plan.
//!
//! Everything happens at its computed time: a packet leaves a link a computed time after the
//! one before it, however late this process runs. It has no clock and device; `router_loop` runs it
//! and gives it the arrival times of packets.

pub mod burst;
pub mod capture;
pub mod channels;
mod cpu;
pub mod dsack_audit;
pub mod far_end;
mod forwarding;
pub mod packet;
pub mod recorder;
mod round_trips;
pub mod router_loop;
mod routes;
mod slab;
mod stall_drops;
mod tcp_segment;
mod timer_queue;
pub mod timing;
pub mod tun_ports;
pub mod wake_policy;

#[cfg(test)]
mod tests;

use crate::plan::Plan;
use forebay_sim::link::{Link, LinkInfo, Links};
use forebay_sim::packet::Packet;
use forebay_sim::queue::parse::NamingError;
use forebay_sim::time::{NEVER, Picos};
use recorder::{Recorder, RouterReadings};
use routes::{Flow, Layout, Route};
use slab::Slab;
pub use slab::Slot;
use std::net::Ipv4Addr;
use tcp_segment::Segment;
use timer_queue::{Due, TimerQueue};

/// A namespace: sender's or receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The plan's sender.
    Left,
    /// The plan's receiver.
    Right,
}

/// Receives packets that have reached their end.
pub trait Egress {
    /// A packet reaches `side`; it was due there `at`.
    fn deliver(&mut self, side: Side, at: Picos, packet: &[u8]);
    /// Whether packets to `side` are accepted as soon as their time of delivery is known.
    fn takes_early(&self, _: Side) -> bool {
        false
    }
    /// Accepts a packet with its buffer before its time of delivery.
    fn post(&mut self, _: TimedPacket) {}
    /// A packet's last bit leaves a link `at`, now or soon.
    fn departs(&mut self, link: usize, at: Picos, packet: &[u8]);
    /// A packet comes back `at`, now, over a route without links.
    fn returns(&mut self, _at: Picos, _packet: &[u8]) {}
}

/// A packet on its last hop, with its time of delivery.
pub struct TimedPacket {
    /// Side of delivery.
    pub side: Side,
    /// Time of delivery.
    pub at: Picos,
    /// The buffer's number.
    pub slot: Slot,
    /// The packet's length.
    pub bytes: usize,
    /// The buffer, which starts with the packet.
    pub buffer: Box<[u8]>,
}

/// Links, flows and the packets between them, without clock and device.
pub struct Router {
    flows: Vec<Flow>,
    routes: Vec<Route>,
    links: Links,
    /// Scheduled time of each link's next service.
    service_at: Vec<Picos>,
    timer_queue: TimerQueue,
    slab: Slab,
    /// First addresses of the flows, left and right.
    first: [u32; 2],
    recorder: Recorder,
    /// Packets that a queue dropped while it dequeued or accepted another.
    side_drops: Vec<Packet>,
    /// Bytes that the first link has accepted since the start of the run.
    pub first_link_bytes: u64,
}

impl Router {
    /// An idle router.
    pub fn new(plan: &Plan) -> Result<Self, NamingError> {
        let mut layout = Layout::of(plan)?;
        if let Some(first) = layout.links.first_mut() {
            first.meter.tell_classes_apart();
        }
        Ok(Self {
            service_at: vec![NEVER; layout.links.len()],
            recorder: Recorder::new(plan),
            flows: layout.flows,
            routes: layout.routes,
            links: Links::new(layout.links, layout.pools),
            timer_queue: TimerQueue::default(),
            slab: Slab::new(routes::largest_packet(plan).next_multiple_of(64) as usize),
            first: [plan.first_sender, plan.first_receiver].map(Ipv4Addr::to_bits),
            side_drops: Vec::new(),
            first_link_bytes: 0,
        })
    }

    /// All links, those of the plan first.
    pub fn link_infos(&self) -> impl Iterator<Item = LinkInfo> {
        self.links.iter().map(Link::info)
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

    /// Takes back the buffer of a packet that was posted.
    #[inline]
    pub fn restore(&mut self, slot: Slot, buffer: Box<[u8]>) {
        self.slab.restore(slot, buffer);
    }

    /// Whether packets from the right cross no queue, and packets to the right are data, so that no
    /// link has both.
    pub fn acks_cross_no_queue(&self) -> bool {
        let reverse = self.flows.iter().any(|flow| flow.reverse);
        !reverse && self.routes.iter().all(|route| route.backward.is_empty())
    }

    /// When the router next has something to do.
    #[inline]
    pub fn next_at(&self) -> Picos {
        self.timer_queue.next_at().min(self.recorder.next_at)
    }

    /// Shortest time of all flows from the last link to an end.
    pub fn min_last_hop_delay(&self) -> Picos {
        let tun_ports = self.flows.iter().map(|flow| flow.to_receiver.min(flow.to_sender));
        tun_ports.min().unwrap_or(0)
    }

    /// Whether the measured window is over.
    pub fn finished(&self) -> bool {
        self.recorder.finished()
    }

    /// Handles the next event if it is due by `now`; false if none is.
    #[inline]
    pub fn step(&mut self, now: Picos, egress: &mut impl Egress) -> bool {
        let at = self.timer_queue.next_at().min(now);
        if at >= self.recorder.next_at {
            self.recorder.take(at, &mut self.links);
        }
        if self.timer_queue.next_at() > now || self.finished() {
            return false;
        }
        match self.timer_queue.pop() {
            Some((at, Due::Packet(slot))) => self.on_packet(at, slot, egress),
            Some((at, Due::Service(link))) => self.on_dequeue_event(at, link as usize, egress),
            None => return false,
        }
        self.recorder.events += 1;
        true
    }

    /// A packet of `bytes` has been read into `slot` from `side` at `now`. No other event is due
    /// before that.
    pub fn arrive(
        &mut self,
        now: Picos,
        side: Side,
        slot: Slot,
        bytes: usize,
        egress: &mut impl Egress,
    ) {
        let Some(meta) = self.identify(side, slot, bytes) else {
            self.recorder.unmatched += 1;
            return self.slab.give(slot);
        };
        *self.slab.meta_of(slot) = meta;
        let flow = &mut self.flows[meta.flow as usize];
        if meta.data {
            self.recorder.sent(flow.class);
        }
        if meta.forward
            && let Some(segment) = Segment::read(self.slab.packet(slot))
        {
            flow.round_trips.sends(now, &segment);
        }
        let at = if meta.forward { flow.through_access(now, meta.bytes) } else { now };
        if at > now {
            self.timer_queue.note(at, Due::Packet(slot));
        } else {
            self.on_packet(now, slot, egress);
        }
    }

    /// A thread that serves it ran at `now`, so much later than it should have.
    #[inline]
    pub fn ran_late(&mut self, now: Picos, late: Picos) {
        self.recorder.stall_drops.ran_late(now, late);
    }

    /// Returns the readings after the window.
    pub fn finish(self) -> RouterReadings {
        self.recorder.finish(self.links)
    }
}
