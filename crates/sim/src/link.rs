//! A link: a FIFO queue in front of a wire of fixed rate.
//!
//! On such a link a packet's departure is known when it arrives, so that neither the start nor the
//! end of a transmission needs an event of its own.

use crate::config::LinkSpec;
use crate::probe::link::LinkMeter;
use crate::queue::drop_tail::DropTail;
use crate::time::{Picos, serialization};
use std::collections::VecDeque;

/// What became of a packet that was offered to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was lost.
    Dropped,
    /// Its last bit leaves the wire at this time, with a congestion mark or without.
    Departs(Picos, bool),
}

#[derive(Clone, Copy)]
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
    waiting: VecDeque<Waiting>,
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
            waiting: VecDeque::with_capacity(spec.queue.capacity().min(4096)),
            last_size: (0, 0),
            meter: LinkMeter::new(spec.queue.capacity(), classes),
        }
    }

    /// A packet arrives at the queue.
    #[inline]
    pub fn offer(&mut self, now: Picos, bytes: u32, class: u16) -> Verdict {
        self.advance(now);
        let start = self.free_at.max(now);
        if start > now && !self.queue.admits(self.in_queue()) {
            self.meter.dropped(class);
            return Verdict::Dropped;
        }
        self.free_at = start + self.serialization(bytes);
        self.meter.accepted(class, start - now, self.free_at - start);
        if start > now {
            self.meter.level(now, self.in_queue());
            self.waiting.push_back(Waiting { start, bytes, class });
        } else {
            self.meter.started(class, bytes);
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
        while let Some(&first) = self.waiting.front() {
            if first.start > now {
                break;
            }
            self.meter.level(first.start, self.in_queue());
            self.meter.started(first.class, first.bytes);
            self.waiting.pop_front();
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
