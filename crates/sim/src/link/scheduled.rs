//! A queue whose discipline chooses what to send when the wire, or the transmit ring before it,
//! has room.

use super::{Serializer, Verdict};
use crate::parcel::Parcel;
use crate::probe::link::{AtCut, LinkMeter};
use crate::queue::spec::DepartureQueue;
use crate::queue::{Departure, Limit, Queued};
use crate::ring::Ring;
use crate::time::Picos;

pub(super) struct Scheduled {
    queue: DepartureQueue,
    /// Packets that may wait between the queue and the wire.
    ring: usize,
    pub(super) free_at: Picos,
    /// The packets in the ring.
    chosen: Ring<Chosen>,
    bytes_chosen: u64,
    bytes_on_wire: u32,
    class_on_wire: u16,
    parcels: Parcels,
}

/// A packet that has left the queue, and waits for the wire in the ring.
#[derive(Clone, Copy, Default)]
struct Chosen {
    start: Picos,
    work: Picos,
    bytes: u32,
    class: u16,
}

/// What belongs to each packet that the discipline holds, by its handle.
#[derive(Default)]
struct Parcels {
    slots: Vec<Parcel>,
    free: Vec<u32>,
}

impl Parcels {
    fn put(&mut self, parcel: Parcel) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = parcel;
            return slot;
        }
        self.slots.push(parcel);
        self.slots.len() as u32 - 1
    }

    fn take(&mut self, slot: u32) -> Parcel {
        self.free.push(slot);
        self.slots[slot as usize]
    }
}

impl Scheduled {
    pub(super) fn new(queue: DepartureQueue, ring: usize) -> Self {
        Self {
            queue,
            ring,
            free_at: 0,
            chosen: Ring::default(),
            bytes_chosen: 0,
            bytes_on_wire: 0,
            class_on_wire: 0,
            parcels: Parcels::default(),
        }
    }

    /// Name and limit of the queue, and the packets of the ring.
    pub(super) fn built(&self) -> (&'static str, Limit, usize) {
        (self.queue.name(), self.queue.limit(), self.ring)
    }

    pub(super) fn packets(&self) -> usize {
        self.queue.packets()
    }

    pub(super) fn bytes_held(&self, now: Picos) -> u64 {
        let sending = if self.free_at > now { u64::from(self.bytes_on_wire) } else { 0 };
        self.queue.bytes() + self.bytes_chosen + sending
    }

    /// Lets those start whose time has come; the readings are then those of `now`.
    pub(super) fn advance(&mut self, now: Picos, meter: &mut LinkMeter) {
        while let Some(&Chosen { start, work, bytes, class }) = self.chosen.front()
            && start <= now
        {
            self.chosen.drop_oldest(1);
            self.bytes_chosen -= u64::from(bytes);
            self.begin(class, bytes, work, meter);
        }
        meter.level(now, self.queue.packets());
    }

    /// A transmission begins.
    fn begin(&mut self, class: u16, bytes: u32, work: Picos, meter: &mut LinkMeter) {
        (self.bytes_on_wire, self.class_on_wire) = (bytes, class);
        meter.started(class, 1, u64::from(bytes), work);
    }

    /// What the readings of `now` need, once those are told that have started by then.
    pub(super) fn at_cut(&self, now: Picos) -> AtCut {
        let ends = self.chosen.front().map_or(self.free_at, |first| first.start);
        AtCut {
            free_at: self.free_at,
            on_wire: (ends > now).then(|| (self.class_on_wire, ends - now)),
            held: (self.queue.packets() + self.chosen.len()) as u64,
            decides_on_arrival: false,
        }
    }

    pub(super) fn offer(
        &mut self,
        now: Picos,
        parcel: &Parcel,
        meter: &mut LinkMeter,
        lost: &mut Vec<Parcel>,
    ) -> Verdict {
        meter.arrived(parcel.class);
        meter.found(self.queue.packets());
        self.advance(now, meter);
        let queued = Queued {
            flow: parcel.flow,
            bytes: parcel.bytes,
            arrived: now,
            ecn_capable: parcel.load.is_ecn_capable(),
            handle: self.parcels.put(*parcel),
        };
        let parcels = &mut self.parcels;
        self.queue.enqueue(now, queued, &mut |dropped| {
            let parcel = parcels.take(dropped.handle);
            meter.dropped(parcel.class);
            lost.push(parcel);
        });
        Verdict::Waits
    }

    /// When the wire is free, or the ring has room again.
    pub(super) fn next_service(&self) -> Option<Picos> {
        (self.queue.packets() > 0).then(|| match self.chosen.front() {
            Some(first) if self.chosen.len() >= self.ring.max(1) => first.start,
            _ if self.ring == 0 => self.free_at,
            _ => 0,
        })
    }

    pub(super) fn serve(
        &mut self,
        now: Picos,
        wire: &mut Serializer,
        meter: &mut LinkMeter,
        lost: &mut Vec<Parcel>,
    ) -> Option<(Parcel, Picos, bool)> {
        self.advance(now, meter);
        let parcels = &mut self.parcels;
        let (queued, marked) = self.queue.dequeue(now, &mut |dropped| {
            let parcel = parcels.take(dropped.handle);
            meter.dropped(parcel.class);
            lost.push(parcel);
        })?;
        let parcel = parcels.take(queued.handle);
        let (start, work) = (self.free_at.max(now), wire.time(parcel.bytes));
        if start > now {
            let (bytes, class) = (parcel.bytes, parcel.class);
            self.chosen.push_back(Chosen { start, work, bytes, class });
            self.bytes_chosen += u64::from(parcel.bytes);
        } else {
            meter.wakes(now, self.free_at);
            self.begin(parcel.class, parcel.bytes, work, meter);
        }
        self.free_at = start + work;
        if marked {
            meter.marked(parcel.class);
        }
        meter.served(parcel.class, start - queued.arrived, work);
        Some((parcel, self.free_at, marked))
    }
}
