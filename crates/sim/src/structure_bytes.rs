//! Bytes of the structures of which a run holds more, the more flows, links, packets or classes it has.

use crate::config::FlowSpec;
use crate::events::{Event, Wheel};
use crate::flow::Flow;
use crate::link::Link;
use crate::meters::flow_records::FlowRecord;
use crate::meters::link::{ClassCounts, LinkBatch};
use crate::packet::Packet;
use crate::queue::{QueuedPacket, cake, fq_codel};
use crate::tcp::receiver::Receiver;
use crate::tcp::scoreboard::{self, Scoreboard};
use crate::tcp::sender::Sender;
use std::mem::size_of;

/// Names, and bytes of one each; what they hold on the heap is listed apart.
pub fn structure_bytes() -> Vec<(&'static str, usize)> {
    vec![
        ("flow", size_of::<Flow>()),
        ("flow_specification", size_of::<FlowSpec>()),
        ("flow_record", size_of::<FlowRecord>()),
        ("sender", size_of::<Sender>()),
        ("receiver", size_of::<Receiver>()),
        ("scoreboard", size_of::<Scoreboard>()),
        ("segment", scoreboard::SEGMENT_BYTES),
        ("rate_record", scoreboard::RATE_RECORD_BYTES),
        ("event", size_of::<Event>()),
        ("wheel", size_of::<Wheel>()),
        ("link", size_of::<Link>()),
        ("link_batch", size_of::<LinkBatch>()),
        ("class_counts", size_of::<ClassCounts>()),
        ("histogram_bin", size_of::<u64>()),
        ("packet", size_of::<Packet>()),
        ("queued_packet", size_of::<QueuedPacket>()),
        ("fq_codel_bucket", fq_codel::BUCKET_BYTES),
        ("fq_codel_flow", fq_codel::FLOW_BYTES),
        ("cake_bucket", cake::BUCKET_BYTES),
    ]
}
