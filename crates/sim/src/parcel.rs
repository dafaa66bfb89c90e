//! A packet as links see it.

use crate::link::Arriving;
use crate::tcp::receiver::AckPacket;

/// What a packet carries: a segment or an acknowledgement, or nothing.
///
/// Every packet on its way lies in the event queue, and is copied in and out of it: two words, where
/// an enum's copies would go through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Of a segment its number; of an ACK `next`, and `trigger` above it.
    number: u64,
    /// From bit 0 `run`, from 16 `also`, from 32 the connection, and the flags.
    rest: u64,
}

const MARKED: u64 = 1 << 40;
const IS_ACK: u64 = 1 << 41;

impl Load {
    /// A timer's.
    pub const NONE: Self = Self { number: 0, rest: 0 };

    /// Segment `seq` of one of the flow's connections, marked by an earlier queue or not.
    #[inline(always)]
    pub fn data(seq: u64, marked: bool, connection: u8) -> Self {
        let rest = u64::from(connection) << 32 | if marked { MARKED } else { 0 };
        Self { number: seq, rest }
    }

    /// An acknowledgement for one of the flow's connections.
    #[inline(always)]
    pub fn ack(ack: AckPacket, connection: u8) -> Self {
        let AckPacket { next, trigger, run, marked, also } = ack;
        let counts = u64::from(run) | u64::from(also) << 16 | u64::from(connection) << 32;
        let flags = IS_ACK | if marked { MARKED } else { 0 };
        Self { number: u64::from(next) | u64::from(trigger) << 32, rest: counts | flags }
    }

    /// Whether it acknowledges.
    #[inline(always)]
    pub fn is_ack(self) -> bool {
        self.rest & IS_ACK != 0
    }

    /// The number of the segment.
    #[inline(always)]
    pub fn seq(self) -> u64 {
        self.number
    }

    /// What the ACK says.
    #[inline(always)]
    pub fn acknowledges(self) -> AckPacket {
        AckPacket {
            next: self.number as u32,
            trigger: (self.number >> 32) as u32,
            run: self.rest as u16,
            also: (self.rest >> 16) as u16,
            marked: self.marked(),
        }
    }

    /// It bears a congestion mark, or echoes one.
    #[inline(always)]
    pub fn marked(self) -> bool {
        self.rest & MARKED != 0
    }

    /// The flow's connection that it is of.
    #[inline(always)]
    pub fn connection(self) -> u8 {
        (self.rest >> 32) as u8
    }
}

/// A packet on its route.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// Its flow.
    pub flow: u32,
    /// Size on the wire.
    pub bytes: u32,
    /// Its flow's traffic class.
    pub class: u16,
    /// Number of the queue on its route: forward queues first, then backward ones.
    pub stage: u8,
    /// A queue may mark it instead of dropping it.
    pub ecn: bool,
    /// What it carries.
    pub load: Load,
}

impl Parcel {
    /// As a queue that keeps no packets sees it.
    pub fn arriving(&self) -> Arriving {
        Arriving { bytes: self.bytes, class: self.class, ecn: self.ecn }
    }
}
