//! What a run gives back.

use crate::probe::histogram::Histogram;
use crate::probe::link::{LinkBatch, LinkDetail};
use crate::probe::trace::Trace;
use crate::time::Picos;

/// One traffic class in one batch.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct ClassBatch {
    /// Data packets that senders let go.
    pub sent_segments: u64,
    /// Data packets that queues dropped, wherever on the route.
    pub drops: u64,
    /// Segments that receivers counted in order, each once, once its packet had left the last queue.
    pub delivered_segments: u64,
    /// The same in bytes on the link.
    pub delivered_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Segments sent again.
    pub retransmissions: u64,
}

/// Readings of one link.
#[derive(Clone)]
pub struct LinkReport {
    /// The measured window's batches.
    pub batches: Vec<LinkBatch>,
    /// Packets that a bin of `LinkBatch::queue_time` spans.
    pub queue_bin_width: u32,
    /// Waiting times of the packets accepted.
    pub delay: Histogram,
    /// What costs time at every packet, if asked for.
    pub detail: Option<Box<LinkDetail>>,
}

/// Readings of the measured window.
#[derive(Clone)]
pub struct Report {
    /// In the order of the configuration.
    pub links: Vec<LinkReport>,
    /// By batch, then by class.
    pub classes: Vec<Vec<ClassBatch>>,
    /// Round-trip times that senders measured, by class.
    pub rtt: Vec<Histogram>,
    /// Completion times of flows that ended in the window, by class, in order of completion.
    pub completions: Vec<Vec<Picos>>,
    /// Bytes that each flow's receiver counted in order in the window.
    pub flow_bytes: Vec<u64>,
    /// Readings over time, if asked for.
    pub trace: Option<Trace>,
    /// Data packets that last links took in from the start of the run.
    pub packets: u64,
    /// Events handled from the start of the run.
    pub events: u64,
}
