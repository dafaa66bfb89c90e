//! The receive window that a Linux receiver offers: it starts small and follows what its reader
//! took in a round trip (Linux, tcp_rcv_space_adjust, tcp_rcvbuf_grow and tcp_grow_window). The
//! sender's side keeps it, since every ACK says all that it depends on.

use crate::time::Picos;

/// What a SYN-ACK can offer (RFC 7323, section 2.2): 65535 bytes, in segments of 1448.
pub const UNSCALED: u32 = 45;
/// What the first ACK offers: half of a receive buffer of a megabyte, which is what our testbed
/// sets (a kernel as it comes begins with an eighth of it).
const FIRST: u64 = 361;
/// What the reader is taken to have read in the first round trip: an initial window.
const FIRST_READ: u64 = 10;

/// In segments.
#[derive(Clone, Copy)]
pub struct ReceiveWindow {
    /// The buffer.
    buffer: u64,
    /// The most offered so far: two more for each that arrives, up to the buffer.
    offered: u64,
    /// The most that was read in a round trip.
    read: u64,
    /// When this round trip began, and the cumulative ACK then.
    since: (Picos, u64),
}

impl Default for ReceiveWindow {
    fn default() -> Self {
        Self { buffer: FIRST, offered: FIRST, read: FIRST_READ, since: (0, 0) }
    }
}

impl ReceiveWindow {
    /// An ACK of everything below `una`; `span` segments from there to the last that has arrived,
    /// `held` of them; `delivered` are new. Gives how many beyond `una` it
    /// lets go.
    pub fn on_ack(
        &mut self,
        (now, round_trip): (Picos, Picos),
        una: u64,
        (span, held): (u64, u64),
        delivered: u64,
    ) -> u32 {
        if now >= self.since.0 + round_trip {
            self.read = self.read.max(una - self.since.1);
            self.since = (now, una);
        }
        self.buffer = self.buffer.max(2 * self.read + span);
        self.offered = (self.offered + 2 * delivered).min(self.buffer);
        let free = self.buffer.saturating_sub(held);
        self.offered.min(free) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MILLISECOND;

    const ROUND: Picos = 100 * MILLISECOND;

    #[test]
    fn offers_twice_what_was_read_in_a_round_trip() {
        let mut window = ReceiveWindow::default();
        assert_eq!(window.on_ack((ROUND, ROUND), 10, (0, 0), 10), FIRST as u32);
        for i in 0..300 {
            let at = 2 * ROUND + i * ROUND / 1000;
            window.on_ack((at, ROUND), 10 + 2 * (i + 1), (0, 0), 2);
        }
        assert_eq!(window.on_ack((3 * ROUND, ROUND), 610, (0, 0), 0), FIRST as u32);
        assert_eq!(window.on_ack((3 * ROUND, ROUND), 611, (0, 0), 500), 2 * 598);
    }

    /// What waits beyond a gap takes room, and the buffer grows by it.
    #[test]
    fn a_gap_holds_room() {
        let mut window = ReceiveWindow::default();
        let before = window.on_ack((ROUND, ROUND), 10, (0, 0), 10);
        let offered = window.on_ack((ROUND, ROUND), 10, (300, 290), 290);
        assert_eq!(offered, FIRST as u32 - 290);
        assert!(offered < before);
        assert_eq!(window.on_ack((ROUND, ROUND), 10, (600, 590), 300), 620 - 590);
    }
}
