//! A queue that sends in order of arrival, behind a policer, before a shaper or of a link that loses packets or delays them: as order and
//! tokens are known when a packet arrives, its departure is planned then.

use super::conditioner::Conditioner;
use super::{Serializer, Verdict};
use crate::config::LossPlace;
use crate::meters::link::{AtBatchEnd, LinkMeter};
use crate::packet::{ArrivingPacket, Packet};
use crate::queue::registry::EnqueueQueue;
use crate::queue::{Backlog, EnqueueDecision, EnqueueDiscipline, Limit};
use crate::ring::Ring;
use crate::time::{BEYOND, Picos};

/// A packet that waits.
#[derive(Clone, Copy, Default)]
struct Waiting {
    start: Picos,
    /// Its time at the rate that readings are of.
    work: Picos,
    bytes: u32,
    class: u16,
}

pub(super) struct ConditionedFifo {
    queue: EnqueueQueue,
    conditioner: Conditioner,
    /// When the wire will have sent all that was accepted.
    free_at: Picos,
    waiting: Ring<Waiting>,
    bytes_waiting: u64,
    /// What those that wait will take.
    work_waiting: Picos,
    on_wire: OnWire,
}

/// The packet that started last.
#[derive(Clone, Copy, Default)]
struct OnWire {
    ends: Picos,
    tx_time: Picos,
    work: Picos,
    bytes: u32,
    class: u16,
}

impl ConditionedFifo {
    pub(super) fn new(queue: EnqueueQueue, conditioner: Conditioner) -> Self {
        Self {
            queue,
            conditioner,
            free_at: 0,
            waiting: Ring::default(),
            bytes_waiting: 0,
            work_waiting: 0,
            on_wire: OnWire::default(),
        }
    }

    /// Name and limit of the queue, and the packets of the ring.
    pub(super) fn info(&self) -> (&'static str, Limit, usize) {
        (self.queue.name(), self.queue.limit(), 0)
    }

    pub(super) fn enqueue(
        &mut self,
        now: Picos,
        packet: &Packet,
        wire: &mut Serializer,
        meter: &mut LinkMeter,
    ) -> Verdict {
        self.advance(now, wire, meter);
        let ArrivingPacket { bytes, class, ecn } = packet.as_arriving();
        if self.conditioner.loses(LossPlace::BeforeQueue, bytes) {
            return Verdict::Dropped;
        }
        meter.arrived(class);
        meter.saw(self.waiting.len());
        if !self.conditioner.admits(now, bytes) {
            meter.dropped(class);
            return Verdict::Dropped;
        }
        let start = self.conditioner.starts_at(self.free_at.max(now), bytes).min(BEYOND);
        let delay = start - now;
        let backlog = Backlog { packets: self.waiting.len(), bytes: self.bytes_waiting, delay };
        let decision = self.queue.on_enqueue(now, bytes, ecn, &backlog);
        if decision == EnqueueDecision::Drop {
            meter.dropped(class);
            return Verdict::Dropped;
        }
        if decision == EnqueueDecision::Mark {
            meter.marked(class);
        }
        self.conditioner.plan(start, bytes);
        let tx_time = wire.time(bytes);
        let work = self.conditioner.work(bytes, tx_time);
        let tx_time = self.conditioner.time_on_wire(start, bytes, tx_time);
        meter.served(class, delay, work);
        self.free_at = (start + tx_time).min(BEYOND);
        let waiting = Waiting { start, work, bytes, class };
        if delay == 0 {
            self.begin(waiting, tx_time, meter);
        } else {
            self.waiting.push_back(waiting);
            self.bytes_waiting += u64::from(bytes);
            self.work_waiting += work;
        }
        if self.conditioner.loses(LossPlace::AfterQueue, bytes) {
            return Verdict::Dropped;
        }
        let goes_on = self.conditioner.goes_on_at(self.free_at, packet.payload.is_ack());
        Verdict::departs(goes_on, decision == EnqueueDecision::Mark)
    }

    /// Lets those start whose time has come; the readings are then those of `now`.
    pub(super) fn advance(&mut self, now: Picos, wire: &mut Serializer, meter: &mut LinkMeter) {
        while let Some(&first) = self.waiting.front()
            && first.start <= now
        {
            meter.advance_level(first.start, self.waiting.len());
            self.waiting.drop_oldest(1);
            self.bytes_waiting -= u64::from(first.bytes);
            self.work_waiting -= first.work;
            let tx_time = wire.time(first.bytes);
            let tx_time = self.conditioner.time_on_wire(first.start, first.bytes, tx_time);
            self.begin(first, tx_time, meter);
        }
        meter.advance_level(now, self.waiting.len());
    }

    /// A transmission begins.
    fn begin(&mut self, packet: Waiting, tx_time: Picos, meter: &mut LinkMeter) {
        let Waiting { start, work, bytes, class } = packet;
        self.conditioner.begin(start, start + tx_time, work, meter);
        meter.started(class, 1, u64::from(bytes), work);
        self.on_wire = OnWire { ends: start + tx_time, tx_time, work, bytes, class };
    }

    pub(super) fn packets(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn bytes_held(&self, now: Picos) -> u64 {
        self.bytes_waiting + if self.on_wire.ends > now { u64::from(self.on_wire.bytes) } else { 0 }
    }

    /// What the readings of `now` need, once the transmissions that have started by then are counted.
    pub(super) fn at_batch_end(&mut self, now: Picos) -> AtBatchEnd {
        let OnWire { ends, tx_time, work, class, .. } = self.on_wire;
        let rest = ends.saturating_sub(now);
        let scaled = self.conditioner.rest_on_wire(now, ends, (work, tx_time));
        let backlog = self.conditioner.rest(now) + self.work_waiting;
        AtBatchEnd {
            free_at: self.conditioner.free_at(now, backlog),
            backlog,
            on_wire: (rest > 0).then_some((class, scaled)),
            held: self.waiting.len() as u64,
            decides_on_arrival: true,
            lost: self.conditioner.take_lost(),
        }
    }
}
