//! What a link reads about itself: in each batch, over the window, and when a batch ends.

use super::periods::Periods;
use crate::time::Picos;

/// Counts of one traffic class at one queue.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct ClassCounts {
    /// Packets that reached the queue.
    pub arrivals: u64,
    /// Packets that the queue dropped.
    pub drops: u64,
    /// Packets that the queue marked instead (CE, RFC 3168).
    pub marks: u64,
    /// Packets of which it has been decided that they are sent: on arrival, or where the discipline
    /// chooses when the wire is free, then.
    pub accepted: u64,
    /// Packets whose transmission began.
    pub sent: u64,
    /// The same in bytes.
    pub sent_bytes: u64,
    /// Time that its packets were on the wire.
    pub busy: Picos,
}

/// Readings between two cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkBatch {
    /// Time during which the wire was busy.
    pub busy: Picos,
    /// Integral of the packets waiting, packet-picoseconds.
    pub queue_area: u128,
    /// Time spent with a number of waiting packets in each bin of `LinkMeter::bin_width` packets, as
    /// far as any was spent.
    pub queue_time: Vec<Picos>,
    /// Sum of the waiting times of the packets accepted, picoseconds.
    pub delay_sum: u128,
    /// Packets before the wire, those in a transmit ring included, at its end.
    pub held: u64,
    /// Packets that the link itself lost, before its queue or on its wire (`LossSpec`).
    pub lost: u64,
    /// One entry a traffic class that the meter tells apart.
    pub classes: Vec<ClassCounts>,
}

/// Readings that cost time at every packet, over the whole window.
#[derive(Clone)]
pub struct LinkDetail {
    /// Packets that arrived while the packets waiting were in each bin of `LinkMeter::bin_width`.
    pub queue_seen_by_arrivals: Vec<u64>,
    /// Busy and idle periods of the wire.
    pub periods: Periods,
}

/// What a link is like when a batch ends.
#[derive(Clone, Copy)]
pub struct AtBatchEnd {
    /// When the wire was, or will be, free of all that has been accepted.
    pub free_at: Picos,
    /// Work that has been accepted and is not done.
    pub backlog: Picos,
    /// Class and rest of the packet on the wire.
    pub on_wire: Option<(u16, Picos)>,
    /// Packets before the wire.
    pub held: u64,
    /// Whether packets are accepted when they arrive.
    pub decides_on_arrival: bool,
    /// Packets that the link has lost in the batch.
    pub lost: u64,
}

impl LinkBatch {
    /// Takes what was read, with the bins that were used: a buffer is rarely as full as it can be.
    pub(super) fn taken(&mut self) -> Self {
        let used = self.queue_time.iter().rposition(|&span| span > 0).map_or(1, |last| last + 1);
        let queue_time = self.queue_time[..used].to_vec();
        self.queue_time[..used].fill(0);
        let classes = vec![ClassCounts::default(); self.classes.len()];
        Self {
            busy: std::mem::take(&mut self.busy),
            queue_area: std::mem::take(&mut self.queue_area),
            queue_time,
            delay_sum: std::mem::take(&mut self.delay_sum),
            held: self.held,
            lost: self.lost,
            classes: std::mem::replace(&mut self.classes, classes),
        }
    }

    /// Without time or packets.
    pub(super) fn empty(bins: usize, classes: usize) -> Self {
        Self {
            busy: 0,
            queue_area: 0,
            queue_time: vec![0; bins],
            delay_sum: 0,
            held: 0,
            lost: 0,
            classes: vec![ClassCounts::default(); classes],
        }
    }
}
