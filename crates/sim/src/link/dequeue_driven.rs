//! A queue whose discipline chooses what to send when the wire, or the transmit ring before it,
//! has room.

use super::{Serializer, Verdict};
use crate::meters::link::{AtBatchEnd, LinkMeter};
use crate::packet::Packet;
use crate::queue::registry::DequeueQueue;
use crate::queue::{DequeueDiscipline, Limit, QueuedPacket};
use crate::ring::Ring;
use crate::time::Picos;

pub(super) struct DequeueDriven {
    queue: DequeueQueue,
    /// Packets that may wait between the queue and the wire.
    ring: usize,
    pub(super) free_at: Picos,
    /// The packets in the ring.
    tx_ring: Ring<RingPacket>,
    tx_ring_bytes: u64,
    bytes_on_wire: u32,
    class_on_wire: u16,
    held: PacketSlots,
}

/// A packet that has left the queue, and waits for the wire in the ring.
#[derive(Clone, Copy, Default)]
struct RingPacket {
    start: Picos,
    tx_time: Picos,
    bytes: u32,
    class: u16,
}

/// What belongs to each packet that the discipline holds, by its handle.
#[derive(Default)]
struct PacketSlots {
    slots: Vec<Packet>,
    free: Vec<u32>,
}

impl PacketSlots {
    fn put(&mut self, packet: Packet) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = packet;
            return slot;
        }
        self.slots.push(packet);
        self.slots.len() as u32 - 1
    }

    fn take(&mut self, slot: u32) -> Packet {
        self.free.push(slot);
        self.slots[slot as usize]
    }
}

impl DequeueDriven {
    pub(super) fn new(queue: DequeueQueue, ring: usize) -> Self {
        Self {
            queue,
            ring,
            free_at: 0,
            tx_ring: Ring::default(),
            tx_ring_bytes: 0,
            bytes_on_wire: 0,
            class_on_wire: 0,
            held: PacketSlots::default(),
        }
    }

    /// Name and limit of the queue, and the packets of the ring.
    pub(super) fn info(&self) -> (&'static str, Limit, usize) {
        (self.queue.name(), self.queue.limit(), self.ring)
    }

    pub(super) fn packets(&self) -> usize {
        self.queue.packets()
    }

    pub(super) fn bytes_held(&self, now: Picos) -> u64 {
        let sending = if self.free_at > now { u64::from(self.bytes_on_wire) } else { 0 };
        self.queue.bytes() + self.tx_ring_bytes + sending
    }

    /// Lets those start whose time has come; the readings are then those of `now`.
    pub(super) fn advance(&mut self, now: Picos, meter: &mut LinkMeter) {
        while let Some(&RingPacket { start, tx_time, bytes, class }) = self.tx_ring.front()
            && start <= now
        {
            self.tx_ring.drop_oldest(1);
            self.tx_ring_bytes -= u64::from(bytes);
            self.begin(class, bytes, tx_time, meter);
        }
        meter.advance_level(now, self.queue.packets());
    }

    /// A transmission begins.
    fn begin(&mut self, class: u16, bytes: u32, tx_time: Picos, meter: &mut LinkMeter) {
        (self.bytes_on_wire, self.class_on_wire) = (bytes, class);
        meter.started(class, 1, u64::from(bytes), tx_time);
    }

    /// What the readings of `now` need, once those are told that have started by then.
    pub(super) fn at_batch_end(&self, now: Picos) -> AtBatchEnd {
        let ends = self.tx_ring.front().map_or(self.free_at, |first| first.start);
        AtBatchEnd {
            free_at: self.free_at,
            on_wire: (ends > now).then(|| (self.class_on_wire, ends - now)),
            held: (self.queue.packets() + self.tx_ring.len()) as u64,
            decides_on_arrival: false,
        }
    }

    pub(super) fn enqueue(
        &mut self,
        now: Picos,
        packet: &Packet,
        meter: &mut LinkMeter,
        lost: &mut Vec<Packet>,
    ) -> Verdict {
        meter.arrived(packet.class);
        meter.saw(self.queue.packets());
        self.advance(now, meter);
        let queued = QueuedPacket {
            flow: packet.flow,
            bytes: packet.bytes,
            arrived: now,
            ecn_capable: packet.payload.is_ecn_capable(),
            handle: self.held.put(*packet),
        };
        let held = &mut self.held;
        self.queue.enqueue(now, queued, &mut |dropped| {
            let packet = held.take(dropped.handle);
            meter.dropped(packet.class);
            lost.push(packet);
        });
        Verdict::Waits
    }

    /// When the wire is free, or the ring has room again.
    pub(super) fn next_dequeue_at(&self) -> Option<Picos> {
        (self.queue.packets() > 0).then(|| match self.tx_ring.front() {
            Some(first) if self.tx_ring.len() >= self.ring.max(1) => first.start,
            _ if self.ring == 0 => self.free_at,
            _ => 0,
        })
    }

    pub(super) fn dequeue(
        &mut self,
        now: Picos,
        wire: &mut Serializer,
        meter: &mut LinkMeter,
        lost: &mut Vec<Packet>,
    ) -> Option<(Packet, Picos, bool)> {
        self.advance(now, meter);
        let held = &mut self.held;
        let (queued, marked) = self.queue.dequeue(now, &mut |dropped| {
            let packet = held.take(dropped.handle);
            meter.dropped(packet.class);
            lost.push(packet);
        })?;
        let packet = held.take(queued.handle);
        let (start, tx_time) = (self.free_at.max(now), wire.time(packet.bytes));
        if start > now {
            let (bytes, class) = (packet.bytes, packet.class);
            self.tx_ring.push_back(RingPacket { start, tx_time, bytes, class });
            self.tx_ring_bytes += u64::from(packet.bytes);
        } else {
            meter.wakes(now, self.free_at);
            self.begin(packet.class, packet.bytes, tx_time, meter);
        }
        self.free_at = start + tx_time;
        if marked {
            meter.marked(packet.class);
        }
        meter.served(packet.class, start - queued.arrived, tx_time);
        Some((packet, self.free_at, marked))
    }
}
