//! A queue whose discipline chooses what to send when the wire, or the transmit ring before it,
//! has room.

use super::conditioner::Conditioner;
use super::{Serializer, Verdict};
use crate::config::LossPlace;
use crate::meters::link::{AtBatchEnd, LinkMeter};
use crate::packet::Packet;
use crate::queue::packets::Packets;
use crate::queue::registry::DequeueQueue;
use crate::queue::{DequeueDiscipline, Limit, QueuedPacket};
use crate::ring::Ring;
use crate::time::{BEYOND, Picos};

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
    /// What the packet on the wire takes of the link by the readings, and its time on the wire. Without a ring and a shaper
    /// that is the same, and stays as it was at first.
    work_on_wire: (Picos, Picos),
    /// Those of the queue.
    packets: Packets,
    /// The queue has limits of rate.
    has_rate_limits: bool,
    /// There is neither a ring nor a shaper nor a limit of rate: what waits goes when the wire is free.
    waits_for_wire_alone: bool,
    conditioner: Option<Conditioner>,
}

/// A packet that has left the queue, and waits for the wire in the ring.
#[derive(Clone, Copy, Default)]
struct RingPacket {
    start: Picos,
    /// Its time on the wire, or at a shaper's rate.
    work: Picos,
    tx_time: Picos,
    bytes: u32,
    class: u16,
}

impl DequeueDriven {
    pub(super) fn new(queue: DequeueQueue, ring: usize, conditioner: Option<Conditioner>) -> Self {
        let has_rate_limits = queue.ready_at().is_some();
        Self {
            queue,
            ring,
            free_at: 0,
            tx_ring: Ring::default(),
            tx_ring_bytes: 0,
            bytes_on_wire: 0,
            class_on_wire: 0,
            work_on_wire: (1, 1),
            packets: Packets::EMPTY,
            has_rate_limits,
            waits_for_wire_alone: ring == 0 && conditioner.is_none() && !has_rate_limits,
            conditioner,
        }
    }

    /// Name and limit of the queue, and the packets of the ring.
    pub(super) fn info(&self) -> (&'static str, Limit, usize) {
        (self.queue.name(), self.queue.limit(), self.ring)
    }

    pub(super) fn packets(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn bytes_held(&self, now: Picos) -> u64 {
        let sending = if self.wire_ends() > now { u64::from(self.bytes_on_wire) } else { 0 };
        self.queue.bytes() + self.tx_ring_bytes + sending
    }

    /// Lets those start whose time has come; the readings are then those of `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: Picos, meter: &mut LinkMeter) {
        if !self.tx_ring.is_empty() {
            self.begin_due(now, meter);
        }
        meter.advance_level(now, self.packets.len());
    }

    /// Those of the ring begin whose time has come.
    #[inline(never)]
    fn begin_due(&mut self, now: Picos, meter: &mut LinkMeter) {
        while let Some(&packet) = self.tx_ring.front()
            && packet.start <= now
        {
            self.tx_ring.drop_oldest(1);
            self.tx_ring_bytes -= u64::from(packet.bytes);
            self.begin(packet, meter);
        }
    }

    /// A transmission begins.
    fn begin(&mut self, packet: RingPacket, meter: &mut LinkMeter) {
        let RingPacket { start, work, tx_time, bytes, class } = packet;
        (self.bytes_on_wire, self.class_on_wire) = (bytes, class);
        self.work_on_wire = (work, tx_time.max(1));
        meter.started(class, 1, u64::from(bytes), work);
        if let Some(conditioner) = &mut self.conditioner {
            conditioner.begin(start, start + tx_time, work, meter);
        }
    }

    /// When the packet on the wire ends, once the transmissions that have started by `now` are counted.
    fn wire_ends(&self) -> Picos {
        match self.tx_ring.front() {
            Some(_) if self.waits_for_tokens() => 0,
            Some(first) => first.start,
            None => self.free_at,
        }
    }

    /// A packet is taken off the queue only when the wire is free: if it does not start then, it waits
    /// for tokens.
    fn waits_for_tokens(&self) -> bool {
        self.ring == 0
    }

    /// What the readings of `now` need, once the transmissions that have started by then are counted.
    pub(super) fn at_batch_end(&mut self, now: Picos) -> AtBatchEnd {
        let rest = self.wire_ends().saturating_sub(now);
        let (work, tx_time) = self.work_on_wire;
        let ends = self.wire_ends();
        let (free_at, backlog, scaled) = match &mut self.conditioner {
            Some(conditioner) => {
                let ahead = (0..self.tx_ring.len()).map(|index| self.tx_ring[index].work);
                let backlog = conditioner.rest(now) + ahead.sum::<Picos>();
                let scaled = conditioner.rest_on_wire(now, ends, (work, tx_time));
                (conditioner.free_at(now, backlog), backlog, scaled)
            }
            None => {
                let scaled = u128::from(rest) * u128::from(work) / u128::from(tx_time);
                (self.free_at, self.free_at.saturating_sub(now), scaled as Picos)
            }
        };
        AtBatchEnd {
            free_at,
            backlog,
            on_wire: (rest > 0).then_some((self.class_on_wire, scaled)),
            held: (self.packets.len() + self.tx_ring.len()) as u64,
            decides_on_arrival: false,
            lost: self.conditioner.as_mut().map_or(0, Conditioner::take_lost),
        }
    }

    #[inline(always)]
    pub(super) fn enqueue(
        &mut self,
        now: Picos,
        packet: &Packet,
        meter: &mut LinkMeter,
        lost: &mut Vec<Packet>,
    ) -> Verdict {
        if let Some(conditioner) = &mut self.conditioner
            && conditioner.loses(LossPlace::BeforeQueue, packet.bytes)
        {
            return Verdict::Dropped;
        }
        meter.arrived(packet.class);
        meter.saw(self.packets.len());
        self.advance(now, meter);
        if let Some(conditioner) = &mut self.conditioner
            && !conditioner.admits(now, packet.bytes)
        {
            meter.dropped(packet.class);
            return Verdict::Dropped;
        }
        let queued = QueuedPacket {
            flow: packet.flow,
            class: packet.class,
            bytes: packet.bytes,
            arrived: now,
            payload: packet.payload,
        };
        let number = self.packets.insert(queued);
        self.queue.enqueue(now, number, &mut self.packets);
        self.account_dropped(meter, lost);
        Verdict::Queued
    }

    /// Counts what the discipline has dropped.
    #[inline(always)]
    fn account_dropped(&mut self, meter: &mut LinkMeter, lost: &mut Vec<Packet>) {
        self.packets.remove_dropped(|dropped| {
            let &QueuedPacket { flow, class, bytes, payload, .. } = dropped;
            meter.dropped(class);
            lost.push(Packet { flow, bytes, class, payload });
        });
    }

    /// Whether an arrival may make the next dequeue earlier.
    #[inline(always)]
    pub(super) fn has_rate_limits(&self) -> bool {
        self.has_rate_limits
    }

    /// When the wire is free, or the ring has room again, and the queue and the shaper let a packet go.
    /// An arrival never makes it earlier but where the queue has limits of rate.
    #[inline(always)]
    pub(super) fn next_dequeue_at(&self) -> Option<Picos> {
        let at = if self.waits_for_wire_alone { self.free_at } else { self.ready_at() };
        (!self.packets.is_empty()).then_some(at)
    }

    /// When something that waits may be dequeued, of any link.
    #[inline(never)]
    fn ready_at(&self) -> Picos {
        let has_room = match self.tx_ring.front() {
            _ if self.ring == 0 => self.free_at,
            Some(first) if self.tx_ring.len() >= self.ring => first.start,
            _ => 0,
        };
        let shaper = self.conditioner.as_ref().map_or(0, Conditioner::ready_at);
        let queue = if self.has_rate_limits { self.queue.ready_at().unwrap_or(0) } else { 0 };
        has_room.max(shaper).max(queue)
    }

    /// The next packet, when it leaves the wire, and whether it is marked. And when the next `dequeue` is due, if it is.
    #[inline(always)]
    pub(super) fn dequeue(
        &mut self,
        now: Picos,
        wire: &mut Serializer,
        meter: &mut LinkMeter,
        lost: &mut Vec<Packet>,
    ) -> (Option<(Packet, Picos, bool)>, Option<Picos>) {
        self.advance(now, meter);
        let sent = self.queue.dequeue(now, &mut self.packets);
        self.account_dropped(meter, lost);
        let Some((number, marked)) = sent else { return (None, self.next_dequeue_at()) };
        let &QueuedPacket { flow, class, bytes, arrived, payload } = self.packets.remove(number);
        let tx_time = wire.time(bytes);
        let packet = Packet { flow, bytes, class, payload };
        if !self.waits_for_wire_alone {
            let departs = self.send(now, class, bytes, arrived, tx_time, marked, meter);
            if !self.crosses_wire(bytes) {
                lost.push(packet);
                return (None, self.next_dequeue_at());
            }
            let goes_on = self.goes_on_at(departs, payload.is_ack());
            return (Some((packet, goes_on, marked)), self.next_dequeue_at());
        }
        debug_assert!(self.free_at <= now);
        meter.wakes(now, self.free_at);
        let departs = now + tx_time;
        self.free_at = departs;
        (self.bytes_on_wire, self.class_on_wire) = (bytes, class);
        meter.sent_at_once(class, bytes, now - arrived, tx_time, marked);
        (Some((packet, departs, marked)), (!self.packets.is_empty()).then_some(departs))
    }

    /// Whether a packet reaches the end of the wire.
    fn crosses_wire(&mut self, bytes: u32) -> bool {
        let conditioner = self.conditioner.as_mut();
        conditioner.is_none_or(|conditioner| !conditioner.loses(LossPlace::AfterQueue, bytes))
    }

    /// When a packet goes on that leaves the wire at `departs`.
    fn goes_on_at(&mut self, departs: Picos, is_ack: bool) -> Picos {
        let conditioner = self.conditioner.as_mut();
        conditioner.map_or(departs, |conditioner| conditioner.goes_on_at(departs, is_ack))
    }

    /// A packet goes to the ring, to the shaper or on the wire, which it leaves at the time given.
    #[allow(clippy::too_many_arguments)] // a struct of them would be put into memory for packets that need none of this
    #[inline(never)]
    fn send(
        &mut self,
        now: Picos,
        class: u16,
        bytes: u32,
        arrived: Picos,
        tx_time: Picos,
        marked: bool,
        meter: &mut LinkMeter,
    ) -> Picos {
        let (mut start, mut work, mut tx_time) = (self.free_at.max(now), tx_time, tx_time);
        if let Some(conditioner) = &mut self.conditioner {
            start = conditioner.starts_at(start, bytes).min(BEYOND);
            conditioner.plan(start, bytes);
            work = conditioner.work(bytes, tx_time);
            tx_time = conditioner.time_on_wire(start, bytes, tx_time);
        }
        let leaving = RingPacket { start, work, tx_time, bytes, class };
        if start > now {
            self.tx_ring.push_back(leaving);
            self.tx_ring_bytes += u64::from(bytes);
        } else {
            if self.conditioner.is_none() {
                meter.wakes(now, self.free_at);
            }
            self.begin(leaving, meter);
        }
        self.free_at = start + tx_time;
        if marked {
            meter.marked(class);
        }
        meter.served(class, start - arrived, work);
        self.free_at
    }
}
