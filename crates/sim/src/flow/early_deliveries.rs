//! What receivers have counted before it has come.
//!
//! A receiver moves on as soon as it is known when a packet leaves the last queue. A reading of an
//! instant before that is not to have it yet; most packets have left before the next one.

use crate::flow::counts::Counts;
use crate::time::Picos;

/// What a packet adds to its flow's counts.
pub(crate) struct EarlyDelivery {
    /// When it leaves the last queue.
    at: Picos,
    /// Whose it is.
    pub(crate) flow: u32,
    /// Segments in order.
    pub(crate) segments: u64,
    /// The same in bytes on the link.
    pub(crate) bytes: u64,
}

/// What leaves the last queue after the end of the batch in which it was counted.
pub(crate) struct EarlyDeliveries {
    /// The next instant at which counts are read.
    pub(crate) next_batch_end: Picos,
    pub(crate) deliveries: Vec<EarlyDelivery>,
}

impl EarlyDeliveries {
    /// None yet; counts are read at `next_batch_end` first.
    pub(crate) fn until(next_batch_end: Picos) -> Self {
        Self { next_batch_end, deliveries: Vec::new() }
    }

    /// A packet that leaves the last queue at `at`, after the batch, has taken the counts of `flow` from
    /// `before` to `after`.
    pub(crate) fn record(&mut self, at: Picos, flow: u32, before: &Counts, after: &Counts) {
        let segments = after.received - before.received;
        let bytes = after.received_bytes - before.received_bytes;
        self.deliveries.push(EarlyDelivery { at, flow, segments, bytes });
    }

    /// Forgets what has left by `now`.
    pub(crate) fn leave(&mut self, now: Picos) {
        self.deliveries.retain(|delivery| delivery.at > now);
    }
}
