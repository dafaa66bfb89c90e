//! A packet as links see it.

use crate::link::Arriving;
use crate::tcp::receiver::AckPacket;

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// A segment.
    Data {
        /// Its number.
        seq: u64,
        /// An earlier queue has marked it.
        marked: bool,
    },
    /// An acknowledgement.
    Ack(AckPacket),
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
