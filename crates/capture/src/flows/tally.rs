//! Sums over all flows of the link.

use crate::histogram::LogHistogram;
use crate::series::Series;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of longest flows that are stored singly, for the tail of the lengths.
const LONGEST: usize = 1 << 14;
/// Slow-start bursts of more packets count as this many.
const LONGEST_BURST: usize = 4096;
/// Packets after which a flow has left slow start: the sum of six rounds that double from ten.
pub const LONG_PACKETS: u64 = 630;
const BIN_NS: u64 = 10_000_000;
const BINS: usize = 1 << 16;
/// Bins of the share of the flight left after a loss, in hundredths, up to twice the flight.
const SHARES: usize = 200;

/// Number of flows over time: +1 at a flow's start, -1 at its end.
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
    /// Adds a flow from `begin` to `end`.
    pub fn add(&mut self, begin_ns: u64, end_ns: u64) {
        self.changes.add(end_ns, -1.0);
        self.changes.add(begin_ns, 1.0);
    }
}

/// Counts of data segments, losses and reordering.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segments {
    /// Segments with data.
    pub data: u64,
    /// Segments that fill a hole at least half a round trip after it was seen: retransmissions
    /// of losses before the capture.
    pub lost_before: u64,
    /// Segments whose bytes were seen before: retransmissions of losses after it, or needless ones.
    pub repeated: u64,
    /// Segments that fill a hole at once: late, not lost.
    pub late: u64,
}

/// Sums over flows that carried data over the link.
pub struct Tally {
    /// Five-tuples seen, of either kind.
    pub tuples: u64,
    /// Those with data.
    pub flows: u64,
    /// Those whose start or end was not captured.
    pub censored: u64,
    /// TCP flows that were in congestion avoidance.
    pub long_flows: u64,
    /// Bytes of these.
    pub long_bytes: u64,
    /// Bytes of the other TCP flows.
    pub short_bytes: u64,
    /// TCP flows whose start was captured and that never reached congestion avoidance.
    pub short_begun: u64,
    /// Packets of these.
    pub short_packets: LogHistogram,
    /// Bytes of a flow.
    pub lengths: LogHistogram,
    longest: BinaryHeap<Reverse<u64>>,
    /// Flows of any kind over time.
    pub concurrent: Count,
    /// Flows after their first loss, until their end.
    pub lossy: Count,
    /// These and flows that send steadily, without slow start's growth.
    pub avoiding: Count,
    /// Of these, flows of fewer packets than `LONG_PACKETS` from a SYN to an end: short ones with
    /// a loss.
    pub brief: Count,
    /// Complete round trips, about one for each round trip and flow, weighted by packets.
    pub rtt_us: LogHistogram,
    /// Of these from data alone: what they are at least and at most.
    pub rtt_ends_us: [LogHistogram; 2],
    /// Those of flows without timestamps: the part between receiver and capture is from the
    /// last ACK, and that of the sender's side only from the handshake.
    pub unstamped_rtt_us: LogHistogram,
    /// The minimum round trip of each flow.
    pub least_rtt_us: LogHistogram,
    /// Handshakes.
    pub handshake_us: LogHistogram,
    /// Times from the detection of a hole to its retransmission.
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
            brief: Count::default(),
            rtt_us: LogHistogram::default(),
            rtt_ends_us: Default::default(),
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

    /// The longest flows in bytes, in descending order.
    pub fn longest(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.longest.iter().map(|length| length.0).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all
    }

    /// Counts what a round trip is at least and at most.
    pub fn rtt_ends(&mut self, ends_us: (f64, f64), weight: u32) {
        let [least, most] = &mut self.rtt_ends_us;
        least.add_times(ends_us.0, u64::from(weight));
        most.add_times(ends_us.1, u64::from(weight));
    }

    /// Counts a slow-start burst.
    pub fn burst(&mut self, packets: u16) {
        self.bursts[usize::from(packets).min(LONGEST_BURST)] += 1;
    }

    /// Counts the share of a flight that was left after a loss.
    pub fn left(&mut self, share: f64) {
        self.left_after_loss[((share * 100.0) as usize).min(SHARES)] += 1;
    }
}
