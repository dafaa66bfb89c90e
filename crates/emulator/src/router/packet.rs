//! The fields that the router reads in an IPv4 packet, and the only one that it writes.

use forebay_sim::packet::EcnCodepoint;
use std::net::Ipv4Addr;

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Congestion experienced, in the lowest two bits of the traffic class (RFC 3168, section 5).
const CE: u8 = 0b11;

/// Fields of a packet's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Length of the packet, from its own header.
    pub bytes: u32,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// ECN codepoint; ECT(0), ECT(1) and CE may be marked.
    pub ecn: EcnCodepoint,
    /// Whether it has payload.
    pub payload: bool,
}

/// Reads the headers; `None` if it is not a complete IPv4 packet.
pub fn headers(packet: &[u8]) -> Option<Headers> {
    let (&first, &class) = (packet.first()?, packet.get(1)?);
    let header = usize::from(first & 0xf) * 4;
    let bytes = usize::from(word(packet, 2)?);
    if first >> 4 != 4 || header < 20 || bytes < header || bytes > packet.len() {
        return None;
    }
    let to: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
    let payload = match *packet.get(9)? {
        TCP => bytes > header + usize::from(packet.get(header + 12)? >> 4) * 4,
        UDP => true,
        _ => false,
    };
    let ecn = EcnCodepoint::of(class);
    Some(Headers { bytes: bytes as u32, destination: to.into(), ecn, payload })
}

/// Marks a packet that `headers` has read: congestion experienced.
pub fn mark(packet: &mut [u8]) {
    let (Some(before), Some(sum)) = (word(packet, 0), word(packet, 10)) else { return };
    let after = before | u16::from(CE);
    packet[1] |= CE;
    packet[10..12].copy_from_slice(&updated(sum, before, after).to_be_bytes());
}

fn word(packet: &[u8], at: usize) -> Option<u16> {
    packet.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

/// The checksum after a change of a 16-bit word: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3).
fn updated(sum: u16, before: u16, after: u16) -> u16 {
    let total = u32::from(!sum) + u32::from(!before) + u32::from(after);
    let folded = (total & 0xffff) + (total >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The checksum of a header as RFC 791 has it, its own field being zero.
    fn checksum(header: &[u8]) -> u16 {
        let words = (0..header.len()).step_by(2).filter(|&at| at != 10);
        let mut sum: u32 = words.map(|at| u32::from(word(header, at).unwrap())).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !sum as u16
    }

    /// A TCP segment of `bytes` with its 12 bytes of timestamps.
    pub fn segment(to: Ipv4Addr, bytes: u16, ecn: u8) -> Vec<u8> {
        let mut packet = vec![0; usize::from(bytes)];
        (packet[0], packet[1], packet[8], packet[9]) = (0x45, ecn, 64, TCP);
        packet[2..4].copy_from_slice(&bytes.to_be_bytes());
        packet[16..20].copy_from_slice(&to.octets());
        packet[32] = 8 << 4;
        let sum = checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    #[test]
    fn the_example_of_rfc_1624_section_4() {
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn an_ack_is_no_payload() {
        let to = Ipv4Addr::new(10, 64, 0, 7);
        let of = |bytes| headers(&segment(to, bytes, 2)).unwrap();
        assert_eq!(
            of(52),
            Headers { bytes: 52, destination: to, ecn: EcnCodepoint::Ect0, payload: false }
        );
        assert!(
            of(53).payload && headers(&segment(to, 52, 0)).unwrap().ecn == EcnCodepoint::NotEct
        );
    }

    #[test]
    fn what_is_cut_short_or_not_ipv4_is_no_packet() {
        let whole = segment(Ipv4Addr::LOCALHOST, 100, 0);
        assert!((0..100).all(|bytes| headers(&whole[..bytes]).is_none()));
        assert!(headers(&[0x60; 100]).is_none());
    }

    proptest! {
        #[test]
        fn a_marked_header_still_sums_up(
            mut header in prop::collection::vec(any::<u8>(), 20), ecn in 1_u8..4,
        ) {
            header[0] = 0x45;
            header[1] = header[1] & !CE | ecn;
            let sum = checksum(&header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            mark(&mut header);
            prop_assert_eq!(header[1] & CE, CE);
            let carried = word(&header, 10).unwrap();
            // 0 and ~0 are the same number in ones' complement.
            prop_assert!(carried == checksum(&header) || carried ^ checksum(&header) == 0xffff);
        }
    }
}
