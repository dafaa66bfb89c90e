//! A queue whose discipline chooses what to send when the wire, or the transmit ring before it,
//! has room.

use super::{Serializer, Verdict};
use crate::parcel::Parcel;
use crate::probe::link::LinkMeter;
use crate::queue::spec::DepartureQueue;
use crate::queue::{Departure, Limit, Queued};
use crate::ring::Ring;
use crate::time::Picos;

pub(super) struct Scheduled {
    queue: DepartureQueue,
    /// Packets that may wait between the queue and the wire.
    ring: usize,
    pub(super) free_at: Picos,
    /// When the packets in the ring start, in order.
    starts: Ring<Picos>,
    bytes_on_wire: u32,
    parcels: Parcels,
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
            starts: Ring::default(),
            bytes_on_wire: 0,
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
        self.queue.bytes() + if self.free_at > now { u64::from(self.bytes_on_wire) } else { 0 }
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
        meter.level(now, self.queue.packets());
        let queued = Queued {
            flow: parcel.flow,
            bytes: parcel.bytes,
            arrived: now,
            ecn_capable: parcel.ecn,
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
        (self.queue.packets() > 0).then(|| match self.starts.front() {
            Some(&start) if self.starts.len() >= self.ring.max(1) => start,
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
        while self.starts.front().is_some_and(|&start| start <= now) {
            self.starts.drop_oldest(1);
        }
        meter.level(now, self.queue.packets());
        let parcels = &mut self.parcels;
        let (queued, marked) = self.queue.dequeue(now, &mut |dropped| {
            let parcel = parcels.take(dropped.handle);
            meter.dropped(parcel.class);
            lost.push(parcel);
        })?;
        let parcel = parcels.take(queued.handle);
        let (start, work) = (self.free_at.max(now), wire.time(parcel.bytes));
        if start > now {
            self.starts.push_back(start);
        } else {
            meter.wakes(now, self.free_at);
        }
        self.free_at = start + work;
        self.bytes_on_wire = parcel.bytes;
        if marked {
            meter.marked(parcel.class);
        }
        meter.served(start - queued.arrived, work);
        meter.started(parcel.class, u64::from(parcel.bytes));
        Some((parcel, self.free_at, marked))
    }
}
