//! A queue that sends in order of arrival: every departure is planned on arrival.

use super::{Arriving, Verdict};
use crate::probe::link::LinkMeter;
use crate::queue::spec::ArrivalQueue;
use crate::queue::{Admission, Arrival, Backlog};
use crate::ring::Ring;
use crate::time::{NEVER, Picos};

#[derive(Clone, Copy, Default)]
struct Waiting {
    /// When its transmission starts.
    start: Picos,
    bytes: u32,
    class: u16,
}

pub(super) struct Planned {
    queue: ArrivalQueue,
    /// Packets between the queue and the wire; the queue does not count them.
    ring: usize,
    pub(super) free_at: Picos,
    waiting: Ring<Waiting>,
    /// When the first of them starts; `NEVER` where none waits.
    next_start: Picos,
    bytes_waiting: u64,
    bytes_on_wire: u32,
}

impl Planned {
    pub(super) fn new(queue: ArrivalQueue, ring: usize) -> Self {
        Self {
            queue,
            ring,
            free_at: 0,
            waiting: Ring::default(),
            next_start: NEVER,
            bytes_waiting: 0,
            bytes_on_wire: 0,
        }
    }

    #[inline]
    pub(super) fn offer(
        &mut self,
        now: Picos,
        packet: Arriving,
        work: Picos,
        meter: &mut LinkMeter,
    ) -> Verdict {
        self.advance(now, meter);
        let backlog = self.backlog(now);
        meter.arrived(packet.class, backlog.packets);
        let admission = self.queue.admit(now, packet.bytes, packet.ecn, &backlog);
        if admission == Admission::Drop {
            meter.dropped(packet.class);
            return Verdict::Dropped;
        }
        if backlog.delay == 0 {
            meter.wakes(now);
        }
        if admission == Admission::Mark {
            meter.marked(packet.class);
        }
        meter.served(backlog.delay, work);
        self.free_at = now + backlog.delay + work;
        if backlog.delay == 0 {
            self.bytes_on_wire = packet.bytes;
            meter.started(packet.class, packet.bytes);
        } else {
            meter.level(now, backlog.packets);
            self.wait(now + backlog.delay, packet);
        }
        Verdict::Departs(self.free_at, admission == Admission::Mark)
    }

    #[inline]
    fn wait(&mut self, start: Picos, packet: Arriving) {
        if self.waiting.is_empty() {
            self.next_start = start;
        }
        self.bytes_waiting += u64::from(packet.bytes);
        self.waiting.push_back(Waiting { start, bytes: packet.bytes, class: packet.class });
    }

    /// What the discipline sees; of what waits in the ring it sees nothing.
    #[inline]
    fn backlog(&self, now: Picos) -> Backlog {
        let packets = self.in_queue();
        let bytes = if self.ring == 0 {
            self.bytes_waiting
        } else {
            // Exact where all packets are of one size.
            self.bytes_waiting * packets as u64 / self.waiting.len().max(1) as u64
        };
        Backlog { packets, bytes, delay: self.free_at.saturating_sub(now) }
    }

    /// Packets that wait as the router counts them: those in the transmit ring are past the queue.
    #[inline]
    pub(super) fn in_queue(&self) -> usize {
        self.waiting.len().saturating_sub(self.ring)
    }

    pub(super) fn bytes_held(&self, now: Picos) -> u64 {
        self.bytes_waiting + if self.free_at > now { u64::from(self.bytes_on_wire) } else { 0 }
    }

    #[inline]
    pub(super) fn advance(&mut self, now: Picos, meter: &mut LinkMeter) {
        while self.next_start <= now {
            meter.level(self.next_start, self.in_queue());
            if let Some(first) = self.waiting.pop_front() {
                self.bytes_waiting -= u64::from(first.bytes);
                self.bytes_on_wire = first.bytes;
                meter.started(first.class, first.bytes);
            }
            self.next_start = self.waiting.front().map_or(NEVER, |next| next.start);
        }
    }
}
