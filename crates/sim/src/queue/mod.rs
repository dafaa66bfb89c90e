//! Queue disciplines, each written once and under its Linux kernel name.
//!
//! They are state machines that know nothing of links, events or flows. There are two kinds. An
//! *arrival* discipline decides a packet's fate when it comes, and sends in order of arrival: a
//! link then knows every departure at once. A *departure* discipline chooses the packet to send
//! when the wire is free. Adding one is a file here and a line in the list of `registry`.

mod busy_until;
pub mod cake;
pub mod classes;
pub mod cobalt;
pub mod codel;
pub mod dualpi2;
pub mod fifo;
pub mod fq_codel;
pub mod head_drop;
mod packet_fifo;
pub mod packets;
pub mod parameters;
pub mod parse;
pub mod pie;
pub mod red;
pub mod registry;
pub mod shared;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod testbench;

use crate::packet::Payload;
use crate::time::Picos;
use packets::Packets;

/// What waits in front of a packet that arrives. The packet on the wire does not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: usize,
    /// Bytes waiting.
    pub bytes: u64,
    /// Time until the arriving packet's transmission would start; 0 if the wire is idle.
    pub delay: Picos,
}

/// The fate of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnqueueDecision {
    /// It joins the queue.
    Accept,
    /// It joins the queue and is marked (CE, RFC 3168).
    Mark,
    /// It is lost.
    Drop,
}

/// How much may wait, in the unit that a discipline counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Packets of any size.
    Packets(u64),
    /// Bytes on the wire.
    Bytes(u64),
}

/// A discipline that decides on arrival and sends first in, first out.
pub trait EnqueueDiscipline {
    /// Judges a packet. It is told of every arrival, in order of time.
    fn on_enqueue(
        &mut self,
        now: Picos,
        bytes: u32,
        ecn_capable: bool,
        backlog: &Backlog,
    ) -> EnqueueDecision;

    /// Where it matters for packets of this size only how many wait: one that finds the wire busy is
    /// accepted if they are fewer than this, else lost, and the discipline need not be told of it.
    fn threshold(&self, _bytes: u32) -> Option<usize> {
        None
    }

    /// The most packets that can ever wait.
    fn capacity(&self) -> usize;

    /// The limit that it keeps.
    fn limit(&self) -> Limit;
}

/// A packet as a departure discipline sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedPacket {
    /// The flow it belongs to.
    pub flow: u32,
    /// Its traffic class.
    pub class: u16,
    /// Its size on the wire.
    pub bytes: u32,
    /// When it joined the queue.
    pub arrived: Picos,
    /// What it carries; a discipline asks it for the ECN field alone.
    pub payload: Payload,
}

impl QueuedPacket {
    /// Whether it may be marked instead of dropped.
    #[inline(always)]
    pub fn is_ecn_capable(&self) -> bool {
        self.payload.is_ecn_capable()
    }

    /// It is L4S: ECT(1), or CE (RFC 9332; Linux, dualpi2_skb_classify).
    #[inline(always)]
    pub fn is_l4s(&self) -> bool {
        self.payload.is_l4s()
    }
}

/// A discipline that chooses what to send when the wire is free.
pub trait DequeueDiscipline {
    /// Takes a packet in, whose number this is; `packets` counts it already. It calls `packets.drop` with
    /// whatever is lost by that, this packet or others.
    fn enqueue(&mut self, now: Picos, packet: u32, packets: &mut Packets);

    /// The number of the packet to send now, and whether it is marked (CE). It calls `packets.drop` with what is lost.
    fn dequeue(&mut self, now: Picos, packets: &mut Packets) -> Option<(u32, bool)>;

    /// Before this time none of the packets that wait may be sent, and an arrival can make it earlier;
    /// none where the discipline has no limit of rate.
    fn ready_at(&self) -> Option<Picos> {
        None
    }

    /// Bytes waiting.
    fn bytes(&self) -> u64;

    /// The most packets that can ever wait.
    fn capacity(&self) -> usize;

    /// The limit that it keeps.
    fn limit(&self) -> Limit;
}
