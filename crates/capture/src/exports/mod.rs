//! Flow records as routers export them, from UDP datagrams: NetFlow v5, v9, IPFIX and sFlow v5.

pub mod collector;
pub mod netflow;
pub mod sequence;
pub mod sflow;

use crate::packet::FlowKey;

/// What a router says of a flow; sampled counts are as they were exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowRecord {
    /// Who sends to whom.
    pub key: FlowKey,
    /// First and last packet, in milliseconds since 1970.
    pub first_ms: u64,
    /// Last packet.
    pub last_ms: u64,
    /// Bytes of IP.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}
