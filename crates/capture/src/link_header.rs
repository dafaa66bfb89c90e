//! What stands before the IP header, by tcpdump.org's link types.

const NULL: i32 = 0;
const ETHERNET: i32 = 1;
const PPP: i32 = 9;
const PPP_SERIAL: i32 = 50;
const PPP_ETHER: i32 = 51;
const C_HDLC: i32 = 104;
const FRELAY: i32 = 107;
/// Raw IP by any of the numbers that systems give it.
const RAW: [i32; 5] = [12, 14, 101, 228, 229];
const LOOP: i32 = 108;
const SLL: i32 = 113;
const PPP_WITH_DIR: i32 = 204;
const NFLOG: i32 = 239;
const SLL2: i32 = 276;
/// A switch's tag between the addresses and the type: Broadcom's and Marvell's.
const BRCM_TAG: i32 = 281;
/// Broadcom's tag before the addresses.
const BRCM_TAG_PREPEND: i32 = 282;
const DSA_TAG: i32 = 284;
/// Marvell's tag with an EtherType of its own.
const EDSA_TAG: i32 = 285;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE_SESSION: u16 = 0x8864;
/// 802.1Q, 802.1ad, and what came before it.
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// A smaller number in the place of the type is a length (IEEE 802.3), and LLC follows.
const LONGEST_LENGTH: u16 = 1500;
/// LLC's addresses and control, and SNAP's organisation of EtherTypes (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
/// Maximum number of tags and labels of a frame, to limit the time of decoding.
const MOST_TAGS: usize = 16;
/// The attribute of a packet in a message of nfnetlink_log.
const NFULA_PAYLOAD: u16 = 9;

/// Whether frames of a link type are read at all.
pub fn is_read(link_type: i32) -> bool {
    let known = [
        NULL,
        ETHERNET,
        PPP,
        PPP_SERIAL,
        PPP_ETHER,
        C_HDLC,
        FRELAY,
        LOOP,
        SLL,
        PPP_WITH_DIR,
        NFLOG,
        SLL2,
        BRCM_TAG,
        BRCM_TAG_PREPEND,
        DSA_TAG,
        EDSA_TAG,
    ];
    known.contains(&link_type) || RAW.contains(&link_type)
}

/// The frame from its IP header on; None if it has none.
pub fn network(link_type: i32, data: &[u8]) -> Option<&[u8]> {
    match link_type {
        ETHERNET => typed(data, 12),
        SLL => typed(data, 14),
        SLL2 => tagged(word(data, 0)?, data.get(20..)?),
        NULL | LOOP => data.get(4..),
        PPP | PPP_SERIAL => ppp(data),
        PPP_WITH_DIR => ppp(data.get(1..)?),
        PPP_ETHER => ppp(data.get(6..)?),
        C_HDLC => typed(data, 2),
        FRELAY => frame_relay(data),
        NFLOG => logged(data),
        BRCM_TAG_PREPEND => typed(data.get(4..)?, 12),
        BRCM_TAG | DSA_TAG => typed(data, 16),
        EDSA_TAG => typed(data, 20),
        raw if RAW.contains(&raw) => Some(data),
        _ => None,
    }
}

/// What a frame without an IP header that is read has instead; None if it is not known.
pub fn not_ip(link_type: i32, data: &[u8]) -> Option<&'static str> {
    let at = match link_type {
        ETHERNET => 12,
        SLL => 14,
        _ => return None,
    };
    let (mut ether_type, mut data) = (word(data, at)?, data.get(at + 2..)?);
    while VLAN.contains(&ether_type) {
        (ether_type, data) = (word(data, 2)?, data.get(4..)?);
    }
    let in_snap = ether_type <= LONGEST_LENGTH && data.starts_with(&SNAP);
    Some(match (ether_type, in_snap.then(|| word(data, 6)).flatten()) {
        (_, Some(IPV4)) => "IPv4 in LLC/SNAP",
        (_, Some(IPV6)) => "IPv6 in LLC/SNAP",
        (_, Some(_)) => "LLC/SNAP",
        (..=LONGEST_LENGTH, None) => "LLC",
        (0x0806, None) => "ARP",
        (0x88cc, None) => "LLDP",
        (0x8863, None) => "PPPoE discovery",
        (0x8809, None) => "LACP",
        (0x88e5, None) => "MACsec",
        (0x8915, None) => "RoCE",
        (0x8906, None) => "FCoE",
        (0x8808, None) => "pause frames",
        (0x88f7, None) => "PTP",
        (0x894f, None) => "NSH",
        (0x88e7, None) => "802.1ah",
        _ => return None,
    })
}

/// What follows the EtherType at a place.
fn typed(data: &[u8], at: usize) -> Option<&[u8]> {
    tagged(word(data, at)?, data.get(at + 2..)?)
}

/// Skips VLAN tags, MPLS labels (RFC 3032, section 2.1) and PPPoE (RFC 2516, section 4).
fn tagged(mut ether_type: u16, mut data: &[u8]) -> Option<&[u8]> {
    for _ in 0..MOST_TAGS {
        if ether_type == IPV4 || ether_type == IPV6 {
            return Some(data);
        } else if VLAN.contains(&ether_type) {
            (ether_type, data) = (word(data, 2)?, data.get(4..)?);
        } else if ether_type == PPPOE_SESSION {
            return ppp(data.get(6..)?);
        } else if MPLS.contains(&ether_type) {
            let bottom = data.get(2)? & 1 == 1;
            data = data.get(4..)?;
            if bottom {
                return Some(data);
            }
        } else {
            return None;
        }
    }
    None
}

/// PPP's protocol field, which may be compressed, after an optional address and control field
/// (RFC 1661, sections 2 and 6.5; RFC 1662, section 3.1). Cisco's HDLC begins otherwise.
fn ppp(data: &[u8]) -> Option<&[u8]> {
    let data = match data.get(..2)? {
        [0xff, 0x03] => data.get(2..)?,
        [0x0f | 0x8f, _] => return typed(data, 2),
        _ => data,
    };
    let compressed = data.first()? & 1 == 1;
    let (protocol, rest) = match compressed {
        true => (u16::from(data[0]), data.get(1..)?),
        false => (word(data, 0)?, data.get(2..)?),
    };
    match protocol {
        0x0021 | 0x0057 => Some(rest),
        0x0281 => tagged(MPLS[0], rest),
        0x0283 => tagged(MPLS[1], rest),
        _ => None,
    }
}

/// A Q.922 address of two to four bytes, control, and the protocol's NLPID (RFC 2427, section 3);
/// or, after an address of two bytes, Cisco's EtherType.
fn frame_relay(data: &[u8]) -> Option<&[u8]> {
    let address = 1 + data.iter().take(4).position(|byte| byte & 1 == 1)?;
    let after = data.get(address..)?;
    if after.first()? != &3 {
        return typed(after, 0);
    }
    let after = if after.get(1)? == &0 { after.get(2..)? } else { after.get(1..)? };
    match after.first()? {
        0xcc | 0x8e => after.get(1..),
        0xcf => ppp(after.get(1..)?),
        0x80 => typed(after, 4),
        _ => None,
    }
}

/// The packet in the attributes of nfnetlink_log. Their lengths have the byte order of the host
/// that wrote them.
fn logged(data: &[u8]) -> Option<&[u8]> {
    let mut left = data.get(4..)?;
    for _ in 0..MOST_TAGS {
        let head: [u8; 4] = left.get(..4)?.try_into().ok()?;
        let little =
            [u16::from_le_bytes([head[0], head[1]]), u16::from_le_bytes([head[2], head[3]])];
        let swapped = usize::from(little[0]) > left.len();
        let [length, kind] = if swapped { little.map(u16::swap_bytes) } else { little };
        // The packet is the last attribute: writers disagree on what its length counts.
        if kind & 0x7fff == NFULA_PAYLOAD {
            return left.get(4..);
        }
        left = left.get(usize::from(length).max(4).next_multiple_of(4)..)?;
    }
    None
}

/// A number of two bytes at a place.
pub fn word(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(data.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IP: [u8; 4] = [0x45, 1, 2, 3];

    fn found(link_type: i32, head: &[u8]) -> bool {
        let frame = [head, &IP].concat();
        network(link_type, &frame) == Some(&IP[..])
    }

    fn ethernet(after: &[u8]) -> Vec<u8> {
        [&[0; 12], after].concat()
    }

    #[test]
    fn pppoe_stands_between_ethernet_and_ppp() {
        let session = [0x88, 0x64, 0x11, 0, 0, 1, 0, 42];
        assert!(found(ETHERNET, &ethernet(&[&session[..], &[0, 0x21]].concat())));
        assert!(found(ETHERNET, &ethernet(&[&session[..], &[0x21]].concat())), "compressed");
        let vlan = [0x81, 0, 0, 7];
        assert!(found(ETHERNET, &ethernet(&[&vlan[..], &session, &[0, 0x57]].concat())));
        assert!(!found(ETHERNET, &ethernet(&[&session[..], &[0xc0, 0x21]].concat())), "LCP");
        assert!(found(PPP_ETHER, &[0x11, 0, 0, 1, 0, 42, 0, 0x21]));
    }

    #[test]
    fn ppp_with_and_without_address_and_direction() {
        assert!(found(PPP, &[0xff, 3, 0, 0x21]) && found(PPP, &[0x21]));
        assert!(found(PPP_SERIAL, &[0x0f, 0, 8, 0]), "Cisco's");
        assert!(found(PPP_WITH_DIR, &[1, 0xff, 3, 0, 0x57]));
        assert!(found(PPP, &[0xff, 3, 0x02, 0x81, 0, 0, 1, 64]), "MPLS");
        assert!(!found(PPP, &[0xff, 3, 0x80, 0x21]), "IPCP");
    }

    #[test]
    fn cisco_hdlc_and_frame_relay() {
        assert!(found(C_HDLC, &[0x0f, 0, 8, 0]) && found(C_HDLC, &[0x8f, 0, 0x86, 0xdd]));
        assert!(!found(C_HDLC, &[0x8f, 0, 0x80, 0x35]), "SLARP");
        assert!(found(FRELAY, &[0x48, 0xd1, 3, 0xcc]) && found(FRELAY, &[0x48, 0xd1, 3, 0, 0xcc]));
        assert!(found(FRELAY, &[0x48, 0xd0, 0, 1, 3, 0x8e]), "four bytes of address");
        assert!(found(FRELAY, &[0x48, 0xd1, 3, 0, 0x80, 0, 0, 0, 8, 0]), "SNAP");
        assert!(found(FRELAY, &[0x48, 0xd1, 8, 0]), "Cisco's");
    }

    #[test]
    fn tags_of_switches() {
        assert!(found(DSA_TAG, &ethernet(&[0xc0, 8, 0, 1, 8, 0])));
        assert!(found(BRCM_TAG, &ethernet(&[0, 0, 0, 5, 0x86, 0xdd])));
        assert!(found(EDSA_TAG, &ethernet(&[0xda, 0xda, 0, 0, 0xc0, 8, 0, 1, 8, 0])));
        let prepended = [&[0; 4][..], &ethernet(&[8, 0])].concat();
        assert!(found(BRCM_TAG_PREPEND, &prepended));
    }

    #[test]
    fn nflog_in_either_byte_order_and_after_other_attributes() {
        assert!(found(NFLOG, &[2, 0, 0, 0, 4, 0, 9, 0]));
        assert!(found(
            NFLOG,
            &[2, 0, 0, 5, 8, 0, 1, 0, 8, 0, 3, 0, 5, 0, 10, 0, 0, 0, 0, 0, 8, 0, 9, 0]
        ));
        assert!(found(NFLOG, &[2, 0, 0, 0, 0, 8, 0, 9]), "big-endian");
        assert!(!found(NFLOG, &[2, 0, 0, 0, 4, 0, 1, 0]), "without a packet");
    }

    #[test]
    fn what_is_no_ip_is_named() {
        let kind = |after: &[u8]| not_ip(ETHERNET, &ethernet(after));
        assert_eq!(kind(&[0, 48, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45]), Some("IPv4 in LLC/SNAP"));
        assert_eq!(kind(&[0, 38, 0x42, 0x42, 3]), Some("LLC"), "spanning tree");
        assert_eq!(kind(&[0x81, 0, 0, 7, 8, 6]), Some("ARP"));
        assert_eq!((kind(&[0x12, 0x34]), not_ip(RAW[0], &[0; 40])), (None, None));
    }

    #[test]
    fn other_types_are_known_not_to_be_read() {
        assert!(is_read(FRELAY) && is_read(101) && !is_read(105));
        assert!(!found(105, &[]));
    }
}
