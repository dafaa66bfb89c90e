//! A packet as links see it.

use crate::tcp::ack_packet::AckPacket;

/// The ECN field of an IP header (RFC 3168, section 5; RFC 9331, section 2, for ECT(1)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum EcnCodepoint {
    /// Its transport knows no ECN.
    #[default]
    NotEct = 0,
    /// ECN-capable; L4S (RFC 9331).
    Ect1 = 1,
    /// ECN-capable.
    Ect0 = 2,
    /// Congestion experienced: a queue has marked it.
    Ce = 3,
}

impl EcnCodepoint {
    /// That of a traffic class, or of any number whose lowest two bits are it.
    #[inline(always)]
    pub fn of(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// What a packet carries: a segment or an acknowledgement, or nothing.
///
/// Every packet in the network lies in the event queue, and is copied in and out of it: two words, where
/// an enum's copies would go through memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// Of a segment its number; of an ACK `next`, and `sacked_last` above it.
    low: u64,
    /// From bit 0 of an ACK `sacked_count`, then the flags, from 24 the connection, from 32 of a segment its place in
    /// `Paths`, of an ACK the hop and from 40 `carried_lost_acks`. What the packets of plain flows have is in the
    /// lower half: an instruction can contain it.
    high: u64,
}

const IS_ACK: u64 = 1 << 16;
const ECE: u64 = 1 << 17;
const CWR: u64 = 1 << 18;
const ECN: u32 = 19;
const DSACK: u64 = 1 << 21;
const CONNECTION: u32 = 24;
const PLACE: u32 = 32;
const HOP: u32 = 32;
const LOST_ACKS: u32 = 40;

impl Payload {
    /// A timer's.
    pub const NONE: Self = Self { low: 0, high: 0 };

    /// Segment `seq` of one of the flow's connections, not ECN-capable.
    #[inline(always)]
    pub fn data(seq: u64, connection: u8) -> Self {
        Self { low: seq, high: u64::from(connection) << CONNECTION }
    }

    /// An acknowledgement for one of the flow's connections.
    #[inline(always)]
    pub fn ack(ack: AckPacket, connection: u8) -> Self {
        let AckPacket { next, sacked_last, sacked_count, marked, dsack, carried_lost_acks } = ack;
        let counts = u64::from(sacked_count)
            | u64::from(carried_lost_acks) << LOST_ACKS
            | u64::from(connection) << CONNECTION;
        let flags = IS_ACK | if marked { ECE } else { 0 } | if dsack { DSACK } else { 0 };
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
            carried_lost_acks: (self.high >> LOST_ACKS) as u32,
            marked: self.high & ECE != 0,
            dsack: self.high & DSACK != 0,
        }
    }

    /// The ECN field of its IP header.
    #[inline(always)]
    pub fn ecn(self) -> EcnCodepoint {
        EcnCodepoint::of((self.high >> ECN) as u8)
    }

    /// With an ECN field, and with CWR on the first new segment since its sender reduced the window for a
    /// mark (RFC 3168, section 6.1.2).
    #[inline(always)]
    pub fn with_ecn(self, ecn: EcnCodepoint, cwr: bool) -> Self {
        let flags = (ecn as u64) << ECN | if cwr { CWR } else { 0 };
        Self { high: self.high & !(3 << ECN | CWR) | flags, ..self }
    }

    /// A queue may mark it. RFC 3168, section 6.1.4: no pure ACK.
    #[inline(always)]
    pub fn is_ecn_capable(self) -> bool {
        self.high >> ECN & 3 != 0
    }

    /// It is ECT(1) or CE: an L4S queue takes it (RFC 9332; Linux, dualpi2_skb_classify).
    #[inline(always)]
    pub fn is_l4s(self) -> bool {
        self.high >> ECN & 1 != 0
    }

    /// Its sender has reduced the window for a mark.
    #[inline(always)]
    pub fn carries_cwr(self) -> bool {
        self.high & CWR != 0
    }

    /// With CE where a queue has `marked` it.
    #[inline(always)]
    pub fn with_ce(self, marked: bool) -> Self {
        let ce = (EcnCodepoint::Ce as u64) << ECN;
        Self { high: self.high | if marked { ce } else { 0 }, ..self }
    }

    /// Of a segment, the place in `Paths` of the queue that it is at or reaches next: what passes on a packet need not
    /// ask its flow for the route.
    #[inline(always)]
    pub fn place(self) -> u32 {
        debug_assert!(!self.is_ack());
        (self.high >> PLACE) as u32
    }

    /// A segment at another queue of its route.
    #[inline(always)]
    pub fn at_place(self, place: u32) -> Self {
        debug_assert!(!self.is_ack());
        Self { high: self.high & u64::from(u32::MAX) | u64::from(place) << PLACE, ..self }
    }

    /// Of an ACK, the number of the queue on its route: forward queues first, then backward ones.
    #[inline(always)]
    pub fn hop(self) -> u8 {
        debug_assert!(self.is_ack());
        (self.high >> HOP) as u8
    }

    /// An ACK at queue number `hop` of its route.
    #[inline(always)]
    pub fn at_hop(self, hop: u8) -> Self {
        debug_assert!(self.is_ack());
        Self { high: self.high & !(0xff << HOP) | u64::from(hop) << HOP, ..self }
    }

    /// At the next queue of its route.
    #[inline(always)]
    pub fn at_next_queue(self) -> Self {
        Self { high: self.high + (1 << PLACE), ..self } // a route's hops are few: no carry
    }

    /// This ACK, at its queue and of its connection, with another acknowledgement.
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

/// What a queue that keeps no packets needs to know of one.
#[derive(Clone, Copy)]
pub struct ArrivingPacket {
    /// Size on the wire.
    pub bytes: u32,
    /// Traffic class.
    pub class: u16,
    /// It may be marked instead of dropped.
    pub ecn: bool,
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
    /// With CE where a queue has `marked` it.
    pub(crate) fn with_ce(&self, marked: bool) -> Self {
        Self { payload: self.payload.with_ce(marked), ..*self }
    }

    /// As a queue that keeps no packets sees it.
    pub fn as_arriving(&self) -> ArrivingPacket {
        ArrivingPacket { bytes: self.bytes, class: self.class, ecn: self.payload.is_ecn_capable() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use EcnCodepoint::{Ce, Ect0, Ect1, NotEct};

    #[test]
    fn a_mark_turns_either_ect_into_ce_and_leaves_the_rest() {
        for ecn in [NotEct, Ect0, Ect1] {
            let sent = Payload::data(7, 3).with_ecn(ecn, true).at_place(70_000);
            assert_eq!((sent.ecn(), sent.is_ecn_capable()), (ecn, ecn != NotEct));
            assert_eq!(sent.is_l4s(), ecn == Ect1);
            let marked = sent.with_ce(ecn != NotEct);
            assert_eq!(marked.ecn(), if ecn == NotEct { NotEct } else { Ce });
            assert_eq!(marked.is_l4s(), ecn != NotEct);
            assert_eq!((marked.seq(), marked.connection(), marked.place()), (7, 3, 70_000));
            assert!(marked.carries_cwr() && !marked.is_ack());
        }
    }

    #[test]
    fn an_ack_carries_ece_and_is_not_ecn_capable() {
        let ack = AckPacket {
            next: 5,
            sacked_last: 4,
            sacked_count: 2,
            marked: true,
            dsack: true,
            carried_lost_acks: 9,
        };
        let sent = Payload::ack(ack, 1).at_hop(6);
        assert_eq!((sent.as_ack(), sent.ecn(), sent.is_ack()), (ack, NotEct, true));
        assert!(!sent.with_ack(AckPacket { marked: false, ..ack }).as_ack().marked);
    }
}
