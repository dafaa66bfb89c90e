//! What all flows of the link add up to.

use crate::histogram::LogHistogram;
use crate::series::Series;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The longest flows are kept one by one, for the tail of their lengths.
const LONGEST: usize = 1 << 14;
/// Slow-start bursts of more packets count as this many.
const LONGEST_BURST: usize = 4096;
const BIN_NS: u64 = 10_000_000;
const BINS: usize = 1 << 16;
/// Hundredths of the flight that is left after a loss, up to twice the flight.
const SHARES: usize = 200;

/// How many flows there are over time: +1 where one begins, -1 where one ends.
pub struct Count {
    /// The changes.
    pub changes: Series,
}

impl Default for Count {
    fn default() -> Self {
        Self { changes: Series::new(BIN_NS, BINS) }
    }
}

impl Count {
    /// A flow was there from `begin` to `end`.
    pub fn add(&mut self, begin_ns: u64, end_ns: u64) {
        self.changes.add(end_ns, -1.0);
        self.changes.add(begin_ns, 1.0);
    }
}

/// Segments of data that were seen, and what became of others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segments {
    /// Segments with data.
    pub data: u64,
    /// Segments that fill a hole a good part of a round trip after it was seen: retransmissions
    /// of what was lost before the capture.
    pub lost_before: u64,
    /// Segments whose bytes had been seen: retransmissions of what was lost behind it, or needless.
    pub repeated: u64,
    /// Segments that fill a hole at once: late, not lost.
    pub late: u64,
}

/// Sums over flows that carried data over the link.
pub struct Tally {
    /// Five-tuples seen, of either kind.
    pub tuples: u64,
    /// Those that carried data.
    pub flows: u64,
    /// Those with a beginning that was not seen, or without an end.
    pub censored: u64,
    /// TCP flows that have been in congestion avoidance.
    pub long_flows: u64,
    /// Bytes of these.
    pub long_bytes: u64,
    /// Bytes of TCP flows that have not.
    pub short_bytes: u64,
    /// TCP flows whose beginning was seen and that never came into congestion avoidance.
    pub short_begun: u64,
    /// Packets of these.
    pub short_packets: LogHistogram,
    /// Bytes of a flow.
    pub lengths: LogHistogram,
    longest: BinaryHeap<Reverse<u64>>,
    /// Flows of any kind over time.
    pub concurrent: Count,
    /// Flows that have lost something and go on.
    pub lossy: Count,
    /// These and flows that send steadily, without slow start's growth.
    pub avoiding: Count,
    /// Whole round trips, about one a round trip and flow, by the packets that each stands for.
    pub rtt_us: LogHistogram,
    /// Those of flows without timestamps: what is between the receiver and the capture was seen with the
    /// last ACK, and what is on the sender's side with the handshake alone.
    pub unstamped_rtt_us: LogHistogram,
    /// The least round trip of each flow.
    pub least_rtt_us: LogHistogram,
    /// Handshakes.
    pub handshake_us: LogHistogram,
    /// From when a hole was seen to its retransmission.
    pub recovery_us: LogHistogram,
    /// Bursts of flows in slow start, by packets.
    pub bursts: Vec<u64>,
    /// The flight some round trips after a loss over that before it, in hundredths.
    pub left_after_loss: Vec<u64>,
    /// Data and losses.
    pub segments: Segments,
    /// Bytes of TCP, of UDP port 443 (QUIC), of other UDP, of the rest.
    pub kinds: [u64; 4],
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            tuples: 0,
            flows: 0,
            censored: 0,
            long_flows: 0,
            long_bytes: 0,
            short_bytes: 0,
            short_begun: 0,
            short_packets: LogHistogram::default(),
            lengths: LogHistogram::default(),
            longest: BinaryHeap::new(),
            concurrent: Count::default(),
            lossy: Count::default(),
            avoiding: Count::default(),
            rtt_us: LogHistogram::default(),
            unstamped_rtt_us: LogHistogram::default(),
            least_rtt_us: LogHistogram::default(),
            handshake_us: LogHistogram::default(),
            recovery_us: LogHistogram::default(),
            bursts: vec![0; LONGEST_BURST + 1],
            left_after_loss: vec![0; SHARES + 1],
            segments: Segments::default(),
            kinds: [0; 4],
        }
    }
}

impl Tally {
    /// Counts the length of a flow that has ended.
    pub fn length(&mut self, bytes: u64) {
        self.lengths.add(bytes as f64);
        if self.longest.len() < LONGEST {
            self.longest.push(Reverse(bytes));
        } else if self.longest.peek().is_some_and(|least| least.0 < bytes) {
            self.longest.pop();
            self.longest.push(Reverse(bytes));
        }
    }

    /// The longest flows in bytes, from the longest on.
    pub fn longest(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.longest.iter().map(|length| length.0).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all
    }

    /// Counts a slow-start burst.
    pub fn burst(&mut self, packets: u16) {
        self.bursts[usize::from(packets).min(LONGEST_BURST)] += 1;
    }

    /// Counts what was left of a flight after a loss.
    pub fn left(&mut self, share: f64) {
        self.left_after_loss[((share * 100.0) as usize).min(SHARES)] += 1;
    }
}
