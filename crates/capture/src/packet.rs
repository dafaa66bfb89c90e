//! One packet: the fields of its headers, as far as they were captured.

use crate::frames::Frame;
use crate::link_header::{network, word};
use etherparse::{LaxIpSlice, TcpOptionElement, TcpOptionsIterator, ip_number};

/// TCP's flag bits.
pub mod flags {
    /// The sender has finished.
    pub const FIN: u8 = 1;
    /// Synchronize sequence numbers.
    pub const SYN: u8 = 2;
    /// The connection is gone.
    pub const RST: u8 = 4;
    /// The acknowledgement field is valid.
    pub const ACK: u8 = 16;
}

/// A five-tuple of one direction; IPv4 addresses are mapped into IPv6 (RFC 4291, section 2.5.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowKey {
    /// Source.
    pub from: [u8; 16],
    /// Destination.
    pub to: [u8; 16],
    /// Source port; 0 without ports.
    pub from_port: u16,
    /// Destination port.
    pub to_port: u16,
    /// IP protocol number.
    pub protocol: u8,
}

impl FlowKey {
    /// The other direction of the same conversation.
    pub fn reversed(&self) -> Self {
        let (from, to) = (self.to, self.from);
        Self { from, to, from_port: self.to_port, to_port: self.from_port, ..*self }
    }
}

/// Fields of a TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Number of its first byte.
    pub seq: u32,
    /// Next byte that its sender expects.
    pub ack: u32,
    /// As in `flags`.
    pub flags: u8,
    /// Bytes of data.
    pub payload: u32,
    /// TSval and TSecr (RFC 7323, section 3).
    pub stamps: Option<(u32, u32)>,
}

/// A packet of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Nanoseconds since 1970.
    pub at_ns: u64,
    /// Whether it was captured on the chosen interface.
    pub chosen: bool,
    /// Length of the IP packet, headers included.
    pub bytes: u32,
    /// The ECN field of its IP header (RFC 3168, section 5): 0 if it cannot be marked, 3 if it was.
    pub ecn: u8,
    /// Addresses, ports and protocol.
    pub key: FlowKey,
    /// Set for TCP whose fixed header was captured.
    pub tcp: Option<Segment>,
}

/// Decodes a frame; None if it is not IP, or was captured too short.
pub fn decode(frame: &Frame<'_>) -> Option<Packet> {
    let data = network(frame.link_type, frame.data)?;
    let (ip, _) = LaxIpSlice::from_slice(data).ok()?;
    let skipped = frame.data.len() - data.len();
    let captured = frame.original_bytes.saturating_sub(skipped as u32);
    let bytes = stated_length(data).filter(|&length| length <= captured).unwrap_or(captured);
    let payload = ip.payload();
    let mut key = FlowKey {
        from: mapped(ip.source_addr()),
        to: mapped(ip.destination_addr()),
        from_port: 0,
        to_port: 0,
        protocol: payload.ip_number.0,
    };
    let mut tcp = None;
    if !payload.fragmented {
        let headers = payload.payload.as_ptr() as usize - data.as_ptr() as usize;
        (key.from_port, key.to_port) = ports(payload.ip_number.0, payload.payload);
        if payload.ip_number == ip_number::TCP {
            tcp = segment(payload.payload, bytes.saturating_sub(headers as u32));
        }
    }
    let ecn = ecn(data);
    Some(Packet { at_ns: frame.at_ns, chosen: frame.chosen, bytes, ecn, key, tcp })
}

/// Payload, addresses and ports of a completely captured UDP datagram.
pub fn datagram<'a>(frame: &Frame<'a>) -> Option<(FlowKey, &'a [u8])> {
    let packet = decode(frame).filter(|packet| packet.key.protocol == ip_number::UDP.0)?;
    let data = network(frame.link_type, frame.data)?;
    let (ip, _) = LaxIpSlice::from_slice(data).ok()?;
    let payload = ip.payload();
    let length = usize::from(word(payload.payload, 4)?);
    if payload.fragmented || length < 8 {
        return None;
    }
    let kept = payload.payload.get(8..length)?;
    Some((packet.key, kept))
}

/// Of the byte behind the DSCP: IPv6's traffic class begins four bits later.
fn ecn(ip: &[u8]) -> u8 {
    match ip {
        [first, second, ..] if first >> 4 == 4 => second & 3,
        [_, second, ..] => second >> 4 & 3,
        _ => 0,
    }
}

/// Total length of the IP packet; None if the sender's network card sets it (segmentation offload).
fn stated_length(ip: &[u8]) -> Option<u32> {
    match ip.first()? >> 4 {
        4 => word(ip, 2).filter(|&length| length > 0).map(u32::from),
        _ => word(ip, 4).filter(|&length| length > 0).map(|length| 40 + u32::from(length)),
    }
}

fn mapped(address: std::net::IpAddr) -> [u8; 16] {
    match address {
        std::net::IpAddr::V4(four) => four.to_ipv6_mapped().octets(),
        std::net::IpAddr::V6(six) => six.octets(),
    }
}

fn ports(protocol: u8, payload: &[u8]) -> (u16, u16) {
    const SCTP: u8 = 132;
    const DCCP: u8 = 33;
    const UDP_LITE: u8 = 136;
    let has_ports = [ip_number::TCP.0, ip_number::UDP.0, SCTP, DCCP, UDP_LITE];
    match (has_ports.contains(&protocol), word(payload, 0), word(payload, 2)) {
        (true, Some(from), Some(to)) => (from, to),
        _ => (0, 0),
    }
}

fn segment(header: &[u8], bytes: u32) -> Option<Segment> {
    let fixed = header.get(..20)?;
    let length = usize::from(fixed[12] >> 4) * 4;
    if length < 20 {
        return None;
    }
    Some(Segment {
        seq: long(fixed, 4)?,
        ack: long(fixed, 8)?,
        flags: fixed[13],
        payload: bytes.saturating_sub(length as u32),
        stamps: stamps(header.get(20..length.min(header.len()))?),
    })
}

fn stamps(options: &[u8]) -> Option<(u32, u32)> {
    // As written by Linux: NOP, NOP, and the option. RFC 7323, appendix A.
    if options.len() >= 12 && options[..4] == [1, 1, 8, 10] {
        return Some((long(options, 4)?, long(options, 8)?));
    }
    TcpOptionsIterator::from_slice(options).find_map(|option| match option {
        Ok(TcpOptionElement::Timestamp(value, echo)) => Some((value, echo)),
        _ => None,
    })
}

fn long(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(data.get(at..at + 4)?.try_into().ok()?))
}
