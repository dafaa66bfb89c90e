//! The receive window that a Linux receiver offers: it starts small and follows what its reader
//! took in a round trip (Linux, tcp_rcv_space_adjust, tcp_rcvbuf_grow and tcp_grow_window). The
//! sender's side keeps it, since every ACK says all that it depends on.

use crate::time::Picos;
use std::hint::select_unpredictable;

/// What a SYN-ACK can offer (RFC 7323, section 2.2): 65535 bytes, in segments of 1448.
pub const UNSCALED: u32 = 45;
/// What the first ACK offers: half of a receive buffer of a megabyte, which is what our testbed
/// sets (a kernel as it comes begins with an eighth of it), in segments of 1448.
const FIRST: u32 = 361;
/// The bytes of these segments.
const COUNTED_BYTES: u32 = 1448;

/// What a SYN-ACK can offer, in segments of so many bytes.
pub fn unscaled(segment_bytes: u32) -> u32 {
    (u32::from(u16::MAX) / segment_bytes).max(1)
}
/// What the reader is taken to have read in the first round trip: an initial window.
const FIRST_READ: u32 = 10;

/// In segments.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindow {
    /// The buffer.
    buffer: u32,
    /// The most offered so far: two more for each that arrives, up to the buffer.
    offered: u32,
    /// The most that was read in a round trip.
    read: u32,
    /// The cumulative ACK when this round trip began (low 32 bits).
    from: u32,
    /// When it began.
    since: Picos,
}

impl Default for ReceiveWindow {
    fn default() -> Self {
        Self { buffer: FIRST, offered: FIRST, read: FIRST_READ, from: 0, since: 0 }
    }
}

impl ReceiveWindow {
    /// For segments of so many bytes: its first buffer is of bytes.
    pub fn new(segment_bytes: u32) -> Self {
        let first = (FIRST * COUNTED_BYTES / segment_bytes).max(FIRST_READ);
        Self { buffer: first, offered: first, ..Self::default() }
    }

    /// An ACK takes `taken` segments off, up to `una`; `span` segments from there to the last that
    /// has arrived, `held` of them; `delivered` are new. Keeps how many beyond `una` are `offered`;
    /// `u32::MAX` stays.
    #[inline]
    pub fn on_ack(
        &mut self,
        offered: &mut u32,
        (now, round_trip): (Picos, Picos),
        (una, taken): (u64, u32),
        (span, held): (u32, u32),
        delivered: u32,
    ) {
        if *offered == u32::MAX {
            return;
        }
        let next_round = now >= self.since + round_trip;
        // Chosen without a branch: a processor cannot guess when a round ends.
        let read = self.read.max((una as u32).wrapping_sub(self.from));
        self.read = select_unpredictable(next_round, read, self.read);
        self.since = select_unpredictable(next_round, now, self.since);
        self.from = select_unpredictable(next_round, una as u32, self.from);
        self.buffer = self.buffer.max(2 * self.read + span);
        self.offered = (self.offered + 2 * delivered).min(self.buffer);
        let free = self.buffer.saturating_sub(held);
        // What was offered before still stands (RFC 9293, section 3.8.6).
        let left = offered.saturating_sub(taken);
        *offered = left.max(self.offered.min(free));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MILLISECOND;

    const ROUND: Picos = 100 * MILLISECOND;

    /// What an ACK of all below `una` offers that finds nothing offered.
    fn offer(
        window: &mut ReceiveWindow,
        now: Picos,
        una: u64,
        held: (u32, u32),
        delivered: u32,
    ) -> u32 {
        let mut offered = 0;
        window.on_ack(&mut offered, (now, ROUND), (una, 0), held, delivered);
        offered
    }

    #[test]
    fn offers_twice_what_was_read_in_a_round_trip() {
        let mut window = ReceiveWindow::default();
        assert_eq!(offer(&mut window, ROUND, 10, (0, 0), 10), FIRST);
        for i in 0..300 {
            let at = 2 * ROUND + i * ROUND / 1000;
            offer(&mut window, at, 10 + 2 * (i + 1), (0, 0), 2);
        }
        assert_eq!(offer(&mut window, 3 * ROUND, 610, (0, 0), 0), FIRST);
        assert_eq!(offer(&mut window, 3 * ROUND, 611, (0, 0), 500), 2 * 598);
    }

    /// What waits beyond a gap takes room, and the buffer grows by it.
    #[test]
    fn a_gap_holds_room() {
        let mut window = ReceiveWindow::default();
        let before = offer(&mut window, ROUND, 10, (0, 0), 10);
        let offered = offer(&mut window, ROUND, 10, (300, 290), 290);
        assert_eq!(offered, FIRST - 290);
        assert!(offered < before);
        assert_eq!(offer(&mut window, ROUND, 10, (600, 590), 300), 620 - 590);
    }

    #[test]
    fn an_offer_stands_and_a_full_one_stays_until_the_round_ends() {
        let (mut window, mut offered) = (ReceiveWindow::default(), 400);
        window.on_ack(&mut offered, (ROUND, ROUND), (10, 10), (0, 0), 10);
        assert_eq!(offered, 390, "what was offered, less what came");
        window.on_ack(&mut offered, (ROUND + 1, ROUND), (310, 300), (0, 0), 300);
        assert_eq!(offered, FIRST);
        window.on_ack(&mut offered, (ROUND + 2, ROUND), (312, 2), (0, 0), 2);
        assert_eq!(offered, FIRST);
        window.on_ack(&mut offered, (2 * ROUND, ROUND), (314, 2), (0, 0), 500);
        assert_eq!(offered, 2 * 304, "the reader took 304 in this round");
        let mut free = u32::MAX;
        window.on_ack(&mut free, (2 * ROUND, ROUND), (316, 2), (0, 0), 2);
        assert_eq!(free, u32::MAX);
    }
}
