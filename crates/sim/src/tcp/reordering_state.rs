//! What a sender with RACK knows of packets that overtake each other (RFC 8985, section 6.2, steps 3 and 4), and of a
//! recovery that may turn out to have repaired nothing.

use super::highest_sacked::DUP_THRESH;
use crate::time::{NEVER, Picos};

/// DSACK-free recoveries after which the window is the smallest again (RFC 8985, section 6.2, step 4).
const PERSIST: u32 = 16;
/// The most by which the window is multiplied (Linux).
const MOST: u32 = 255;

/// Linux's tcp_max_reordering.
const MOST_BEHIND: u64 = 300;

/// What a sender knows of reordering.
pub(super) struct Reordering {
    /// RACK.reordering_seen.
    pub(super) seen: bool,
    /// How many segments one was late at the most: Linux's tp->reordering.
    degree: u64,
    /// RACK.reo_wnd_mult.
    multiple: u32,
    /// RACK.reo_wnd_persist.
    persist: u32,
    /// RACK.dsack_round; 0 where there is none.
    dsack_round: u64,
    /// The ACK in hand reports a segment that had arrived before (RFC 2883).
    pub(super) dsack: bool,
    /// The last recovery, as long as its reduction may be taken back.
    pub(super) recovery: Option<Recovery>,
}

/// A recovery that may turn out to have repaired nothing.
#[derive(Clone, Copy)]
pub(super) struct Recovery {
    /// When it first retransmitted something (retrans_stamp); `NEVER` where it has not.
    first: Picos,
    /// Retransmissions that no DSACK has shown to be needless (undo_retrans).
    pub(super) needed: u32,
}

impl Default for Reordering {
    fn default() -> Self {
        let (seen, dsack) = (false, false);
        Self {
            seen,
            degree: DUP_THRESH as u64,
            multiple: 1,
            persist: PERSIST,
            dsack_round: 0,
            dsack,
            recovery: None,
        }
    }
}

impl Reordering {
    /// RACK.reo_wnd; `None` while no reordering was seen.
    pub(super) fn window(&self, min_rtt: Picos) -> Option<Picos> {
        self.seen.then(|| min_rtt / 4 * u64::from(self.multiple))
    }

    /// A segment came late, behind so many others.
    pub(super) fn see(&mut self, behind: u64) {
        self.seen = true;
        self.degree = self.degree.max(behind.min(MOST_BEHIND));
    }

    /// Whether the window grows with what is SACKed too: the cumulative ACK says little (Linux, tcp_may_raise_cwnd).
    pub(super) fn is_high(&self) -> bool {
        self.degree > DUP_THRESH as u64
    }

    pub(super) fn begin_recovery(&mut self) {
        self.recovery = Some(Recovery { first: NEVER, needed: 0 });
    }

    /// Something is retransmitted.
    pub(super) fn retransmitted(&mut self, now: Picos) {
        if let Some(recovery) = &mut self.recovery {
            recovery.first = recovery.first.min(now);
            recovery.needed += 1;
        }
    }

    /// After a timeout F-RTO alone takes back.
    pub(super) fn on_timeout(&mut self) {
        self.recovery = None;
    }

    /// RFC 8985, section 6.2, step 4. Without reordering seen, a DSACK is of a probe (Linux, tcp_dsack_seen).
    pub(super) fn adapt(&mut self, dsack: bool, una: u64, snd_nxt: u64) {
        if una >= self.dsack_round {
            self.dsack_round = 0;
        }
        if dsack && self.seen && self.dsack_round == 0 {
            self.dsack_round = snd_nxt;
            self.multiple = (self.multiple + 1).min(MOST);
            self.persist = PERSIST;
        }
    }

    /// A recovery ends that was needed.
    pub(super) fn end_recovery(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiple = 1;
        }
    }

    /// A segment came back that was sent before the recovery retransmitted anything (Linux, tcp_packet_delayed, which
    /// reads that from the echoed timestamp): faster than any round trip, where it was sent again.
    pub(super) fn shows_delay(
        &self,
        trigger: Option<(Picos, bool)>,
        now: Picos,
        min_rtt: Picos,
    ) -> bool {
        let (Some(recovery), Some((sent, again))) = (self.recovery, trigger) else { return false };
        if again { now - sent < min_rtt } else { sent < recovery.first }
    }

    /// Every retransmission of the recovery was needless.
    pub(super) fn all_needless(&self) -> bool {
        self.recovery.is_some_and(|recovery| recovery.first != NEVER && recovery.needed == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_widens_once_a_round_and_is_the_smallest_again_after_sixteen_recoveries() {
        let mut state = Reordering::default();
        state.adapt(true, 5, 20);
        assert_eq!((state.window(400), state.multiple), (None, 1), "nothing was reordered");
        state.see(3);
        assert!(!state.is_high());
        state.see(4);
        assert!(state.is_high());
        for (una, snd_nxt) in [(5, 20), (19, 30), (20, 40)] {
            state.adapt(true, una, snd_nxt);
        }
        assert_eq!(state.window(400), Some(300));
        (0..PERSIST - 1).for_each(|_| state.end_recovery());
        assert_eq!(state.window(400), Some(300));
        state.end_recovery();
        assert_eq!(state.window(400), Some(100));
    }

    #[test]
    fn an_original_shows_that_a_recovery_was_early_and_a_repair_does_not() {
        let mut state = Reordering::default();
        assert!(!state.shows_delay(Some((0, false)), 9, 5), "no recovery");
        state.begin_recovery();
        assert!(state.shows_delay(Some((50, false)), 100, 30), "nothing was sent again");
        state.retransmitted(60);
        assert!(state.shows_delay(Some((50, false)), 100, 30));
        assert!(!state.shows_delay(Some((70, false)), 100, 30), "sent after the first repair");
        assert!(state.shows_delay(Some((80, true)), 100, 30), "the repair cannot be back yet");
        assert!(!state.shows_delay(Some((60, true)), 100, 30));
        assert!(!state.all_needless());
    }
}
