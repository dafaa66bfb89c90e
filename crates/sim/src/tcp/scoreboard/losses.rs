//! Which outstanding segments are judged lost, and what follows for the counts.

use super::Scoreboard;
use crate::tcp::retransmission_order::RetransmissionOrder;
use crate::tcp::segment::{LOST, RETRANS, SACKED, Segment};

impl Scoreboard {
    /// RFC 6675's IsLost: three segments above have been SACKed. Gives how many are newly lost.
    pub(in crate::tcp) fn mark_lost_by_dupthresh(&mut self, una: u64) -> u32 {
        let below = self.highest.third().saturating_sub(1);
        let from = self.loss_marked_to.max(una);
        let before = self.lost;
        for seq in from..below {
            if !self.segments[(seq - una) as usize].is(SACKED | LOST) {
                self.mark_lost(una, seq);
            }
        }
        self.loss_marked_to = from.max(below);
        self.lost - before
    }

    /// A segment on its way is lost.
    #[inline(never)]
    pub(in crate::tcp) fn mark_lost(&mut self, una: u64, seq: u64) {
        let index = (seq - una) as usize;
        self.segments[index].0 |= LOST;
        self.wait_for_resending(seq);
        self.note_lost(index);
        self.lost += 1;
    }

    /// A segment that was retransmitted, `seq`, is lost again.
    #[inline(never)]
    pub(in crate::tcp) fn mark_retransmission_lost(&mut self, una: u64, seq: u64) {
        let index = (seq - una) as usize;
        self.segments[index].0 &= !RETRANS;
        self.wait_for_resending(seq);
        self.note_lost(index);
        self.retrans_out -= 1;
    }

    /// `seq` is about to be counted among those that wait.
    #[inline]
    fn wait_for_resending(&mut self, seq: u64) {
        if self.lost == self.retrans_out {
            self.retransmission_order = RetransmissionOrder::begin(seq);
        } else {
            self.retransmission_order.wait(seq);
        }
    }

    /// Nothing was lost after all; what is may yet be found.
    pub(in crate::tcp) fn undo_lost_marks(&mut self) {
        (0..self.segments.len()).for_each(|index| self.segments[index].0 &= !(LOST | RETRANS));
        (self.lost, self.retrans_out, self.loss_marked_to) = (0, 0, 0);
    }

    /// After a timeout all that was not SACKed counts as lost (RFC 6675, section 5.1), the first
    /// segment always, the others unless `recent` says that they were sent too recently.
    pub(in crate::tcp) fn mark_all_lost(&mut self, una: u64, recent: impl Fn(Segment) -> bool) {
        let (mut lost, mut retrans_out) = (0, 0);
        for index in 0..self.segments.len() {
            let segment = &mut self.segments[index];
            if segment.is(SACKED) {
                continue;
            }
            let before = *segment;
            if index == 0 || !recent(before) {
                segment.0 = (before.0 | LOST) & !RETRANS;
            }
            lost += u32::from(segment.is(LOST));
            retrans_out += u32::from(segment.is(RETRANS));
            // On its way before, for the first time or again.
            if segment.0 != before.0 {
                self.note_lost(index);
            }
        }
        (self.lost, self.retrans_out) = (lost, retrans_out);
        self.retransmission_order = RetransmissionOrder::begin(una);
        self.loss_marked_to = una;
        if let Some(state) = self.reordering_mut() {
            state.on_timeout();
        }
    }
}
