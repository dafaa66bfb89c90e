//! What a run gives back.

use crate::capture::CapturedPacket;
use crate::meters::flow_records::FlowRecord;
use crate::meters::histogram::Histogram;
use crate::meters::link::{LinkBatch, LinkDetail};
use crate::meters::trace::Trace;
use crate::packet_log::PacketEvent;
use crate::time::Picos;

/// One traffic class in one batch.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct ClassBatch {
    /// Data packets that senders let go.
    pub sent_segments: u64,
    /// Data packets that queues dropped, wherever on the route.
    pub drops: u64,
    /// Data packets of which it became known that the last queue sends them: the others whose way
    /// was decided.
    pub passed: u64,
    /// Segments that receivers counted in order, each once, once its packet had left the last queue.
    pub delivered_segments: u64,
    /// The same in bytes on the link.
    pub delivered_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Retransmissions.
    pub retransmissions: u64,
}

impl ClassBatch {
    /// Adds what another one has counted.
    pub(crate) fn add(&mut self, more: &Self) {
        self.sent_segments += more.sent_segments;
        self.drops += more.drops;
        self.passed += more.passed;
        self.delivered_segments += more.delivered_segments;
        self.delivered_bytes += more.delivered_bytes;
        self.timeouts += more.timeouts;
        self.retransmissions += more.retransmissions;
    }
}

/// Readings of one link.
#[derive(Clone)]
pub struct LinkReport {
    /// The measured window's batches.
    pub batches: Vec<LinkBatch>,
    /// Packets that a bin of `LinkBatch::queue_time` spans.
    pub queue_bin_width: u32,
    /// The traffic classes that `LinkBatch::classes` counts, in its order: all where there are few, else
    /// those that cross the link.
    pub classes: Vec<u16>,
    /// Waiting times of the packets accepted.
    pub delay: Histogram,
    /// The longest of them.
    pub longest: Picos,
    /// The same by class; empty but of the first link, where there are several classes.
    pub delays: Vec<Histogram>,
    /// Packets before the wire when the window began.
    pub held_at_first: u64,
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
    /// How long those transfers took that began and ended in the window, by class, in order of
    /// completion.
    pub completions: Vec<Vec<Picos>>,
    /// How long those had taken that had not ended with the window, whenever they began, by class.
    pub unfinished: Vec<Vec<Picos>>,
    /// How long those requests took that were asked and answered in the window, by class, and how long those had
    /// taken that were not answered whole when it ended.
    pub requests: Vec<Vec<Picos>>,
    /// See `requests`.
    pub unfinished_requests: Vec<Vec<Picos>>,
    /// Bytes that each flow's receiver counted in order in the window.
    pub flow_bytes: Vec<u64>,
    /// Data packets of each flow that queues dropped, and that last queues sent, as in `ClassBatch`.
    pub flow_packets: Vec<(u64, u64)>,
    /// Readings over time, if asked for.
    pub trace: Option<Trace>,
    /// Every packet, if asked for.
    pub capture: Option<Vec<CapturedPacket>>,
    /// A record of every flow, if asked for; flow by flow.
    pub flow_records: Option<Vec<FlowRecord>>,
    /// What became of each packet at each link, if asked for; by time.
    pub packet_log: Option<Vec<PacketEvent>>,
    /// Data packets that last links took in from the start of the run.
    pub packets: u64,
    /// Events handled from the start of the run.
    pub events: u64,
}
