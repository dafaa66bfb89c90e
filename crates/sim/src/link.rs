//! A link: a FIFO queue in front of a wire of fixed rate.
//!
//! On such a link a packet's departure is known when it arrives, so that neither the start nor the
//! end of a transmission needs an event of its own.

use crate::config::LinkSpec;
use crate::probe::link::LinkMeter;
use crate::queue::drop_tail::DropTail;
use crate::ring::Ring;
use crate::time::{NEVER, Picos, serialization};

/// What became of a packet that was offered to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was lost.
    Dropped,
    /// Its last bit leaves the wire at this time, with a congestion mark or without.
    Departs(Picos, bool),
}

#[derive(Clone, Copy, Default)]
struct Waiting {
    /// When its transmission starts.
    start: Picos,
    bytes: u32,
    class: u16,
}

/// See the module's page.
pub struct Link {
    rate_bps: f64,
    queue: DropTail,
    ring: usize,
    /// Propagation to the next link of a route.
    pub delay: Picos,
    free_at: Picos,
    waiting: Ring<Waiting>,
    /// When the first of them starts; `NEVER` where none waits.
    next_start: Picos,
    /// The last size seen and its serialization time: nearly all packets are of one size.
    last_size: (u32, Picos),
    /// Readings.
    pub meter: LinkMeter,
}

impl Link {
    /// An idle link that `classes` traffic classes will share.
    pub fn new(spec: &LinkSpec, classes: usize) -> Self {
        Self {
            rate_bps: spec.rate_bps,
            queue: spec.queue,
            ring: spec.transmit_ring as usize,
            delay: spec.delay,
            free_at: 0,
            waiting: Ring::default(),
            next_start: NEVER,
            last_size: (0, 0),
            meter: LinkMeter::new(spec.queue.capacity(), classes),
        }
    }

    /// A packet arrives at the queue.
    #[inline]
    pub fn offer(&mut self, now: Picos, bytes: u32, class: u16) -> Verdict {
        self.advance(now);
        let work = self.serialization(bytes);
        if self.free_at <= now {
            self.free_at = now + work;
            self.meter.accepted(class, 0, work);
            self.meter.started(class, bytes);
        } else {
            let queued = self.in_queue();
            if !self.queue.admits(queued) {
                self.meter.dropped(class);
                return Verdict::Dropped;
            }
            let start = self.free_at;
            self.free_at += work;
            self.meter.accepted(class, start - now, work);
            self.meter.level(now, queued);
            if self.waiting.is_empty() {
                self.next_start = start;
            }
            self.waiting.push_back(Waiting { start, bytes, class });
        }
        Verdict::Departs(self.free_at, false)
    }

    /// Ends a batch of readings at `now` and begins the next.
    pub fn cut(&mut self, now: Picos) {
        self.advance(now);
        self.meter.level(now, self.in_queue());
        self.meter.cut(self.free_at.saturating_sub(now));
    }

    /// Packets that wait at `now`.
    pub fn waiting(&mut self, now: Picos) -> usize {
        self.advance(now);
        self.in_queue()
    }

    /// Packets that wait as the router counts them: those in the transmit ring are past the queue.
    #[inline]
    fn in_queue(&self) -> usize {
        self.waiting.len().saturating_sub(self.ring)
    }

    #[inline]
    fn advance(&mut self, now: Picos) {
        while self.next_start <= now {
            self.meter.level(self.next_start, self.in_queue());
            if let Some(first) = self.waiting.pop_front() {
                self.meter.started(first.class, first.bytes);
            }
            self.next_start = self.waiting.front().map_or(NEVER, |next| next.start);
        }
    }

    #[inline]
    fn serialization(&mut self, bytes: u32) -> Picos {
        if self.last_size.0 != bytes {
            self.last_size = (bytes, serialization(bytes, self.rate_bps));
        }
        self.last_size.1
    }
}
