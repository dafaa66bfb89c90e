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
/// Longest time by which a record may begin before the first one: the longest active timeouts.
const BEFORE_MS: u64 = 2 * 3600 * 1000;
/// Longest time by which it may end after it: a month.
const MOST_MS: u64 = 31 * 24 * 3600 * 1000;
/// A record that spans more bins than this is counted at its two ends.
const MOST_BINS: u64 = 1 << 14;
/// Packets after which it may have.
const PERHAPS_PACKETS: u64 = 70;
/// Minimum duration of a flow in congestion avoidance.
const LONG_MS: u64 = 1000;
const TCP: u8 = 6;

/// Sums over exports.
pub struct Collector {
    parser: NetflowParser,
    base_ms: Option<u64>,
    /// Bytes over time, from `base_ms` on.
    pub load: Series,
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

    /// Whether times are in order, and near those of the first record.
    fn can_be(&self, first_ms: u64, last_ms: u64) -> bool {
        let base = self.base_ms.unwrap_or(first_ms.saturating_sub(BEFORE_MS));
        base <= first_ms && first_ms <= last_ms && last_ms - base <= MOST_MS
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
            self.load.add(at, bytes as f64);
            if packet.key.protocol == TCP {
                self.tcp_bytes = self.tcp_bytes.saturating_add(bytes);
            }
        }
    }

    /// Both ends in ns from the start of the series.
    fn placed(&mut self, first_ms: u64, last_ms: u64) -> (u64, u64) {
        let base = *self.base_ms.get_or_insert(first_ms.saturating_sub(BEFORE_MS));
        let (low, high) = self.span_ms.unwrap_or((first_ms, last_ms));
        self.span_ms = Some((low.min(first_ms), high.max(last_ms)));
        let place = |ms: u64| ms.saturating_sub(base).saturating_mul(1_000_000);
        (place(first_ms), place(last_ms))
    }

    /// Adds a flow's bytes, evenly over its time.
    fn spread(&mut self, first: u64, last: u64, bytes: f64) {
        let width = self.load.width_ns;
        let (low, high) = (first / width, last / width);
        if high - low > MOST_BINS {
            self.load.add(first, bytes / 2.0);
            self.load.add(last, bytes / 2.0);
            return;
        }
        let length = (last - first).max(1) as f64;
        for bin in low..=high {
            let (begin, end) =
                ((bin * width).max(first), ((bin + 1) * width).min(last.max(first + 1)));
            self.load.add(begin, bytes * end.saturating_sub(begin) as f64 / length);
        }
    }

    /// Start of the series, in ms since 1970.
    pub fn base_ms(&self) -> u64 {
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
}
