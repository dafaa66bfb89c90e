//! A queue that sends in order of arrival: every departure is planned on arrival.

use super::{Serializer, Verdict};
use crate::meters::link::{AtBatchEnd, LinkMeter};
use crate::packet::ArrivingPacket;
use crate::queue::registry::EnqueueQueue;
use crate::queue::{Backlog, EnqueueDecision, EnqueueDiscipline, Limit};
use crate::ring::Ring;
use crate::time::{BEYOND, NEVER, Picos};

/// Packets of one kind that wait one behind the other. With one kind of traffic all that wait is
/// one run, and a packet that joins or leaves it touches no memory of its own.
#[derive(Clone, Copy, Default)]
struct PacketRun {
    packets: usize,
    bytes: u32,
    class: u16,
}

pub(super) struct Fifo {
    queue: EnqueueQueue,
    /// Packets between the queue and the wire; the queue does not count them.
    ring: usize,
    pub(super) free_at: Picos,
    /// When the first that waits starts, that is when the one on the wire ends; `NEVER` where none
    /// waits. Each starts when the one before it ends.
    next_start: Picos,
    bytes_on_wire: u32,
    class_on_wire: u16,
    /// The first that wait; empty only where none does.
    first: PacketRun,
    /// Those behind them.
    behind_first: Ring<PacketRun>,
    /// Packets and bytes of `behind_first`.
    behind: (usize, u64),
}

impl Fifo {
    pub(super) fn new(queue: EnqueueQueue, ring: usize) -> Self {
        Self {
            queue,
            ring,
            free_at: 0,
            next_start: NEVER,
            bytes_on_wire: 0,
            class_on_wire: 0,
            first: PacketRun::default(),
            behind_first: Ring::default(),
            behind: (0, 0),
        }
    }

    /// Name and limit of the queue, and the packets of the ring.
    pub(super) fn info(&self) -> (&'static str, Limit, usize) {
        (self.queue.name(), self.queue.limit(), self.ring)
    }

    #[inline(always)]
    pub(super) fn enqueue(
        &mut self,
        now: Picos,
        packet: ArrivingPacket,
        wire: &mut Serializer,
        meter: &mut LinkMeter,
    ) -> Verdict {
        self.advance(now, wire, meter);
        let backlog = self.backlog(now);
        meter.arrived(packet.class);
        meter.saw(backlog.packets);
        let decision = self.queue.on_enqueue(now, packet.bytes, packet.ecn, &backlog);
        if decision == EnqueueDecision::Drop {
            meter.dropped(packet.class);
            return Verdict::Dropped;
        }
        if decision == EnqueueDecision::Mark {
            meter.marked(packet.class);
        }
        let tx_time = wire.time(packet.bytes);
        if backlog.delay == 0 {
            meter.wakes(now, self.free_at);
            (self.bytes_on_wire, self.class_on_wire) = (packet.bytes, packet.class);
            meter.started(packet.class, 1, u64::from(packet.bytes), tx_time);
        } else {
            self.wait(packet);
        }
        let starts = now + backlog.delay;
        self.free_at = (starts + tx_time).min(BEYOND);
        meter.served(packet.class, backlog.delay, self.free_at - starts);
        Verdict::departs(self.free_at, decision == EnqueueDecision::Mark)
    }

    #[inline(always)]
    fn wait(&mut self, packet: ArrivingPacket) {
        if self.first.packets == 0 {
            self.next_start = self.free_at;
            self.first = PacketRun { packets: 1, bytes: packet.bytes, class: packet.class };
        } else if self.behind_first.is_empty() && self.first.is_of(packet) {
            self.first.packets += 1;
        } else {
            self.wait_behind(packet);
        }
    }

    #[inline(never)]
    fn wait_behind(&mut self, packet: ArrivingPacket) {
        match self.behind_first.back_mut() {
            Some(last) if last.is_of(packet) => last.packets += 1,
            _ => self.behind_first.push_back(PacketRun {
                packets: 1,
                bytes: packet.bytes,
                class: packet.class,
            }),
        }
        self.behind.0 += 1;
        self.behind.1 += u64::from(packet.bytes);
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.first.packets + self.behind.0
    }

    #[inline]
    fn bytes_waiting(&self) -> u64 {
        self.first.packets as u64 * u64::from(self.first.bytes) + self.behind.1
    }

    /// What the discipline sees; of what waits in the ring it sees nothing.
    #[inline]
    fn backlog(&self, now: Picos) -> Backlog {
        let bytes = self.bytes_waiting() - if self.ring == 0 { 0 } else { self.bytes_in_ring() };
        Backlog { packets: self.in_queue(), bytes, delay: self.free_at.saturating_sub(now) }
    }

    /// The first that wait are in the ring.
    fn bytes_in_ring(&self) -> u64 {
        let (mut room, mut bytes) = (self.ring, 0);
        let others = (0..self.behind_first.len()).map(|index| self.behind_first[index]);
        for run in std::iter::once(self.first).chain(others) {
            let packets = run.packets.min(room);
            bytes += packets as u64 * u64::from(run.bytes);
            room -= packets;
            if room == 0 {
                break;
            }
        }
        bytes
    }

    /// Packets that wait as the router counts them: those in the transmit ring are past the queue.
    #[inline]
    pub(super) fn in_queue(&self) -> usize {
        self.waiting().saturating_sub(self.ring)
    }

    /// What the readings of `now` need, once the transmissions that have started by then are counted.
    pub(super) fn at_batch_end(&self, now: Picos) -> AtBatchEnd {
        let ends = self.next_start.min(self.free_at);
        AtBatchEnd {
            free_at: self.free_at,
            backlog: self.free_at.saturating_sub(now),
            on_wire: (ends > now).then(|| (self.class_on_wire, ends - now)),
            held: self.waiting() as u64,
            decides_on_arrival: true,
            lost: 0,
        }
    }

    pub(super) fn bytes_held(&self, now: Picos) -> u64 {
        self.bytes_waiting() + if self.free_at > now { u64::from(self.bytes_on_wire) } else { 0 }
    }

    /// Lets those start whose time has come; the readings are then those of `now`.
    pub(super) fn advance(&mut self, now: Picos, wire: &mut Serializer, meter: &mut LinkMeter) {
        while self.next_start <= now {
            meter.advance_level(self.next_start, self.in_queue());
            let PacketRun { bytes, class, .. } = self.first;
            (self.bytes_on_wire, self.class_on_wire) = (bytes, class);
            let tx_time = wire.time(bytes);
            meter.started(class, 1, u64::from(bytes), tx_time);
            self.first.packets -= 1;
            if self.first.packets == 0 {
                self.first = self.behind_first.pop_front().unwrap_or_default();
                self.behind.0 -= self.first.packets;
                self.behind.1 -= self.first.packets as u64 * u64::from(self.first.bytes);
            }
            let next = self.next_start + tx_time;
            self.next_start = if self.first.packets == 0 { NEVER } else { next };
        }
        meter.advance_level(now, self.in_queue());
    }
}

impl PacketRun {
    #[inline]
    fn is_of(&self, packet: ArrivingPacket) -> bool {
        (self.bytes, self.class) == (packet.bytes, packet.class)
    }
}
