//! Segments of which too few SACKs tell, or none.

use super::Scoreboard;
use crate::tcp::segment::{LOST, SACKED};

impl Scoreboard {
    /// The first segment below the highest SACKed of which nothing is known (RFC 6675, NextSeg, rule 3).
    pub(in crate::tcp) fn first_unsacked(&self, una: u64) -> Option<u64> {
        let from = self.loss_marked_to.max(una);
        (from..self.highest.first)
            .find(|seq| !self.segments[(seq - una) as usize].is(SACKED | LOST))
    }

    /// Nothing is known of the last segment (rule 4).
    pub(in crate::tcp) fn last_is_unsacked(&self) -> bool {
        let last = self.segments.len().checked_sub(1).and_then(|last| self.segments.get(last));
        last.is_some_and(|last| !last.is(SACKED | LOST))
    }
}
