//! A packet as links see it.

use crate::link::ArrivingPacket;
use crate::tcp::receiver::AckPacket;

/// What a packet carries: a segment or an acknowledgement, or nothing.
///
/// Every packet on its way lies in the event queue, and is copied in and out of it: two words, where
/// an enum's copies would go through memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// Of a segment its number; of an ACK `next`, and `sacked_last` above it.
    low: u64,
    /// Of an ACK from bit 0 `sacked_count` and from 16 `carried_lost_acks`; from 40 the connection, then the flags, and
    /// from 56 the hop.
    high: u64,
}

const LOST_ACKS: u32 = 16;
const CONNECTION: u32 = 40;
const MARKED: u64 = 1 << 48;
const IS_ACK: u64 = 1 << 49;
const ECT: u64 = 1 << 50;
const CWR: u64 = 1 << 51;
const HOP: u32 = 56;

impl Payload {
    /// A timer's.
    pub const NONE: Self = Self { low: 0, high: 0 };

    /// Segment `seq` of one of the flow's connections, marked by an earlier queue or not.
    #[inline(always)]
    pub fn data(seq: u64, marked: bool, connection: u8) -> Self {
        let high = u64::from(connection) << CONNECTION | if marked { MARKED } else { 0 };
        Self { low: seq, high }
    }

    /// An acknowledgement for one of the flow's connections.
    #[inline(always)]
    pub fn ack(ack: AckPacket, connection: u8) -> Self {
        let AckPacket { next, sacked_last, sacked_count, marked, carried_lost_acks } = ack;
        let counts = u64::from(sacked_count)
            | u64::from(carried_lost_acks) << LOST_ACKS
            | u64::from(connection) << CONNECTION;
        let flags = IS_ACK | if marked { MARKED } else { 0 };
        Self { low: u64::from(next) | u64::from(sacked_last) << 32, high: counts | flags }
    }

    /// Whether it acknowledges.
    #[inline(always)]
    pub fn is_ack(self) -> bool {
        self.high & IS_ACK != 0
    }

    /// The number of the segment.
    #[inline(always)]
    pub fn seq(self) -> u64 {
        self.low
    }

    /// What the ACK says.
    #[inline(always)]
    pub fn as_ack(self) -> AckPacket {
        AckPacket {
            next: self.low as u32,
            sacked_last: (self.low >> 32) as u32,
            sacked_count: self.high as u16,
            carried_lost_acks: (self.high >> LOST_ACKS) as u32
                & ((1 << (CONNECTION - LOST_ACKS)) - 1),
            marked: self.marked(),
        }
    }

    /// It bears a congestion mark, or echoes one.
    #[inline(always)]
    pub fn marked(self) -> bool {
        self.high & MARKED != 0
    }

    /// With what a segment says of congestion: a queue may mark it (ECT, RFC 3168), and it is the first
    /// since its sender cut the window for a mark (CWR).
    #[inline(always)]
    pub fn with_ecn(self, ect: bool, cwr: bool) -> Self {
        let flags = if ect { ECT } else { 0 } | if cwr { CWR } else { 0 };
        Self { high: self.high & !(ECT | CWR) | flags, ..self }
    }

    /// A queue may mark it. RFC 3168, section 6.1.4: no pure ACK.
    #[inline(always)]
    pub fn is_ecn_capable(self) -> bool {
        self.high & ECT != 0
    }

    /// Its sender has cut the window for a mark.
    #[inline(always)]
    pub fn carries_cwr(self) -> bool {
        self.high & CWR != 0
    }

    /// Marked, if it is not.
    #[inline(always)]
    pub fn with_ce(self, marked: bool) -> Self {
        Self { high: self.high | if marked { MARKED } else { 0 }, ..self }
    }

    /// The number of the queue on its route: forward queues first, then backward ones.
    #[inline(always)]
    pub fn hop(self) -> u8 {
        (self.high >> HOP) as u8
    }

    /// At queue number `hop` of its route.
    #[inline(always)]
    pub fn at_hop(self, hop: u8) -> Self {
        Self { high: self.high & ((1 << HOP) - 1) | u64::from(hop) << HOP, ..self }
    }

    /// The same with another acknowledgement.
    #[inline(always)]
    pub fn with_ack(self, ack: AckPacket) -> Self {
        Self::ack(ack, self.connection()).at_hop(self.hop())
    }

    /// The flow's connection that it is of.
    #[inline(always)]
    pub fn connection(self) -> u8 {
        (self.high >> CONNECTION) as u8
    }
}

/// A packet on its route.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Its flow.
    pub flow: u32,
    /// Size on the wire.
    pub bytes: u32,
    /// Its flow's traffic class, as the link's meter numbers it.
    pub class: u16,
    /// What it carries.
    pub payload: Payload,
}

impl Packet {
    /// As a queue that keeps no packets sees it.
    pub fn as_arriving(&self) -> ArrivingPacket {
        ArrivingPacket { bytes: self.bytes, class: self.class, ecn: self.payload.is_ecn_capable() }
    }
}
