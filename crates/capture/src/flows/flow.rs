//! One direction of a five-tuple, in at most 184 bytes.

use super::holes::{Holes, before};
use super::pace::Pace;
use super::round_trip::{RoundTrip, UNKNOWN, clock, drawn};
use super::tally::{LONG_PACKETS, Tally};
use crate::packet::{FlowKey, Segment, flags};

/// No place in the table of flows.
pub const NONE: u32 = u32::MAX;

/// Assumed round trip of a flow while it is unknown.
const GUESS_US: u32 = 100_000;
/// A hole that is filled sooner is reordering: less than half a round trip, or this if unknown,
/// as in Wireshark.
const REORDERED_US: u32 = 3_000;
/// A pause from which on a flow had nothing to send: longer than an RTO of a second that was
/// doubled once (RFC 6298).
const PAUSE_US: u32 = 3_000_000;
/// A burst ends at a gap of more than a round trip divided by this.
const BURST_GAP: u32 = 2;

/// Round trips after which, with a pause, a hole is never filled.
const STALE_ROUNDS: u32 = 8;

const SYN: u8 = 1;
const SYN_AGAIN: u8 = 2;
const SHAKEN: u8 = 4;
const DATA: u8 = 8;
const ENDED: u8 = 16;
const ON_LINK: u8 = 32;
const STEADY: u8 = 64;
const LOSSY: u8 = 128;

/// State of a flow; times are microseconds since the capture began, wrapping, unless in ns.
#[derive(Clone, Copy)]
pub struct Flow {
    /// Addresses, ports and protocol.
    pub key: FlowKey,
    flags: u8,
    /// Segments since the last pause of half a round trip.
    burst: u16,
    /// Segments until the next one that may become a probe.
    skip: u16,
    /// Index of the other direction, or `NONE`.
    pub peer: u32,
    first_ns: u64,
    /// The latest packet.
    pub last_ns: u64,
    bytes: u64,
    packets: u32,
    next_seq: u32,
    last_data_us: u32,
    lossy_ms: u32,
    steady_ms: u32,
    holes: Holes,
    pace: Pace,
    /// Round trips.
    pub rtt: RoundTrip,
}

impl Flow {
    /// Makes a flow whose first packet arrives now.
    pub fn new(key: FlowKey, now_ns: u64, on_link: bool) -> Self {
        Self {
            key,
            flags: if on_link { ON_LINK } else { 0 },
            burst: 0,
            skip: 0,
            peer: NONE,
            first_ns: now_ns,
            last_ns: now_ns,
            bytes: 0,
            packets: 0,
            next_seq: 0,
            last_data_us: 0,
            lossy_ms: 0,
            steady_ms: 0,
            holes: Holes::default(),
            pace: Pace::default(),
            rtt: RoundTrip::default(),
        }
    }

    fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether its data crosses the link under study.
    pub fn has_data_on_link(&self) -> bool {
        self.is(ON_LINK) && self.is(DATA)
    }

    /// Whether its packets cross the link under study.
    pub fn is_on_link(&self) -> bool {
        self.is(ON_LINK)
    }

    /// Adds a complete round trip. Its weight is the number of its sender's samples since the
    /// previous one; `told` is their total so far: ACKs, or echoes if no ACKs were captured.
    pub fn sample(&mut self, us: u32, told: u32, stamped: bool, tally: &mut Tally) {
        self.rtt.sample(us);
        if self.has_data_on_link() {
            let samples = if stamped { &mut tally.rtt_us } else { &mut tally.unstamped_rtt_us };
            samples.add_times(f64::from(us), self.rtt.weight(told));
        }
    }

    /// Packets so far.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// The number after the highest that was seen.
    pub fn next_seq(&self) -> u32 {
        self.next_seq
    }

    /// The far end has returned `echo`: whether this completes the current probe.
    pub fn answered(&mut self, echo: u32, stamped: bool, now_us: u32) -> bool {
        let was_free = self.rtt.is_free();
        let answered = self.rtt.answered(echo, stamped, now_us);
        if stamped && !was_free && self.rtt.is_free() {
            self.skip = drawn(now_us, self.pace.last_round());
        }
        answered
    }

    /// Starts a probe with a segment that ends before `sent`, if it is answered at once:
    /// data, a SYN, and with timestamps an ACK that is `expected` to cause more data.
    ///
    /// The first segment after an answer is usually the first of a burst. The last one of a flight,
    /// whose ACK waits for a timer, would hardly ever be used. So a random number of segments,
    /// up to a flight, is skipped.
    pub fn probe(&mut self, segment: &Segment, sent: u32, expected: bool, now_us: u32) {
        let asks = segment.payload > 0 || segment.flags & flags::SYN != 0;
        if self.skip > 0 && segment.payload > 0 && self.rtt.is_free() {
            self.skip -= 1;
            self.rtt.pass(segment.stamps.map_or(sent, |stamps| stamps.0));
            return;
        }
        match segment.stamps {
            Some((value, _)) if asks || expected => self.rtt.probe(value, now_us),
            None if asks => self.rtt.probe(sent, now_us),
            _ => {}
        }
    }

    /// Whether a segment comes again after over a round trip without data: a timer caused it.
    pub fn timed_out(&self, segment: &Segment, now_ns: u64) -> bool {
        let again = segment.payload > 0 && before(segment.seq, self.next_seq);
        let gap_us = clock(now_ns).wrapping_sub(self.last_data_us);
        self.is(DATA) && again && gap_us > self.round_us()
    }

    /// Adds a packet of this flow.
    pub fn packet(&mut self, now_ns: u64, bytes: u32, tcp: Option<&Segment>, tally: &mut Tally) {
        self.last_ns = now_ns;
        self.packets = self.packets.saturating_add(1);
        self.bytes += u64::from(bytes);
        match tcp {
            Some(segment) => self.segment(now_ns, segment, tally),
            None => self.flags |= DATA,
        }
    }

    fn segment(&mut self, now_ns: u64, segment: &Segment, tally: &mut Tally) {
        let now_us = clock(now_ns);
        if segment.flags & (flags::FIN | flags::RST) != 0 {
            self.flags |= ENDED;
        }
        if segment.flags & flags::SYN != 0 {
            self.flags |= if self.is(SYN) { SYN_AGAIN } else { SYN };
            self.rtt.mark_us = now_us;
            self.rtt.bases.0 = segment.stamps.map_or(0, |stamps| stamps.0);
            self.next_seq = segment.seq.wrapping_add(1);
        } else if self.is(SYN) && !self.is(SHAKEN) {
            self.shaken(now_us, segment, tally);
        }
        if segment.payload > 0 {
            self.data(now_ns, segment, tally);
        }
    }

    /// Handles the first segment after the SYN. Of a repeated SYN it is unknown which was answered.
    fn shaken(&mut self, now_us: u32, segment: &Segment, tally: &mut Tally) {
        self.flags |= SHAKEN;
        let answers_syn = segment.flags & flags::ACK != 0 && segment.payload == 0;
        if !self.is(SYN_AGAIN) && answers_syn {
            self.rtt.shake(segment.stamps.map(|stamps| stamps.1), now_us);
            tally.handshake_us.add(f64::from(self.rtt.handshake_us));
        }
    }

    fn data(&mut self, now_ns: u64, segment: &Segment, tally: &mut Tally) {
        let now_us = clock(now_ns);
        let end = segment.seq.wrapping_add(segment.payload);
        if !self.is(DATA) && !self.is(SYN) {
            self.next_seq = segment.seq;
        }
        if self.is(DATA) {
            self.pause(now_ns, segment.seq, tally);
        }
        self.flags |= DATA;
        self.burst = self.burst.saturating_add(1);
        self.sequence(now_ns, segment.seq, end, tally);
        let left = self.pace.segment(now_us, self.round_us());
        if !self.is(STEADY) && self.pace.is_steady() {
            self.flags |= STEADY;
            self.steady_ms = self.since_ms(now_ns);
        }
        if self.is(ON_LINK) {
            tally.segments.data += 1;
            left.into_iter().for_each(|share| tally.left(share));
        }
        self.last_data_us = now_us;
    }

    /// Handles a pause since the last data: the end of a burst, or of congestion avoidance.
    /// A pause that ends with a retransmission was a timeout.
    fn pause(&mut self, now_ns: u64, start: u32, tally: &mut Tally) {
        let gap_us = clock(now_ns).wrapping_sub(self.last_data_us);
        let timeout = before(start, self.next_seq);
        if gap_us > self.round_us() / BURST_GAP {
            self.end_burst(tally);
        }
        if !timeout && gap_us > PAUSE_US.max(self.round_us().saturating_mul(4)) {
            self.end_avoidance(now_ns - u64::from(gap_us) * 1000, tally);
            let now_ms = (now_ns / 1_000_000) as u32;
            (self.lossy_ms, self.steady_ms) = (now_ms, now_ms);
        }
    }

    fn end_burst(&mut self, tally: &mut Tally) {
        if self.is(ON_LINK) && !self.in_avoidance() && self.burst > 0 {
            tally.burst(self.burst);
        }
        self.burst = 0;
    }

    fn sequence(&mut self, now_ns: u64, start: u32, end: u32, tally: &mut Tally) {
        let now_us = clock(now_ns);
        if before(self.next_seq, start) {
            let stale_us = self.round_us().saturating_mul(STALE_ROUNDS).max(PAUSE_US);
            self.holes.open(self.next_seq, start, now_us, stale_us);
            self.pace.loss();
        } else if before(start, self.next_seq) {
            self.again(now_ns, start, end, tally);
        }
        if before(self.next_seq, end) {
            self.next_seq = end;
        }
    }

    /// Handles a segment below the highest number: late, or sent again.
    fn again(&mut self, now_ns: u64, start: u32, end: u32, tally: &mut Tally) {
        self.rtt.forget();
        let on_link = u64::from(self.is(ON_LINK));
        let Some(lag_us) = self.holes.fill(start, end, clock(now_ns)) else {
            tally.segments.repeated += on_link;
            self.pace.loss();
            self.lose(now_ns);
            return;
        };
        let known = self.rtt.least_us != UNKNOWN;
        if lag_us < if known { self.rtt.least_us / 2 } else { REORDERED_US } {
            tally.segments.late += on_link;
            return;
        }
        if on_link > 0 {
            tally.segments.lost_before += 1;
            tally.recovery_us.add(f64::from(lag_us));
        }
        self.lose(now_ns - u64::from(lag_us) * 1000);
    }

    fn lose(&mut self, at_ns: u64) {
        if !self.is(LOSSY) {
            self.flags |= LOSSY;
            self.lossy_ms = self.since_ms(at_ns);
        }
    }

    /// Start of congestion avoidance; for a flow that existed before the capture, its beginning.
    fn since_ms(&self, now_ns: u64) -> u32 {
        ((if self.is(SYN) { now_ns } else { self.first_ns }) / 1_000_000) as u32
    }

    fn in_avoidance(&self) -> bool {
        self.is(LOSSY) || self.is(STEADY)
    }

    fn end_avoidance(&mut self, end_ns: u64, tally: &mut Tally) {
        if !self.is(ON_LINK) || !self.in_avoidance() {
            return;
        }
        let ns = |ms: u32| u64::from(ms) * 1_000_000;
        let mut since_ms = if self.is(STEADY) { self.steady_ms } else { u32::MAX };
        if self.is(LOSSY) {
            tally.lossy.add(ns(self.lossy_ms), end_ns);
            since_ms = since_ms.min(self.lossy_ms);
        }
        tally.avoiding.add(ns(since_ms), end_ns);
        if self.is(SYN) && self.is(ENDED) && u64::from(self.packets) < LONG_PACKETS {
            tally.brief.add(ns(since_ms), end_ns);
        }
    }

    /// The latest round trip, or an assumed one.
    fn round_us(&self) -> u32 {
        if self.rtt.latest_us == UNKNOWN { GUESS_US } else { self.rtt.latest_us.max(100) }
    }

    /// Adds a flow that has ended to the sums.
    pub fn finish(mut self, tally: &mut Tally) {
        if !self.is(ON_LINK) {
            return;
        }
        tally.tuples += 1;
        if !self.is(DATA) {
            return;
        }
        tally.flows += 1;
        tally.length(self.bytes);
        tally.concurrent.add(self.first_ns, self.last_ns);
        if self.rtt.least_us != UNKNOWN {
            tally.least_rtt_us.add(f64::from(self.rtt.least_us));
        }
        if self.key.protocol == 6 {
            self.finish_tcp(tally);
        }
    }

    fn finish_tcp(&mut self, tally: &mut Tally) {
        tally.censored += u64::from(!self.is(SYN) || !self.is(ENDED));
        self.end_burst(tally);
        let gap_us = clock(self.last_ns).wrapping_sub(self.last_data_us);
        self.end_avoidance(self.last_ns.saturating_sub(u64::from(gap_us) * 1000), tally);
        if self.in_avoidance() {
            tally.long_flows += 1;
            tally.long_bytes += self.bytes;
            return;
        }
        tally.short_bytes += self.bytes;
        if self.is(SYN) {
            tally.short_begun += 1;
            tally.short_packets.add(f64::from(self.packets));
        }
    }
}
