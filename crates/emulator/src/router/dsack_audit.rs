//! Whether the router may have caused a segment that was received twice (DSACK, RFC 2883).
//!
//! A sender may correctly send a segment again that was not lost: a tail loss probe, or a timeout
//! when the queue has grown faster than it has measured. The router is the cause if it duplicated a
//! segment, or if it was late. So it records which segments were sent again, and for which
//! connections it was late.

use super::tcp_segment::{Key, RST, Range, SYN, Segment, before};
use forebay_sim::time::{MILLISECOND, Picos, SECOND};
use std::collections::{HashMap, VecDeque};

/// A probe comes 2 ms after two smoothed round trips (Linux's `TCP_TIMEOUT_MIN`): a millisecond
/// in each direction alone never causes one.
pub const LATE: Picos = MILLISECOND;
/// Time after a late delivery in which it may be the cause of a timeout.
const REMEMBERED: Picos = 2 * SECOND;
/// Retransmissions recorded for each connection.
const KEPT: usize = 1 << 10;

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

#[cfg(test)]
mod tests {
    use super::super::tcp_segment::tests::{NOTHING, RECEIVER, SENDER, packet, sack};
    use super::*;

    const START: u32 = u32::MAX - 2000; // sequence numbers wrap around

    /// The nth segment of 1448 bytes.
    fn data(nth: u32) -> Vec<u8> {
        let at = START.wrapping_add(1 + nth * 1448);
        packet(SENDER, RECEIVER, [at, 0], &[NOTHING; 12], 1448)
    }

    /// An ACK of all before `up_to`, with blocks of segments from and to.
    fn ack(up_to: u32, blocks: &[Range]) -> Vec<u8> {
        let number = |nth: u32| START.wrapping_add(1 + nth * 1448);
        let blocks: Vec<_> = blocks.iter().map(|&(from, to)| (number(from), number(to))).collect();
        packet(RECEIVER, SENDER, [1, number(up_to)], &sack(&blocks), 0)
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
