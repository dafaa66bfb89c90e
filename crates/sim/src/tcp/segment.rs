//! Outstanding segments, and what an ACK says of them.

use crate::time::{NEVER, Picos};
use std::hint::select_unpredictable;

pub(super) const SACKED: u64 = 1;
pub(super) const LOST: u64 = 2;
/// Sent again, and thought to be on its way.
pub(super) const RETRANS: u64 = 4;
/// Sent again at some time (Karn).
pub(super) const EVER_RETRANS: u64 = 8;
const FLAG_BITS: u32 = 4;
pub(super) const FLAGS: u64 = (1 << FLAG_BITS) - 1;

/// One outstanding segment: when it was last sent, and its flags in the low bits.
#[derive(Clone, Copy, Default)]
pub(super) struct Segment(pub(super) u64);

impl Segment {
    #[inline]
    pub(super) fn sent_at(now: Picos) -> Self {
        Self(now << FLAG_BITS)
    }

    #[inline]
    pub(super) fn sent(self) -> Picos {
        self.0 >> FLAG_BITS
    }

    #[inline]
    pub(super) fn is(self, flag: u64) -> bool {
        self.0 & flag != 0
    }
}

/// What an ACK delivers, as the scoreboard sees it.
#[derive(Clone, Copy)]
pub(super) struct NewlyAcked {
    /// Segments newly acknowledged or SACKed.
    pub(super) segments: u32,
    /// The newest was sent more than once.
    pub(super) newest_retransmitted: bool,
    /// Of those sent but once the first: when (`NEVER` where there is none), and its number.
    first_never_retransmitted: (Picos, u64),
    /// Of the same, the last: when it was sent.
    pub(super) last_never_retransmitted: Picos,
    /// Transmission time and number of the last of them to be sent.
    newest: (Picos, u64),
}

impl NewlyAcked {
    #[inline]
    pub(super) fn none() -> Self {
        let first_never_retransmitted = (NEVER, 0);
        Self {
            segments: 0,
            newest_retransmitted: false,
            first_never_retransmitted,
            last_never_retransmitted: 0,
            newest: (0, 0),
        }
    }

    /// Of the segments that were sent but once the first: when it was sent, and its number.
    #[inline]
    pub(super) fn first_never_retransmitted(&self) -> Option<(Picos, u64)> {
        Some(self.first_never_retransmitted)
            .filter(|never_retransmitted| never_retransmitted.0 != NEVER)
    }

    /// Of all the last to be sent: when, and its number.
    #[inline]
    pub(super) fn newest(&self) -> Option<(Picos, u64)> {
        Some(self.newest).filter(|_| self.segments > 0)
    }

    #[inline]
    pub(super) fn add(&mut self, segment: Segment, seq: u64) {
        let (sent, retransmitted) = (segment.sent(), segment.is(EVER_RETRANS));
        if !retransmitted {
            if self.first_never_retransmitted.0 == NEVER {
                self.first_never_retransmitted = (sent, seq);
            }
            self.last_never_retransmitted = sent;
        }
        // Chosen without a branch: a processor cannot guess in which order repairs arrive.
        let newer = later((sent, seq), self.newest);
        self.newest.0 = select_unpredictable(newer, sent, self.newest.0);
        self.newest.1 = select_unpredictable(newer, seq, self.newest.1);
        self.newest_retransmitted =
            select_unpredictable(newer, retransmitted, self.newest_retransmitted);
        self.segments += 1;
    }
}

/// RFC 8985, section 6.2, step 2 (RACK_sent_after): which of two segments was sent later.
#[inline]
pub(super) fn later(one: (Picos, u64), other: (Picos, u64)) -> bool {
    let order = |(sent, seq)| u128::from(sent) << 64 | u128::from(seq);
    order(one) > order(other)
}
