//! A link: a queue in front of a wire of fixed rate.
//!
//! Where the discipline decides on arrival and sends in order, a packet's departure is known when
//! it arrives: neither the start nor the end of a transmission needs an event. Where it chooses
//! what to send when the wire is free, the link asks for an event at that time. Where, besides, all
//! packets are of one size, the time until the wire is free says everything about the queue.

mod conditioned_fifo;
mod conditioner;
mod dequeue_driven;
mod division;
mod fifo;
mod fixed_size_fifo;
mod jitter;
mod links;
mod loss_channel;
mod token_bucket;

use crate::config::{FramingSpec, LinkSpec};
use crate::meters::link::LinkMeter;
use crate::packet::Packet;
use crate::queue::parameters::Wire;
use crate::queue::registry::Discipline;
use crate::queue::{DequeueDiscipline, EnqueueDiscipline, Limit};
use crate::time::{Picos, serialization};
use conditioned_fifo::ConditionedFifo;
use conditioner::Conditioner;
use dequeue_driven::DequeueDriven;
use fifo::Fifo;
use fixed_size_fifo::FixedSizeFifo;
pub use links::Links;
use prefetch_index::prefetch_index;
use std::slice::from_ref;

/// What becomes of a packet that arrives at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is dropped.
    Dropped,
    /// It goes on at this time: its last bit leaves the wire, and whatever delays it behind that is over.
    Departs(Picos),
    /// The same with a congestion mark (CE).
    DepartsMarked(Picos),
    /// It waits; `Link::dequeue` gives its departure.
    Queued,
}

impl Verdict {
    #[inline(always)]
    fn departs(at: Picos, marked: bool) -> Self {
        if marked { Self::DepartsMarked(at) } else { Self::Departs(at) }
    }
}

/// A queue and the wire that it feeds. What most packets touch lies in three lines of the cache: the first two, and the
/// first one of the meter.
#[repr(C, align(64))]
pub struct Link {
    /// Propagation to the next link of a route.
    pub delay: Picos,
    queue: Queue,
    /// Readings.
    pub meter: LinkMeter,
    /// Memory that it shares with other links: which, and its alpha.
    pub pool: Option<(usize, f64)>,
    wire: Serializer,
}

/// What a link is, read from the link itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkInfo {
    /// The queue's name.
    pub discipline: &'static str,
    /// What may wait in it.
    pub limit: Limit,
    /// Packets between queue and wire.
    pub transmit_ring: usize,
    /// Rate of the wire.
    pub rate_bps: f64,
    /// Propagation to the next link.
    pub delay: Picos,
    /// Its share of the memory that it shares, if it does.
    pub alpha: Option<f64>,
}

#[allow(clippy::large_enum_variant)] // a few links; and every packet would pay for the pointer
#[repr(u8)] // a tag of its own: to find it hidden in another field takes longer
enum Queue {
    FixedSizeFifo(FixedSizeFifo),
    Fifo(Fifo),
    ConditionedFifo(Box<ConditionedFifo>),
    DequeueDriven(Box<DequeueDriven>),
}

/// Serialization times; the last size is remembered, since nearly all packets are of one size.
struct Serializer {
    rate_bps: f64,
    framing: Option<FramingSpec>,
    last: (u32, Picos),
}

impl Link {
    /// An idle link that `classes` traffic classes share. The specification has been checked.
    /// `uniform` is the size of every packet, where they are all of one size.
    pub fn new(
        spec: &LinkSpec,
        wire: &Wire,
        seed: u64,
        classes: usize,
        uniform: Option<u32>,
    ) -> Self {
        let discipline = spec.queue.build(wire, seed).expect("checked with the configuration");
        let ring = spec.transmit_ring as usize;
        let plain = ring == 0 && spec.pool.is_none();
        let uniform =
            uniform.map(|bytes| (bytes, serialization(spec.on_line(bytes), spec.rate_bps)));
        let conditioner = Conditioner::of(spec, seed);
        let (queue, capacity) = match discipline {
            Discipline::AtEnqueue(queue) => {
                let capacity = queue.capacity();
                let queue = match (conditioner, uniform) {
                    (Some(conditioner), _) => {
                        Queue::ConditionedFifo(Box::new(ConditionedFifo::new(queue, conditioner)))
                    }
                    (None, Some((bytes, tx_time)))
                        if plain && fixed_size_fifo::takes(tx_time, capacity) =>
                    {
                        Queue::FixedSizeFifo(FixedSizeFifo::new(queue, bytes, tx_time, classes))
                    }
                    _ => Queue::Fifo(Fifo::new(queue, ring)),
                };
                (queue, capacity)
            }
            Discipline::AtDequeue(queue) => {
                let capacity = queue.capacity();
                (
                    Queue::DequeueDriven(Box::new(DequeueDriven::new(queue, ring, conditioner))),
                    capacity,
                )
            }
        };
        Self {
            delay: spec.delay,
            pool: spec.pool.map(|(pool, alpha)| (pool as usize, alpha)),
            meter: LinkMeter::new(capacity, classes),
            wire: Serializer { rate_bps: spec.rate_bps, framing: spec.framing, last: (0, 0) },
            queue,
        }
    }

    /// Calls what most packets touch into the cache.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_index(from_ref(&self.delay), 0);
        prefetch_index(from_ref(&self.meter), 0);
    }

    /// Calls the counts of a packet that arrives at `at` into the cache, as far as is known now.
    #[inline]
    pub fn prefetch_counts(&self, at: Picos) {
        if let Queue::FixedSizeFifo(queue) = &self.queue {
            self.meter.delay.prefetch(queue.prefetch_counts(at));
        }
    }

    /// What was built.
    pub fn info(&self) -> LinkInfo {
        let (discipline, limit, transmit_ring) = match &self.queue {
            Queue::FixedSizeFifo(queue) => queue.info(),
            Queue::Fifo(queue) => queue.info(),
            Queue::ConditionedFifo(queue) => queue.info(),
            Queue::DequeueDriven(queue) => queue.info(),
        };
        LinkInfo {
            discipline,
            limit,
            transmit_ring,
            rate_bps: self.wire.rate_bps,
            delay: self.delay,
            alpha: self.pool.map(|(_, alpha)| alpha),
        }
    }

    /// `enqueue` for what happens most: a packet that needs no mark and no shared memory arrives at a
    /// queue that asks no more than how many wait. `None` where more has to be asked; nothing was done then.
    #[inline(always)]
    fn try_enqueue_fast(&mut self, now: Picos, class: u16) -> Option<Verdict> {
        match &mut self.queue {
            Queue::FixedSizeFifo(queue) => queue.try_enqueue_fast(now, class, &mut self.meter),
            _ => None,
        }
    }

    /// Packets arrive, the first at `at.0` and each `at.1` after the one before, as long as that is before `until`; the times of their
    /// departures are put into `departures`, and left alone where they are dropped. Gives how many have arrived: where the
    /// queue is not a plain one, or has to be asked for each, none or fewer.
    #[inline(always)]
    pub fn enqueue_run(
        &mut self,
        at: (Picos, Picos),
        until: Picos,
        class: u16,
        departures: &mut [Picos],
    ) -> usize {
        match &mut self.queue {
            Queue::FixedSizeFifo(queue) => {
                queue.enqueue_run(at, until, class, departures, &mut self.meter)
            }
            _ => 0,
        }
    }

    /// A packet arrives at the queue. Others that are dropped because of it go to `lost`.
    #[inline(always)]
    fn enqueue(&mut self, now: Picos, packet: &Packet, lost: &mut Vec<Packet>) -> Verdict {
        let Self { wire, meter, .. } = self;
        if let Queue::DequeueDriven(queue) = &mut self.queue {
            return queue.enqueue(now, packet, meter, lost);
        }
        if let Queue::ConditionedFifo(queue) = &mut self.queue {
            return queue.enqueue(now, packet, wire, meter);
        }
        let arriving = packet.as_arriving();
        match &mut self.queue {
            Queue::FixedSizeFifo(queue) => queue.enqueue(now, arriving, meter),
            Queue::Fifo(queue) => queue.enqueue(now, arriving, wire, meter),
            Queue::ConditionedFifo(_) | Queue::DequeueDriven(_) => unreachable!("asked first"),
        }
    }

    /// A packet that arrived found no room in the memory that the link shares.
    fn refuse(&mut self, now: Picos, class: u16) {
        let waiting = self.waiting(now);
        self.meter.arrived(class);
        self.meter.saw(waiting);
        self.meter.dropped(class);
    }

    /// When `dequeue` is next due, if the link needs it.
    #[inline]
    pub fn next_dequeue_at(&self) -> Option<Picos> {
        match &self.queue {
            Queue::DequeueDriven(queue) => queue.next_dequeue_at(),
            _ => None,
        }
    }

    /// Whether an arrival may make `next_dequeue_at` earlier.
    pub fn has_rate_limits(&self) -> bool {
        matches!(&self.queue, Queue::DequeueDriven(queue) if queue.has_rate_limits())
    }

    /// Takes the next packet off the queue: it departs, with a mark or without, at the time given. And when the next
    /// `dequeue` is due, if it is.
    #[inline(always)]
    pub fn dequeue(
        &mut self,
        now: Picos,
        lost: &mut Vec<Packet>,
    ) -> (Option<(Packet, Picos, bool)>, Option<Picos>) {
        match &mut self.queue {
            Queue::DequeueDriven(queue) => {
                queue.dequeue(now, &mut self.wire, &mut self.meter, lost)
            }
            _ => (None, None),
        }
    }

    /// Forgets all readings: the measured window begins with the batch that has just begun.
    pub fn begin(&mut self, detailed: bool) {
        self.meter.begin(detailed);
        if let Queue::FixedSizeFifo(queue) = &mut self.queue {
            queue.set_detailed(detailed);
        }
    }

    /// Ends a batch of readings at `now` and begins the next.
    pub fn end_batch(&mut self, now: Picos) {
        let at_batch_end = match &mut self.queue {
            Queue::FixedSizeFifo(queue) => queue.settle(now, &mut self.meter),
            Queue::Fifo(queue) => {
                queue.advance(now, &mut self.wire, &mut self.meter);
                queue.at_batch_end(now)
            }
            Queue::ConditionedFifo(queue) => {
                queue.advance(now, &mut self.wire, &mut self.meter);
                queue.at_batch_end(now)
            }
            Queue::DequeueDriven(queue) => {
                queue.advance(now, &mut self.meter);
                queue.at_batch_end(now)
            }
        };
        self.meter.end_batch(now, at_batch_end);
    }

    /// Packets that wait at `now`, as the router counts them.
    pub fn waiting(&mut self, now: Picos) -> usize {
        match &mut self.queue {
            Queue::FixedSizeFifo(queue) => queue.waiting(now),
            Queue::Fifo(queue) => {
                queue.advance(now, &mut self.wire, &mut self.meter);
                queue.in_queue()
            }
            Queue::ConditionedFifo(queue) => {
                queue.advance(now, &mut self.wire, &mut self.meter);
                queue.packets()
            }
            Queue::DequeueDriven(queue) => queue.packets(),
        }
    }

    /// Bytes that wait or are on the wire at `now`.
    pub fn bytes_held(&mut self, now: Picos) -> u64 {
        match &mut self.queue {
            Queue::FixedSizeFifo(queue) => queue.bytes_held(now),
            Queue::Fifo(queue) => {
                queue.advance(now, &mut self.wire, &mut self.meter);
                queue.bytes_held(now)
            }
            Queue::ConditionedFifo(queue) => {
                queue.advance(now, &mut self.wire, &mut self.meter);
                queue.bytes_held(now)
            }
            Queue::DequeueDriven(queue) => {
                queue.advance(now, &mut self.meter);
                queue.bytes_held(now)
            }
        }
    }
}

impl Serializer {
    #[inline(always)]
    fn time(&mut self, bytes: u32) -> Picos {
        if self.last.0 != bytes {
            let line = self.framing.map_or(bytes, |framing| framing.on_line(bytes));
            self.last = (bytes, serialization(line, self.rate_bps));
        }
        self.last.1
    }
}
