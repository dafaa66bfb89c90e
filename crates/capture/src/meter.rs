//! All sums over the packets of a link.

use crate::flows::flow::NONE;
use crate::flows::holes::before;
use crate::flows::one_way::Stamped;
use crate::flows::round_trip::{UNKNOWN, clock};
use crate::flows::table::Table;
use crate::flows::tally::Tally;
use crate::packet::{FlowKey, Packet, Segment, flags};
use crate::series::{Cascade, Series};

/// Bins of the load: an eighth of a millisecond at first, wider if necessary.
const LOAD_NS: u64 = 1 << 17;
const LOAD_BINS: usize = 1 << 20;
/// Finest interval of the burstiness: 2^4 µs.
const FINEST_NS: u64 = 16_000;
/// RFC 3168, section 5.
const CONGESTION_EXPERIENCED: u8 = 3;
const LARGEST_PACKET: usize = 65_535;

/// Which packets cross the link, and limits.
#[derive(Debug, Clone)]
pub struct Options {
    /// Packets to these addresses (address and prefix length) cross the link, others have the other
    /// direction. Empty: all packets of the chosen interface cross it.
    pub toward: Vec<([u8; 16], u8)>,
    /// Bytes of each packet on the link in addition to the IP packet.
    pub overhead: u32,
    /// Idle time after which a flow has ended.
    pub idle_ns: u64,
    /// Maximum number of active flows.
    pub most_flows: usize,
    /// Maximum number of packets of unresponsive traffic that are stored.
    pub listed: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            toward: Vec::new(),
            overhead: 0,
            idle_ns: 60_000_000_000,
            most_flows: 1 << 20,
            listed: 0,
        }
    }
}

/// Sums over the packets so far.
pub struct Meter {
    options: Options,
    start_ns: Option<u64>,
    now_ns: u64,
    table: Table,
    /// Sums over flows.
    pub tally: Tally,
    /// Bytes over time.
    pub load: Series,
    cascade: Cascade,
    /// Packets by length.
    pub sizes: Vec<u64>,
    /// Packets that crossed the link.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of these, packets that can be marked or are (ECN), and those that are.
    pub ecn: (u64, u64),
    /// Packets of the other direction.
    pub returning: u64,
    /// Packets with an earlier time than a previous packet; they get that packet's time.
    pub back_in_time: u64,
    /// Time since the first packet of the link, and bytes, of packets of unresponsive traffic.
    pub list: Vec<(u64, u32)>,
    /// Number of such packets that were not stored.
    pub unlisted: u64,
    /// Packets of connections of which both directions crossed the link.
    pub both_ways: u64,
}

/// Results after the last packet.
pub struct Finished {
    /// Sums over flows.
    pub tally: Tally,
    /// The burstiness, by scale.
    pub scales: Vec<crate::series::Scale>,
    /// Active flows that were removed because the table was full.
    pub crowded_out: u64,
    /// Maximum number of active flows.
    pub peak_flows: usize,
}

impl Meter {
    /// Makes an empty meter.
    pub fn new(options: Options) -> Self {
        Self {
            table: Table::new(options.most_flows, options.idle_ns),
            options,
            start_ns: None,
            now_ns: 0,
            tally: Tally::default(),
            load: Series::new(LOAD_NS, LOAD_BINS),
            cascade: Cascade::new(FINEST_NS),
            sizes: vec![0; LARGEST_PACKET + 1],
            packets: 0,
            bytes: 0,
            ecn: (0, 0),
            returning: 0,
            back_in_time: 0,
            list: Vec::new(),
            unlisted: 0,
            both_ways: 0,
        }
    }

    /// Time of the first packet, in ns since 1970.
    pub fn start_ns(&self) -> u64 {
        self.start_ns.unwrap_or(0)
    }

    /// From the first packet to the last.
    pub fn duration_ns(&self) -> u64 {
        self.now_ns
    }

    /// Adds a packet.
    pub fn packet(&mut self, packet: &Packet) {
        self.advance(packet.at_ns);
        let on_link = self.crosses(packet);
        if on_link {
            self.weigh(packet);
        } else {
            self.returning += 1;
        }
        let (now, tally) = (self.now_ns, &mut self.tally);
        let place = self.table.place(&packet.key, now, on_link, tally);
        if !on_link && self.table.flow(place).is_on_link() {
            return; // The link's own packet, seen at another interface.
        }
        let flow = self.table.flow(place);
        let expected = flow.next_seq();
        let timed_out = packet.tcp.as_ref().is_some_and(|segment| flow.timed_out(segment, now));
        flow.packet(now, packet.bytes, packet.tcp.as_ref(), tally);
        if let Some(segment) = &packet.tcp {
            self.round_trips(place, segment, expected, timed_out);
        }
    }

    /// Ends all flows.
    pub fn finish(mut self) -> (Self, Finished) {
        let mut tally = std::mem::take(&mut self.tally);
        self.table.finish(&mut tally);
        let cascade = std::mem::replace(&mut self.cascade, Cascade::new(FINEST_NS));
        let scales = cascade.finish(self.now_ns);
        let (crowded_out, peak_flows) = (self.table.crowded_out, self.table.peak);
        (self, Finished { tally, scales, crowded_out, peak_flows })
    }

    fn advance(&mut self, at_ns: u64) {
        let start = *self.start_ns.get_or_insert(at_ns);
        let after = at_ns.saturating_sub(start);
        self.back_in_time += u64::from(at_ns < start || after < self.now_ns);
        self.now_ns = self.now_ns.max(after);
    }

    fn crosses(&self, packet: &Packet) -> bool {
        let toward = &self.options.toward;
        packet.chosen && (toward.is_empty() || toward.iter().any(|net| within(&packet.key, net)))
    }

    fn weigh(&mut self, packet: &Packet) {
        let bytes = packet.bytes + self.options.overhead;
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.ecn.0 += u64::from(packet.ecn != 0);
        self.ecn.1 += u64::from(packet.ecn == CONGESTION_EXPERIENCED);
        self.load.add(self.now_ns, f64::from(bytes));
        self.cascade.add(self.now_ns, f64::from(bytes));
        self.sizes[(packet.bytes as usize).min(LARGEST_PACKET)] += 1;
        let kind = kind(&packet.key);
        self.tally.kinds[kind] += u64::from(bytes);
        if kind >= UNRESPONSIVE && self.options.listed > 0 {
            if self.list.len() < self.options.listed {
                self.list.push((self.now_ns, bytes));
            } else {
                self.unlisted += 1;
            }
        }
    }

    /// Updates the round trips of a segment's connection.
    fn round_trips(&mut self, place: u32, segment: &Segment, expected: u32, timed_out: bool) {
        let now = clock(self.now_ns);
        let peer = self.table.flow(place).peer;
        if peer == NONE {
            self.one_direction(place, segment, expected, now);
            return;
        }
        let sent = segment.seq.wrapping_add(segment.payload + u32::from(is_syn(segment)));
        let other = self.table.flow(peer);
        if timed_out {
            other.rtt.forget(); // Its ACK did not cause this segment.
        }
        let echo = segment.stamps.map_or(segment.ack, |stamps| stamps.1);
        let stamped = segment.stamps.is_some();
        let answered = segment.flags & flags::ACK != 0 && other.answered(echo, stamped, now);
        // An ACK of all sent data is answered only if its receiver has more data.
        let expected = segment.ack != other.next_seq();
        let (other_half, acks) = (other.rtt.half_us, other.packets());
        let (both, flow) = (other.is_on_link(), self.table.flow(place));
        self.both_ways += u64::from(both && flow.is_on_link());
        flow.probe(segment, sent, expected, now);
        let half = flow.rtt.half_us;
        if !answered || half == UNKNOWN || other_half == UNKNOWN {
            return;
        }
        let whole = half.saturating_add(other_half);
        let packets = flow.packets();
        flow.sample(whole, acks, stamped, &mut self.tally);
        self.table.flow(peer).sample(whole, packets, stamped, &mut self.tally);
    }

    /// Updates those of a connection of which only this direction was seen; `expected` was the
    /// number after the highest before this segment.
    fn one_direction(&mut self, place: u32, segment: &Segment, expected: u32, now: u32) {
        let flow = self.table.flow(place);
        if is_syn(segment) {
            flow.probe(segment, segment.seq.wrapping_add(1), false, now);
        }
        let Some(stamps) = segment.stamps.filter(|_| segment.payload > 0) else { return };
        let Some(since_us) = flow.rtt.since_syn(now) else { return };
        let handshake_us = flow.rtt.handshake_us;
        let range = (segment.seq, segment.seq.wrapping_add(segment.payload));
        let fresh = !before(segment.seq, expected);
        let mut trips = Vec::new();
        let stamped = Stamped { since_us, handshake_us, stamps, range, fresh };
        let Some(watched) = self.table.one_way(place) else { return };
        watched.data(&stamped, &mut |trip| trips.push(trip));
        let flow = self.table.flow(place);
        for trip in trips {
            let told = flow.rtt.more(trip.weight);
            flow.sample(trip.us as u32, told, true, &mut self.tally);
            if flow.has_data_on_link() {
                self.tally.rtt_ends(trip.ends_us, trip.weight);
            }
        }
    }
}

fn is_syn(segment: &Segment) -> bool {
    segment.flags & flags::SYN != 0
}

fn within(key: &FlowKey, (network, length): &([u8; 16], u8)) -> bool {
    let (to, network) = (u128::from_be_bytes(key.to), u128::from_be_bytes(*network));
    let shift = 128 - u32::from(*length).min(128);
    shift == 128 || (to ^ network) >> shift == 0
}

/// Kinds from this one on do not respond to congestion.
const UNRESPONSIVE: usize = 2;

fn kind(key: &FlowKey) -> usize {
    const QUIC: u16 = 443;
    match key.protocol {
        6 => 0,
        17 if key.from_port == QUIC || key.to_port == QUIC => 1,
        17 => 2,
        _ => 3,
    }
}
