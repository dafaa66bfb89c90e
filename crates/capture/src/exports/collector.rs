//! Sums over exported flow records, in constant memory.

use super::chains::{Chain, Chains};
use super::netflow::{self, Told};
use super::sequence::Sequences;
use super::{FlowRecord, sflow};
use crate::flows::tally::{Count, LONG_PACKETS};
use crate::histogram::LogHistogram;
use crate::series::Series;
use netflow_parser::{NetflowPacket, NetflowParser};

const SECOND_NS: u64 = 1_000_000_000;
/// Bins of the load: seconds at first, wider if necessary.
const BINS: usize = 1 << 16;
/// Room before the first record: the longest active timeouts.
const BEFORE_MS: i64 = 2 * 3600 * 1000;
/// Longest time from the first packet of all records to the last: a month.
const MOST_MS: u64 = 31 * 24 * 3600 * 1000;
/// No time is later: the year 5138.
const LATEST_MS: u64 = 100_000_000_000_000;
/// Bins of the load that a record fills evenly are kept in blocks of so many.
const BLOCK: u64 = 1 << 8;
/// Packets after which it may have.
const PERHAPS_PACKETS: u64 = 70;
/// Minimum duration of a flow in congestion avoidance.
const LONG_MS: u64 = 1000;
const TCP: u8 = 6;

/// Sums over exports.
pub struct Collector {
    parser: NetflowParser,
    base_ms: Option<i64>,
    /// Bytes over time, from `base_ms` on; those of whole blocks apart.
    load: Series,
    blocks: Vec<f64>,
    /// Flows over time.
    pub concurrent: Count,
    /// TCP flows with enough packets to have left slow start, certainly and possibly.
    pub long: [Count; 2],
    /// Records of one flow after another.
    pub chains: Chains,
    /// Records with a time that is no whole second.
    pub finer: u64,
    /// Bytes of a record.
    pub lengths: LogHistogram,
    /// Records, bytes and packets, of TCP the bytes.
    pub records: u64,
    /// Bytes, scaled up by the sampling rate.
    pub bytes: u64,
    /// Packets, scaled up.
    pub packets: u64,
    /// Bytes of TCP, scaled up.
    pub tcp_bytes: u64,
    /// Sampling rate: one packet of this many; 1 means all.
    pub sampling: u64,
    /// Sampled packets, as in sFlow.
    pub drawn: u64,
    /// Sequence numbers.
    pub sequences: Sequences,
    /// Sets of records without a template, and records without what is needed.
    pub unusable: (u64, u64),
    /// Datagrams of other protocols, or damaged ones.
    pub not_exports: u64,
    /// Active and inactive timeout in seconds, if exported.
    pub timeouts_s: (Option<u64>, Option<u64>),
    /// From the first record's start to the last one's end, in ms since 1970.
    pub span_ms: Option<(u64, u64)>,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            parser: NetflowParser::default(),
            base_ms: None,
            load: Series::new(SECOND_NS, BINS),
            blocks: Vec::new(),
            concurrent: Count::default(),
            long: [Count::default(), Count::default()],
            chains: Chains::default(),
            finer: 0,
            lengths: LogHistogram::default(),
            records: 0,
            bytes: 0,
            packets: 0,
            tcp_bytes: 0,
            sampling: 1,
            drawn: 0,
            sequences: Sequences::default(),
            unusable: (0, 0),
            not_exports: 0,
            timeouts_s: (None, None),
            span_ms: None,
        }
    }
}

impl Collector {
    /// Adds a datagram of an exporter.
    pub fn datagram(&mut self, exporter: [u8; 16], at_ns: u64, data: &[u8]) {
        // sFlow's version takes four bytes, NetFlow's two.
        if data.starts_with(&[0, 0, 0, 5]) {
            match sflow_parser::parse_datagram(data) {
                Ok(told) => {
                    let source = (exporter, 0, told.sub_agent_id);
                    self.sequences.take(source, told.sequence_number, 1);
                    self.drawn_packets(&sflow::samples(&told, at_ns));
                }
                Err(_) => self.not_exports += 1,
            }
            return;
        }
        let parsed = self.parser.parse_bytes(data);
        self.not_exports += u64::from(parsed.error.is_some());
        for packet in &parsed.packets {
            self.netflow(exporter, packet);
        }
    }

    fn netflow(&mut self, exporter: [u8; 16], packet: &NetflowPacket) {
        let (told, version, domain, number, units) = match packet {
            NetflowPacket::V5(v5) => {
                let units = v5.flowsets.len() as u32;
                let engine = u32::from(v5.header.engine_id);
                (netflow::v5(v5), 5, engine, v5.header.flow_sequence, units)
            }
            NetflowPacket::V9(v9) => {
                let header = &v9.header;
                (netflow::v9(v9), 9, header.source_id, header.sequence_number, 1)
            }
            NetflowPacket::IPFix(ipfix) => {
                let (told, header) = (netflow::ipfix(ipfix), &ipfix.header);
                let units = (told.records.len() as u64 + told.incomplete) as u32;
                (told, 10, header.observation_domain_id, header.sequence_number, units)
            }
            _ => {
                self.not_exports += 1;
                return;
            }
        };
        self.sequences.take((exporter, version, domain), number, units);
        self.take(&told);
    }

    fn take(&mut self, told: &Told) {
        self.sampling = told.sampling.unwrap_or(self.sampling);
        self.unusable.0 += told.without_template;
        self.unusable.1 += told.incomplete;
        self.timeouts_s.0 = told.timeouts_s.0.or(self.timeouts_s.0);
        self.timeouts_s.1 = told.timeouts_s.1.or(self.timeouts_s.1);
        for record in &told.records {
            self.record(record, self.sampling);
        }
    }

    /// Adds a record whose counts are of one packet in `sampling`, if its times are possible.
    pub fn record(&mut self, record: &FlowRecord, sampling: u64) {
        if !self.can_be(record.first_ms, record.last_ms) {
            self.unusable.1 += 1;
            return;
        }
        let bytes = record.bytes.saturating_mul(sampling);
        let (first, last) = self.placed(record.first_ms, record.last_ms);
        self.records += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.packets = self.packets.saturating_add(record.packets.saturating_mul(sampling));
        self.lengths.add(bytes as f64);
        self.spread(first, last, bytes as f64);
        self.concurrent.add(first, last);
        let is_whole = record.first_ms.is_multiple_of(1000) && record.last_ms.is_multiple_of(1000);
        self.finer += u64::from(!is_whole);
        if record.key.protocol == TCP {
            self.tcp_bytes = self.tcp_bytes.saturating_add(bytes);
            self.long_flow(record);
        }
    }

    /// Counts a flow from its first record to this one, as soon as its records together are long.
    fn long_flow(&mut self, record: &FlowRecord) {
        let (flow, before) = self.chains.take(record);
        let lasts = |chain: &Chain| chain.last_ms - chain.first_ms >= LONG_MS;
        let bounds = [LONG_PACKETS, PERHAPS_PACKETS];
        for (place, least) in bounds.into_iter().enumerate() {
            let is_long = |chain: &Chain| lasts(chain) && chain.packets >= least;
            if !is_long(&flow) {
                continue;
            }
            let known = before.filter(is_long);
            let from_ms = known.map_or(flow.first_ms, |chain| chain.last_ms);
            let (from, last) = self.placed(from_ms, flow.last_ms);
            self.long[place].add(from, last);
        }
    }

    /// Whether times are in order, and within a month of all others.
    fn can_be(&self, first_ms: u64, last_ms: u64) -> bool {
        let (low, high) = self.span_ms.unwrap_or((first_ms, last_ms));
        first_ms <= last_ms
            && last_ms <= LATEST_MS
            && high.max(last_ms) - low.min(first_ms) <= MOST_MS
    }

    fn drawn_packets(&mut self, samples: &[(crate::packet::Packet, u64)]) {
        for (packet, rate) in samples {
            let ms = packet.at_ns / 1_000_000;
            if !self.can_be(ms, ms) {
                self.unusable.1 += 1;
                continue;
            }
            let (at, _) = self.placed(ms, ms);
            let bytes = u64::from(packet.bytes).saturating_mul(*rate);
            self.drawn += 1;
            self.sampling = *rate;
            self.bytes = self.bytes.saturating_add(bytes);
            self.packets = self.packets.saturating_add(*rate);
            self.spread(at, at, bytes as f64);
            if packet.key.protocol == TCP {
                self.tcp_bytes = self.tcp_bytes.saturating_add(bytes);
            }
        }
    }

    /// Both ends in ns from the start of the series, which may come to begin earlier.
    fn placed(&mut self, first_ms: u64, last_ms: u64) -> (u64, u64) {
        let before = first_ms as i64 - BEFORE_MS;
        let mut base = *self.base_ms.get_or_insert(before);
        if (first_ms as i64) < base {
            base -= self.begin_earlier((base - before) as u64) as i64;
            self.base_ms = Some(base);
        }
        let (low, high) = self.span_ms.unwrap_or((first_ms, last_ms));
        self.span_ms = Some((low.min(first_ms), high.max(last_ms)));
        let place = |ms: u64| (ms as i64 - base) as u64 * 1_000_000;
        (place(first_ms), place(last_ms))
    }

    /// Moves the start of every series back, by so many ms or some more; returns by how many.
    fn begin_earlier(&mut self, least_ms: u64) -> u64 {
        self.settle();
        let [long, perhaps] = &mut self.long;
        let counts = [&mut self.concurrent, long, perhaps].map(|count| &mut count.changes);
        let mut every: Vec<&mut Series> = counts.into();
        every.push(&mut self.load);
        // Widths are powers of two times 10 ms or 1 s.
        let widest = every.iter().map(|series| series.width_ns).max().unwrap_or(SECOND_NS);
        let mut step = SECOND_NS;
        while step < widest || every.iter().any(|series| !step.is_multiple_of(series.width_ns)) {
            step *= 2;
        }
        let by_ns = (least_ms * 1_000_000).div_ceil(step) * step;
        every.into_iter().for_each(|series| series.begin_earlier(by_ns));
        by_ns / 1_000_000
    }

    /// Adds a flow's bytes, evenly over its time: whole blocks at once, however long it is.
    fn spread(&mut self, first: u64, last: u64, bytes: f64) {
        let end = last.max(first + 1);
        if end / self.load.width_ns >= BINS as u64 {
            self.settle();
        }
        self.load.add(end, 0.0);
        let (width, per_ns) = (self.load.width_ns * BLOCK, bytes / (end - first) as f64);
        let (low, high) = (first.div_ceil(width), end / width);
        if low >= high {
            return self.fill(first, end, per_ns);
        }
        self.fill(first, low * width, per_ns);
        self.blocks.resize(self.blocks.len().max(high as usize), 0.0);
        let whole = self.blocks[low as usize..high as usize].iter_mut();
        whole.for_each(|block| *block += per_ns * width as f64);
        self.fill(high * width, end, per_ns);
    }

    fn fill(&mut self, first: u64, end: u64, per_ns: f64) {
        let mut at = first;
        while at < end {
            let next = ((at / self.load.width_ns + 1) * self.load.width_ns).min(end);
            self.load.add(at, per_ns * (next - at) as f64);
            at = next;
        }
    }

    /// Puts the blocks into their bins, before the bins widen or move.
    fn settle(&mut self) {
        self.load.bins = self.load().1;
        self.blocks.clear();
    }

    /// Width of a bin of the load in ns, and the bytes in each.
    pub fn load(&self) -> (u64, Vec<f64>) {
        let mut bins = self.load.bins.clone();
        bins.resize(bins.len().max(self.blocks.len() * BLOCK as usize), 0.0);
        for (of_block, bytes) in bins.chunks_mut(BLOCK as usize).zip(&self.blocks) {
            of_block.iter_mut().for_each(|bin| *bin += bytes / BLOCK as f64);
        }
        (self.load.width_ns, bins)
    }

    /// Start of the series, in ms since 1970.
    pub fn base_ms(&self) -> i64 {
        self.base_ms.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FlowKey;

    #[test]
    fn records_with_times_that_cannot_be_are_left_out() {
        let key = FlowKey { from: [0; 16], to: [1; 16], from_port: 1, to_port: 2, protocol: 6 };
        let record =
            |first_ms, last_ms| FlowRecord { key, first_ms, last_ms, bytes: 8, packets: 2 };
        let mut collector = Collector::default();
        collector.record(&record(1_700_000_000_000, 1_700_000_001_000), 1);
        for (first, last) in [(0, u64::MAX), (1_700_000_001_000, 1_700_000_000_000), (5, 6)] {
            collector.record(&record(first, last), u64::MAX);
        }
        assert_eq!((collector.records, collector.bytes, collector.unusable.1), (1, 8, 3));
    }

    #[test]
    fn a_record_of_any_length_counts_evenly_and_may_come_late() {
        let key = FlowKey { from: [0; 16], to: [1; 16], from_port: 1, to_port: 2, protocol: 6 };
        let start = 1_700_000_000_000_i64;
        let mut collector = Collector::default();
        for (from_h, hours) in [(19, 1_u64), (0, 20), (-144_i64, 144)] {
            let first_ms = (start + from_h * 3_600_000) as u64;
            let last_ms = first_ms + hours * 3_600_000;
            let bytes = hours * 3_600_000;
            collector.record(&FlowRecord { key, first_ms, last_ms, bytes, packets: 9 }, 1);
        }
        let (width, bins) = collector.load();
        assert_eq!((collector.records, collector.unusable.1), (3, 0));
        let sum: f64 = bins.iter().sum();
        assert!((sum - 165.0 * 3.6e6).abs() < 1.0, "{sum}");
        let per_s = 1e9 / width as f64;
        let rate = |ms: u64| {
            bins[((ms as i64 - collector.base_ms()) as u64 * 1_000_000 / width) as usize] * per_s
        };
        for (hour, expected) in [(-100_i64, 1000.0), (-5, 1000.0), (3, 1000.0), (19, 2000.0)] {
            let found = rate((start + hour * 3_600_000 + 1_800_000) as u64);
            assert!((found / expected - 1.0).abs() < 0.01, "{hour}: {found}");
        }
    }
}
