//! Whether the router may have caused a segment that was received twice (DSACK, RFC 2883).
//!
//! A sender may correctly send a segment again that was not lost: a tail loss probe, or a timeout
//! when the queue has grown faster than it has measured. The router is the cause if it duplicated a
//! segment, or if it was late. So it records which segments were sent again, and for which
//! connections it was late.

use forebay_sim::time::{MILLISECOND, Picos, SECOND};
use std::collections::{HashMap, VecDeque};

/// A probe comes 2 ms after two smoothed round trips (Linux's `TCP_TIMEOUT_MIN`): a millisecond
/// in each direction alone never causes one.
pub const LATE: Picos = MILLISECOND;
/// Time after a late delivery in which it may be the cause of a timeout.
const REMEMBERED: Picos = 2 * SECOND;
/// Retransmissions recorded for each connection.
const KEPT: usize = 1 << 10;

const TCP: u8 = 6;
const SYN: u8 = 2;
const RST: u8 = 4;
/// TCP's options: those without a length, and selective acknowledgements (RFC 2018).
const END: u8 = 0;
const NOTHING: u8 = 1;
const SACK: u8 = 5;

/// Address and port of the end that sends data.
type Key = (u32, u16);
/// Sequence numbers, the second one past the last.
type Range = (u32, u32);

/// Attributes each DSACK to the router or to the sender's own retransmission.
#[derive(Default)]
pub struct DsackAudit {
    connections: HashMap<Key, Connection>,
    stalled: Option<Picos>,
    /// Segments that were received twice and sent once.
    pub doubled: u64,
    /// Segments received twice on connections with a late delivery, or after a stall.
    pub late: u64,
}

#[derive(Default)]
struct Connection {
    /// One past the highest sequence number sent.
    next: u32,
    retransmitted: VecDeque<Range>,
    kept_late: Option<Picos>,
}

struct Segment<'a> {
    from: Key,
    to: Key,
    flags: u8,
    ack: u32,
    data: Range,
    options: &'a [u8],
}

impl DsackAudit {
    /// A packet arrives from its sender.
    pub fn enters(&mut self, packet: &[u8]) {
        let Some(segment) = Segment::read(packet) else { return };
        if segment.flags & SYN != 0 {
            let fresh =
                Connection { next: segment.data.0.wrapping_add(1), ..Connection::default() };
            self.connections.insert(segment.from, fresh);
        } else if segment.flags & RST != 0 {
            // Receivers reset completed transfers; removing them limits the table.
            self.connections.remove(&segment.to);
        } else if segment.data.0 != segment.data.1 {
            self.connections.entry(segment.from).or_default().sends(segment.data);
        }
    }

    /// A packet due `at` is delivered at `now`; `counts` once the window has begun.
    pub fn leaves(&mut self, at: Picos, now: Picos, counts: bool, packet: &[u8]) {
        // On time and only with timestamps, like nearly all packets.
        if now - at <= LATE && packet.get(32).is_none_or(|&offset| offset >> 4 <= 8) {
            return;
        }
        let Some(segment) = Segment::read(packet) else { return };
        let carries = segment.data.0 != segment.data.1;
        let key = if carries { segment.from } else { segment.to };
        let Some(connection) = self.connections.get_mut(&key) else { return };
        if now - at > LATE {
            connection.kept_late = Some(now);
        }
        let (false, true, Some(twice)) = (carries, counts, segment.dsack()) else { return };
        let recent = |then: Option<Picos>| {
            // Another thread may have read the clock slightly later.
            then.is_some_and(|then| now.saturating_sub(then) < REMEMBERED)
        };
        if !connection.has_retransmitted(twice.0) {
            self.doubled += 1;
        } else if recent(connection.kept_late) || recent(self.stalled) {
            self.late += 1;
        }
    }

    /// The router did not run when it should have: packets may have waited to be read.
    pub fn router_stalled(&mut self, now: Picos) {
        self.stalled = Some(now);
    }
}

impl Connection {
    fn sends(&mut self, data: Range) {
        if before(data.0, self.next) {
            self.retransmitted.push_back(data);
            self.retransmitted.drain(..self.retransmitted.len().saturating_sub(KEPT));
        }
        if before(self.next, data.1) {
            self.next = data.1;
        }
    }

    fn has_retransmitted(&self, number: u32) -> bool {
        self.retransmitted.iter().any(|&(from, to)| !before(number, from) && before(number, to))
    }
}

impl<'a> Segment<'a> {
    /// `None` if it is not a complete TCP segment of IPv4.
    fn read(packet: &'a [u8]) -> Option<Self> {
        let header = usize::from(packet.first()? & 0xf) * 4;
        let bytes = usize::from(u16::from_be_bytes(part(packet, 2)?));
        let tcp = packet.get(header..bytes)?;
        let offset = usize::from(tcp.get(12)? >> 4) * 4;
        let end = |address, port| Some((word(packet, address)?, half(tcp, port)?));
        let data = word(tcp, 4)?;
        let payload = tcp.len().checked_sub(offset)? as u32;
        (packet[9] == TCP).then_some(())?;
        Some(Self {
            from: end(12, 0)?,
            to: end(16, 2)?,
            flags: *tcp.get(13)?,
            ack: word(tcp, 8)?,
            data: (data, data.wrapping_add(payload)),
            options: tcp.get(20..offset)?,
        })
    }

    /// The duplicate range: a first block below the acknowledgement, or inside the second (RFC 2883,
    /// section 4).
    fn dsack(&self) -> Option<Range> {
        let blocks = self.sack_blocks()?;
        let block = |at: usize| Some((word(blocks, at)?, word(blocks, at + 4)?));
        let first: Range = block(0)?;
        let acknowledged = !before(self.ack, first.1) && self.flags & RST == 0;
        let inside = |outer: Range| !before(first.0, outer.0) && !before(outer.1, first.1);
        (acknowledged || block(8).is_some_and(inside)).then_some(first)
    }

    fn sack_blocks(&self) -> Option<&'a [u8]> {
        let mut rest = self.options;
        loop {
            let (&kind, after) = rest.split_first()?;
            if kind == END {
                return None;
            }
            if kind == NOTHING {
                rest = after;
                continue;
            }
            let length = usize::from(*after.first()?);
            if kind == SACK {
                return rest.get(2..length);
            }
            rest = rest.get(length.max(2)..)?;
        }
    }
}

/// Compares sequence numbers, which wrap around (RFC 9293, section 3.4).
fn before(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    part(bytes, at).map(u32::from_be_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    part(bytes, at).map(u16::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDER: [u8; 6] = [10, 64, 0, 1, 0x80, 1];
    const RECEIVER: [u8; 6] = [10, 128, 0, 1, 0x13, 0x89];
    const START: u32 = u32::MAX - 2000; // sequence numbers wrap around

    fn packet(
        from: [u8; 6],
        to: [u8; 6],
        words: [u32; 2],
        options: &[u8],
        payload: u16,
    ) -> Vec<u8> {
        let offset = 20 + options.len();
        let bytes = 20 + offset as u16 + payload;
        let mut packet = vec![0; usize::from(bytes)];
        (packet[0], packet[9], packet[32]) = (0x45, TCP, ((offset / 4) << 4) as u8);
        packet[2..4].copy_from_slice(&bytes.to_be_bytes());
        packet[12..16].copy_from_slice(&from[..4]);
        packet[16..20].copy_from_slice(&to[..4]);
        packet[20..22].copy_from_slice(&from[4..]);
        packet[22..24].copy_from_slice(&to[4..]);
        packet[24..28].copy_from_slice(&words[0].to_be_bytes());
        packet[28..32].copy_from_slice(&words[1].to_be_bytes());
        packet[40..40 + options.len()].copy_from_slice(options);
        packet
    }

    /// The nth segment of 1448 bytes.
    fn data(nth: u32) -> Vec<u8> {
        let at = START.wrapping_add(1 + nth * 1448);
        packet(SENDER, RECEIVER, [at, 0], &[NOTHING; 12], 1448)
    }

    /// An ACK of all before `up_to`, with blocks of segments from and to.
    fn ack(up_to: u32, blocks: &[Range]) -> Vec<u8> {
        let number = |nth: u32| START.wrapping_add(1 + nth * 1448);
        let mut options = vec![NOTHING; 14];
        options.extend([SACK, 2 + 8 * blocks.len() as u8]);
        for &(from, to) in blocks {
            options.extend(number(from).to_be_bytes());
            options.extend(number(to).to_be_bytes());
        }
        packet(RECEIVER, SENDER, [1, number(up_to)], &options, 0)
    }

    fn three_segments() -> DsackAudit {
        let mut dsack_audit = DsackAudit::default();
        let mut syn = packet(SENDER, RECEIVER, [START, 0], &[], 0);
        syn[33] = SYN;
        dsack_audit.enters(&syn);
        (0..3).for_each(|nth| dsack_audit.enters(&data(nth)));
        dsack_audit
    }

    fn counts(dsack_audit: &DsackAudit) -> (u64, u64) {
        (dsack_audit.doubled, dsack_audit.late)
    }

    #[test]
    fn what_was_sent_once_and_came_twice_is_ours() {
        let mut dsack_audit = three_segments();
        dsack_audit.leaves(5, 5, true, &ack(3, &[(2, 3)]));
        assert_eq!(counts(&dsack_audit), (1, 0));
        // Beyond a hole: inside the second block.
        dsack_audit.leaves(5, 5, true, &ack(0, &[(1, 2), (1, 3)]));
        assert_eq!(counts(&dsack_audit), (2, 0));
    }

    #[test]
    fn a_probe_is_nobodys_fault() {
        let mut dsack_audit = three_segments();
        dsack_audit.enters(&data(2));
        dsack_audit.leaves(5, 5, true, &ack(3, &[(2, 3)]));
        assert_eq!(counts(&dsack_audit), (0, 0));
    }

    #[test]
    fn but_ours_after_the_connection_was_kept_waiting_or_the_router_stalled() {
        let late = |dsack_audit: &mut DsackAudit, now| {
            dsack_audit.enters(&data(2));
            dsack_audit.leaves(now, now, true, &ack(3, &[(2, 3)]));
            counts(dsack_audit)
        };
        for kept in [data(1), ack(1, &[(2, 3)])] {
            let mut dsack_audit = three_segments();
            dsack_audit.leaves(0, LATE + 1, true, &kept);
            assert_eq!(late(&mut dsack_audit, SECOND), (0, 1));
            assert_eq!(late(&mut dsack_audit, 3 * SECOND), (0, 1), "that is long ago");
        }
        let mut dsack_audit = three_segments();
        dsack_audit.router_stalled(0);
        assert_eq!(late(&mut dsack_audit, SECOND), (0, 1));
    }

    #[test]
    fn a_hole_is_no_repetition_and_before_the_window_nothing_counts() {
        let mut dsack_audit = three_segments();
        dsack_audit.leaves(5, 5, true, &ack(1, &[(2, 3)]));
        dsack_audit.leaves(5, 5, false, &ack(3, &[(2, 3)]));
        assert_eq!(counts(&dsack_audit), (0, 0));
    }

    #[test]
    fn a_new_connection_of_the_same_ends_begins_anew() {
        let mut dsack_audit = three_segments();
        let mut syn = packet(SENDER, RECEIVER, [7, 0], &[], 0);
        syn[33] = SYN;
        dsack_audit.enters(&syn);
        dsack_audit.enters(&packet(SENDER, RECEIVER, [8, 0], &[NOTHING; 12], 1448));
        assert_eq!(dsack_audit.connections[&(0x0a40_0001, 0x8001)].retransmitted.len(), 0);
    }

    #[test]
    fn a_connection_that_has_ended_is_forgotten() {
        let mut dsack_audit = three_segments();
        let mut reset = packet(RECEIVER, SENDER, [1, 0], &[], 0);
        reset[33] = RST;
        dsack_audit.enters(&reset);
        assert!(dsack_audit.connections.is_empty());
    }

    #[test]
    fn what_is_cut_short_is_passed_over() {
        let whole = ack(3, &[(2, 3)]);
        (0..whole.len()).for_each(|bytes| {
            let mut dsack_audit = three_segments();
            dsack_audit.enters(&whole[..bytes]);
            dsack_audit.leaves(0, LATE + 1, true, &whole[..bytes]);
            assert_eq!(counts(&dsack_audit), (0, 0));
        });
    }
}
