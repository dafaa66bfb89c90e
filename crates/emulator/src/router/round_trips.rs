//! Round trips as a flow's sender measures them, one for each ACK that measures one.
//!
//! The kernel tells only its smoothed round trip. The router sees when each segment leaves the sender and when the ACK is
//! delivered to it, and takes the sample of them that the kernel takes (`tcp_clean_rtx_queue`, `tcp_ack_update_rtt`) and
//! that the simulator's senders take: of what an ACK tells of for the first time and what was sent but once, the first segment.

use super::tcp_segment::{Range, SYN, Segment, before};
use forebay_sim::time::{MILLISECOND, NEVER, Picos};
use std::collections::VecDeque;

/// What the present connection of a flow has outstanding.
pub struct RoundTrips {
    /// One past the highest sequence number sent.
    next: u32,
    outstanding: VecDeque<Sent>,
    min_rtt: Picos,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self { next: 0, outstanding: VecDeque::new(), min_rtt: NEVER }
    }
}

/// A segment that is not acknowledged.
struct Sent {
    numbers: Range,
    /// When it was last sent.
    at: Picos,
    retransmitted: bool,
    sacked: bool,
}

impl RoundTrips {
    /// The sender sends `segment` at `now`.
    pub fn sends(&mut self, now: Picos, segment: &Segment<'_>) {
        let (from, to) = segment.data;
        if segment.flags & SYN != 0 {
            *self = Self { next: from.wrapping_add(1), ..Self::default() };
            return;
        }
        if before(from, self.next) {
            let first = self.first_after(from);
            for sent in self.outstanding.range_mut(first..) {
                if !before(sent.numbers.0, to) {
                    break;
                }
                (sent.at, sent.retransmitted) = (now, true);
            }
        }
        if before(self.next, to) {
            let numbers = (if before(from, self.next) { self.next } else { from }, to);
            self.outstanding.push_back(Sent {
                numbers,
                at: now,
                retransmitted: false,
                sacked: false,
            });
            self.next = to;
        }
    }

    /// An ACK is delivered to the sender at `now`; the round trip that it measures, if any.
    pub fn on_ack(&mut self, now: Picos, ack: &Segment<'_>) -> Option<Picos> {
        let (mut first, mut newest) = (NEVER, None);
        while let Some(sent) = self.outstanding.front()
            && !before(ack.ack, sent.numbers.1)
        {
            if first == NEVER && !sent.retransmitted && !sent.sacked {
                first = sent.at;
            }
            newest = newest.max(Some(sent.at));
            self.outstanding.pop_front();
        }
        for block in ack.sacked() {
            let at = self.take_block(block);
            first = if first == NEVER { at } else { first };
        }
        let rtt = match newest {
            _ if first != NEVER => now - first,
            // Karn: what was sent twice is measured only by its timestamp. Faster than ever: the original arrived.
            Some(at) if ack.echoes() && now - at + MILLISECOND >= self.min_rtt => now - at,
            _ => return None,
        };
        self.min_rtt = self.min_rtt.min(rtt);
        Some(rtt)
    }

    /// Takes a SACK block; when the first segment that it is the first to report, and that was sent but once, was sent.
    fn take_block(&mut self, (from, to): Range) -> Picos {
        let (begin, end) = (self.first_after(from), self.first_after(to));
        if begin >= end {
            return NEVER;
        }
        // A block grows at its ends: what lies between is known already, or was sent again.
        let new = |sent: &&mut Sent| !sent.sacked;
        let mut at_its_end = NEVER;
        for sent in self.outstanding.range_mut(begin..end).rev().take_while(new) {
            sent.sacked = true;
            at_its_end = if sent.retransmitted { at_its_end } else { sent.at };
        }
        let mut first = NEVER;
        for sent in self.outstanding.range_mut(begin..end).take_while(new) {
            sent.sacked = true;
            first = if sent.retransmitted || first != NEVER { first } else { sent.at };
        }
        if first == NEVER { at_its_end } else { first }
    }

    /// Place of the first outstanding segment that ends after `number`.
    fn first_after(&self, number: u32) -> usize {
        self.outstanding.partition_point(|sent| !before(number, sent.numbers.1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp_segment::tests::{RECEIVER, SENDER, packet, sack};
    use super::*;

    const START: u32 = u32::MAX - 2000; // sequence numbers wrap around
    const TIMESTAMP: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0];

    fn number(nth: u32) -> u32 {
        START.wrapping_add(1 + nth * 1000)
    }

    fn begun() -> RoundTrips {
        let mut round_trips = RoundTrips::default();
        let mut syn = packet(SENDER, RECEIVER, [START, 0], &[], 0);
        syn[33] = SYN;
        round_trips.sends(0, &Segment::read(&syn).unwrap());
        round_trips
    }

    fn send(round_trips: &mut RoundTrips, now: Picos, nth: u32) {
        let data = packet(SENDER, RECEIVER, [number(nth), 0], &TIMESTAMP, 1000);
        round_trips.sends(now, &Segment::read(&data).unwrap());
    }

    fn ack(
        round_trips: &mut RoundTrips,
        now: Picos,
        up_to: u32,
        blocks: &[Range],
    ) -> Option<Picos> {
        let blocks: Vec<_> = blocks.iter().map(|&(from, to)| (number(from), number(to))).collect();
        let options = if blocks.is_empty() { TIMESTAMP.to_vec() } else { sack(&blocks) };
        let packet = packet(RECEIVER, SENDER, [1, number(up_to)], &options, 0);
        round_trips.on_ack(now, &Segment::read(&packet).unwrap())
    }

    #[test]
    fn of_two_segments_of_one_ack_the_first_counts() {
        let mut round_trips = begun();
        (0..4).for_each(|nth| send(&mut round_trips, nth.into(), nth));
        assert_eq!(ack(&mut round_trips, 100, 2, &[]), Some(100));
        assert_eq!(ack(&mut round_trips, 105, 2, &[]), None, "it tells nothing new");
        assert_eq!(ack(&mut round_trips, 110, 4, &[]), Some(108));
    }

    #[test]
    fn what_was_sacked_is_measured_once() {
        let mut round_trips = begun();
        (0..6).for_each(|nth| send(&mut round_trips, nth.into(), nth));
        assert_eq!(ack(&mut round_trips, 100, 0, &[(2, 3)]), Some(98));
        assert_eq!(ack(&mut round_trips, 101, 0, &[(2, 4)]), Some(98));
        assert_eq!(ack(&mut round_trips, 102, 0, &[(2, 4)]), None);
        assert_eq!(ack(&mut round_trips, 103, 0, &[(1, 4)]), Some(102));
        // The hole, sent again, is known by its echo alone; what was SACKED gives nothing more.
        send(&mut round_trips, 200, 0);
        assert_eq!(ack(&mut round_trips, 290, 4, &[]), Some(90));
        assert_eq!(ack(&mut round_trips, 300, 6, &[]), Some(296));
    }

    #[test]
    fn what_was_sent_again_is_measured_only_by_an_echo_that_can_be_its_own() {
        let mut round_trips = begun();
        send(&mut round_trips, 0, 0);
        assert_eq!(ack(&mut round_trips, 50 * MILLISECOND, 1, &[]), Some(50 * MILLISECOND));
        send(&mut round_trips, 60 * MILLISECOND, 1);
        send(&mut round_trips, 100 * MILLISECOND, 1);
        assert_eq!(ack(&mut round_trips, 111 * MILLISECOND, 2, &[]), None, "the original's");
        send(&mut round_trips, 120 * MILLISECOND, 2);
        send(&mut round_trips, 400 * MILLISECOND, 2);
        assert_eq!(ack(&mut round_trips, 455 * MILLISECOND, 3, &[]), Some(55 * MILLISECOND));
    }

    #[test]
    fn a_new_connection_begins_anew() {
        let mut round_trips = begun();
        send(&mut round_trips, 0, 0);
        let mut syn = packet(SENDER, RECEIVER, [7, 0], &[], 0);
        syn[33] = SYN;
        round_trips.sends(0, &Segment::read(&syn).unwrap());
        assert!(round_trips.outstanding.is_empty() && round_trips.next == 8);
    }

    #[test]
    fn one_retransmission_may_cover_several_segments() {
        let mut round_trips = begun();
        (0..3).for_each(|nth| send(&mut round_trips, 0, nth));
        let both = packet(SENDER, RECEIVER, [number(0), 0], &TIMESTAMP, 2000);
        round_trips.sends(10, &Segment::read(&both).unwrap());
        let again: Vec<_> = round_trips.outstanding.iter().map(|sent| sent.retransmitted).collect();
        assert_eq!(again, [true, true, false]);
    }
}
