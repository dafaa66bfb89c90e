//! Bursts of segmentation offload: a TCP segment of up to 64 KiB that a sender gives its network
//! card behind a virtio-net header, and the packets that the card makes of it.
//!
//! As Linux's `tcp_gso_segment` and `inet_gso_segment` do: sequence numbers and IP identifications
//! go on, FIN and PSH are on the last packet only, CWR on the first, and checksums are complete.

use std::ops::Range;

/// Bytes of `struct virtio_net_hdr` (linux/virtio_net.h), whose numbers have the machine's order.
pub const FRAMING: usize = 10;
/// The largest frame that a device with bursts hands over.
pub const LARGEST_FRAME: usize = FRAMING + (1 << 16);

const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP_IPV4: u8 = 1;
/// Of the type: the segment has CWR.
const GSO_ECN: u8 = 0x80;

const TCP: u8 = 6;
const FIN: u8 = 1;
const PSH: u8 = 8;
const CWR: u8 = 0x80;
/// More fragments, or an offset of one (RFC 791).
const FRAGMENT: u16 = 0x3fff;

/// Frames that were cut, and the packets that they were cut into.
#[derive(Clone, Copy, Default)]
pub struct BurstCounts {
    pub frames: u64,
    pub packets: u64,
}

/// A frame that is being cut into packets.
pub struct Burst<'a> {
    packet: &'a [u8],
    cut: Cut,
}

enum Cut {
    /// One packet; the place of its checksum and where its sum begins, if it has none yet.
    Whole(Option<(usize, usize)>),
    Segments(Segments),
    Done,
}

/// A TCP segment larger than packets are.
struct Segments {
    /// Where the TCP header begins.
    tcp: usize,
    /// Payload not yet cut off.
    rest: Range<usize>,
    /// Where the payload begins, which is the length of both headers.
    headers: usize,
    /// Payload of a packet.
    bytes: usize,
    /// Packets so far.
    cut: u16,
}

impl<'a> Burst<'a> {
    /// Reads a frame; `None` if its header does not fit its content, or asks for what is neither a
    /// checksum nor TCP over IPv4.
    pub fn read(frame: &'a [u8]) -> Option<Self> {
        let (header, packet) = frame.split_at_checked(FRAMING)?;
        let half = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let cut = match header[1] & !GSO_ECN {
            GSO_NONE if header[0] & NEEDS_CHECKSUM == 0 => Cut::Whole(None),
            GSO_NONE => {
                let (from, place) = (half(6), half(6) + half(8));
                (place + 2 <= packet.len()).then_some(Cut::Whole(Some((place, from))))?
            }
            GSO_TCP_IPV4 => Cut::Segments(Segments::of(packet, half(4))?),
            _ => return None,
        };
        Some(Self { packet, cut })
    }

    /// Writes the next packet into a buffer, and returns its length; `None` if there is none, or it
    /// does not fit.
    pub fn next(&mut self, into: &mut [u8]) -> Option<usize> {
        match &mut self.cut {
            Cut::Done => None,
            Cut::Whole(partial) => {
                let partial = *partial;
                self.cut = Cut::Done;
                let out = into.get_mut(..self.packet.len())?;
                out.copy_from_slice(self.packet);
                if let Some((place, from)) = partial {
                    // The field holds the sum of the pseudo-header.
                    let sum = checksum(&out[from..], 0);
                    out[place..place + 2].copy_from_slice(&sum.to_be_bytes());
                }
                Some(out.len())
            }
            Cut::Segments(segments) => segments.next(self.packet, into),
        }
    }
}

impl Segments {
    fn of(packet: &[u8], bytes: usize) -> Option<Self> {
        let tcp = usize::from(packet.first()? & 0xf) * 4;
        let end = usize::from(word(packet, 2)?);
        let headers = tcp + usize::from(packet.get(tcp + 12)? >> 4) * 4;
        let is_tcp = packet[0] >> 4 == 4 && packet.get(9) == Some(&TCP);
        let is_whole = word(packet, 6)? & FRAGMENT == 0 && end <= packet.len();
        let fits = tcp >= 20 && headers >= tcp + 20 && headers < end && bytes > 0;
        let rest = headers..end;
        (is_tcp && is_whole && fits).then_some(Self { tcp, rest, headers, bytes, cut: 0 })
    }

    fn next(&mut self, packet: &[u8], into: &mut [u8]) -> Option<usize> {
        if self.rest.is_empty() {
            return None;
        }
        let offset = self.rest.start - self.headers;
        let payload = self.rest.start..self.rest.end.min(self.rest.start + self.bytes);
        let out = into.get_mut(..self.headers + payload.len())?;
        self.rest.start = payload.end;
        let (head, body) = out.split_at_mut(self.headers);
        head.copy_from_slice(&packet[..self.headers]);
        body.copy_from_slice(&packet[payload]);
        self.renumber(head, offset as u32);
        self.sum_up(out);
        self.cut = self.cut.wrapping_add(1);
        Some(out.len())
    }

    /// What differs between the packets of a segment, without lengths and checksums.
    fn renumber(&self, head: &mut [u8], offset: u32) {
        let (ip, tcp) = head.split_at_mut(self.tcp);
        let id = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(self.cut);
        ip[4..6].copy_from_slice(&id.to_be_bytes());
        let sequence = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]).wrapping_add(offset);
        tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
        if self.cut > 0 {
            tcp[13] &= !CWR;
        }
        if !self.rest.is_empty() {
            tcp[13] &= !(FIN | PSH);
        }
    }

    /// Lengths and checksums of a packet.
    fn sum_up(&self, out: &mut [u8]) {
        let bytes = out.len() as u16;
        out[2..4].copy_from_slice(&bytes.to_be_bytes());
        out[10..12].fill(0);
        let sum = checksum(&out[..self.tcp], 0);
        out[10..12].copy_from_slice(&sum.to_be_bytes());
        let place = self.tcp + 16;
        out[place..place + 2].fill(0);
        // The pseudo-header: addresses, protocol and length (RFC 9293, section 3.1).
        let pseudo = sum_of(&out[12..20]) + u64::from(TCP) + (out.len() - self.tcp) as u64;
        let sum = checksum(&out[self.tcp..], pseudo);
        out[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The Internet checksum (RFC 1071) of bytes, and of words that were summed before.
fn checksum(bytes: &[u8], before: u64) -> u16 {
    let mut sum = sum_of(bytes) + before;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The sum of 32-bit words, which folds to that of 16-bit words.
fn sum_of(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    let sum: u64 = words.iter().map(|&word| u64::from(u32::from_be_bytes(word))).sum();
    sum + u64::from(u32::from_be_bytes(last))
}

fn word(packet: &[u8], at: usize) -> Option<u16> {
    packet.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::super::packet::{headers, tests::segment};
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    const HEADERS: usize = 52;

    fn frame(flags: u8, kind: u8, numbers: [u16; 4], packet: &[u8]) -> Vec<u8> {
        let numbers = numbers.into_iter().flat_map(u16::to_ne_bytes);
        [flags, kind].into_iter().chain(numbers).chain(packet.iter().copied()).collect()
    }

    /// A segment with this payload, sequence number and flags, to be cut at `bytes`.
    fn large(payload: &[u8], sequence: u32, flags: u8, bytes: u16) -> Vec<u8> {
        let to = Ipv4Addr::new(10, 128, 0, 3);
        let mut packet = segment(to, (HEADERS + payload.len()) as u16, 2);
        packet[4..6].copy_from_slice(&0xffff_u16.to_be_bytes());
        packet[24..28].copy_from_slice(&sequence.to_be_bytes());
        packet[33] = flags;
        packet[HEADERS..].copy_from_slice(payload);
        frame(NEEDS_CHECKSUM, GSO_TCP_IPV4 | GSO_ECN, [HEADERS as u16, bytes, 20, 16], &packet)
    }

    fn cut(frame: &[u8]) -> Option<Vec<Vec<u8>>> {
        let (mut burst, mut buffer) = (Burst::read(frame)?, vec![0; 9216]);
        let next = std::iter::from_fn(|| burst.next(&mut buffer).map(|n| buffer[..n].to_vec()));
        Some(next.collect())
    }

    /// Both checksums of a packet as a receiver checks them, word by word.
    fn sums_up(packet: &[u8]) -> bool {
        let folded = |bytes: &[u8], before: u32| {
            let pair =
                |two: &[u8]| u32::from(two[0]) << 8 | two.get(1).map_or(0, |&b| u32::from(b));
            let mut sum = before + bytes.chunks(2).map(pair).sum::<u32>();
            while sum > 0xffff {
                sum = (sum & 0xffff) + (sum >> 16);
            }
            sum
        };
        let pseudo = folded(&packet[12..20], 0) + u32::from(TCP) + packet.len() as u32 - 20;
        folded(&packet[..20], 0) == 0xffff && folded(&packet[20..], pseudo) == 0xffff
    }

    proptest! {
        #[test]
        fn packets_of_a_burst_are_the_segment_again(
            payload in prop::collection::vec(any::<u8>(), 1..20_000),
            sequence in any::<u32>(), flags in any::<u8>(), bytes in 1_000_u16..9_000,
        ) {
            let packets = cut(&large(&payload, sequence, flags, bytes)).unwrap();
            prop_assert_eq!(packets.len(), payload.len().div_ceil(bytes.into()));
            let (mut whole, last) = (Vec::<u8>::new(), packets.len() - 1);
            for (nth, packet) in packets.iter().enumerate() {
                prop_assert!(sums_up(packet));
                prop_assert_eq!(headers(packet).unwrap().bytes as usize, packet.len());
                prop_assert_eq!(word(packet, 4), Some(0xffff_u16.wrapping_add(nth as u16)));
                let at = sequence.wrapping_add(whole.len() as u32);
                prop_assert_eq!(&packet[24..28], &at.to_be_bytes());
                let first_only = if nth == 0 { 0 } else { CWR };
                let last_only = if nth == last { 0 } else { FIN | PSH };
                prop_assert_eq!(packet[33], flags & !(first_only | last_only));
                whole.extend(&packet[HEADERS..]);
            }
            prop_assert_eq!(whole, payload);
        }

        #[test]
        fn no_frame_makes_it_panic_or_grow(
            kind in prop::sample::select(vec![0_u8, 1, 3, 4, 5, 0x81, 0xff]),
            flags in any::<u8>(), numbers in any::<[u16; 4]>(),
            small in prop::array::uniform2(0_u16..80), is_small in any::<bool>(),
            mut packet in prop::collection::vec(any::<u8>(), 0..400),
            looks_right in any::<bool>(),
        ) {
            let mut numbers = numbers;
            if is_small {
                numbers[1..3].copy_from_slice(&small);
            }
            if looks_right && packet.len() > 60 {
                (packet[0], packet[9], packet[32]) = (0x45, TCP, 0x50);
                (packet[2], packet[3], packet[6], packet[7]) = (0, packet[3] % 60 + 1, 0, 0);
            }
            let most = packet.len().max(1);
            if let Some(packets) = cut(&frame(flags, kind, numbers, &packet)) {
                prop_assert!(packets.len() <= most);
                prop_assert!(packets.iter().all(|cut| cut.len() <= packet.len()));
            }
        }
    }

    #[test]
    fn a_packet_without_checksum_gets_one() {
        let mut packet = segment(Ipv4Addr::new(10, 128, 0, 3), 52, 0);
        let pseudo = !checksum(&packet[12..20], u64::from(TCP) + 32);
        packet[36..38].copy_from_slice(&pseudo.to_be_bytes());
        let packets = cut(&frame(NEEDS_CHECKSUM, GSO_NONE, [0, 0, 20, 16], &packet)).unwrap();
        assert!(packets.len() == 1 && sums_up(&packets[0]));
        // One that is complete already is left alone.
        let packets = cut(&frame(0, GSO_NONE, [0; 4], &packet)).unwrap();
        assert_eq!(packets, [packet]);
    }

    #[test]
    fn what_is_cut_short_is_no_burst() {
        let whole = large(&[7; 3000], 1, 0, 1448);
        assert_eq!(cut(&whole).unwrap().len(), 3);
        assert!((0..whole.len()).all(|bytes| cut(&whole[..bytes]).is_none_or(|p| p.is_empty())));
        let fragment = |byte: usize, value: u8| {
            let mut changed = whole.clone();
            changed[FRAMING + byte] = value;
            cut(&changed).is_none()
        };
        assert!(fragment(6, 0x20) && fragment(9, 17) && fragment(0, 0x65) && fragment(32, 0x40));
        assert!(cut(&large(&[7; 3000], 1, 0, 0)).is_none());
    }

    #[test]
    fn a_packet_that_no_buffer_holds_ends_the_burst() {
        let whole = large(&[7; 3000], 1, 0, 1448);
        assert_eq!(Burst::read(&whole).unwrap().next(&mut [0; 1499]), None);
    }
}
