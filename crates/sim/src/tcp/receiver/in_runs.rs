//! Segments that arrive back to back: what `on_segment` does in the two usual cases, in fewer steps.

use super::{LONGEST_DELAY, PendingAck, Receiver};
use crate::tcp::ack_packet::AckPacket;
use crate::tcp::profile::Profile;
use crate::time::{NEVER, Picos};

impl Receiver {
    /// A segment that is not marked, and whose ACK would come at `at`, begins a pair: nothing is missing, no ACK is held
    /// back, and its own is to wait.
    #[inline(always)]
    pub fn begins_pair(&self, seq: u64, at: Picos) -> bool {
        (seq == self.rcv_nxt)
            & self.pending_kind.is_none()
            & (self.quickacks_left == 0)
            & (self.ato > 0)
            & (at.saturating_sub(self.last) <= self.longest_gap())
            && !self.has_gap()
    }

    /// The segment that `begins_pair` and the next one arrive, both in order, `first` and `second` being when their ACKs
    /// would come: gives that of both. `None` where it does not wait for so long; nothing was done then.
    #[inline(always)]
    pub fn on_pair(
        &mut self,
        (first, second): (Picos, Picos),
        profile: &Profile,
    ) -> Option<AckPacket> {
        let min_ato = profile.delayed_ack?;
        let before = (self.ato, self.last);
        self.update_ato(first, min_ato, profile);
        if second > first + self.ack_wait(min_ato, profile) || second - first > self.longest_gap() {
            (self.ato, self.last) = before;
            return None;
        }
        self.update_ato(second, min_ato, profile);
        self.duplicates = 0;
        self.rcv_nxt += 2;
        Some(self.acknowledge(self.rcv_nxt - 1, false))
    }

    /// A segment beyond a gap arrives, and its ACK is one with that which is held back. False where it is not; nothing
    /// was done then.
    #[inline(always)]
    pub fn joins_compressed(&mut self, seq: u64, at: Picos) -> bool {
        let joins = (self.pending_kind == Some(PendingAck::Compressed))
            & (self.pending_at < NEVER)
            & (at <= self.pending_until)
            && self.follows_pending(seq);
        if joins {
            self.arrive(seq);
            self.pending_ack.sacked_last = seq as u32;
            self.pending_ack.sacked_count += 1;
        }
        joins
    }

    /// How long a single segment's ACK waits.
    #[inline(always)]
    pub(super) fn ack_wait(&self, min_ato: Picos, profile: &Profile) -> Picos {
        if profile.adaptive_ack_delay {
            self.ato.min(self.rtt.max(min_ato)).min(LONGEST_DELAY)
        } else {
            min_ato
        }
    }
}
