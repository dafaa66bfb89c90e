//! Flow records of routers, from UDP datagrams: NetFlow v5, v9, IPFIX and sFlow v5.

pub mod chains;
pub mod collector;
pub mod netflow;
pub mod sequence;
pub mod sflow;

use crate::packet::FlowKey;

/// A router's record of a flow; sampled counts are as exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowRecord {
    /// Addresses, ports and protocol.
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
