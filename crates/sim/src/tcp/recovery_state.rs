//! What a scoreboard keeps for RACK (`rack`), the tail loss probe (`tlp`) and F-RTO (`frto`).

use super::segment::{NewlyAcked, later};
use crate::ring::Ring;
use crate::time::Picos;
use std::hint::select_unpredictable;

/// RACK's variables (RFC 8985, section 5.3).
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Rack {
    /// Of the segments delivered so far, the last to be sent: RACK.xmit_ts and RACK.end_seq.
    pub(super) newest: (Picos, u64),
    /// Its round trip: RACK.rtt.
    pub(super) rtt: Picos,
    /// Segments that were retransmitted, in that order, and when.
    pub(super) retransmissions: Ring<(Picos, u64)>,
}

impl Rack {
    /// Where that lies which only the repair of a loss asks for.
    #[cfg(test)]
    pub(super) const RETRANSMISSIONS: usize = std::mem::offset_of!(Rack, retransmissions);

    /// Calls the segments retransmitted into the cache.
    #[inline]
    pub(super) fn prefetch(&self) {
        self.retransmissions.prefetch(0);
    }

    /// Gives back room that it no longer needs.
    #[inline]
    pub(super) fn fit(&mut self) {
        self.retransmissions.fit();
    }

    pub(super) fn record_retransmission(&mut self, now: Picos, seq: u64) {
        self.retransmissions.push_back((now, seq));
    }

    /// Something has arrived that was sent no sooner than a segment that was retransmitted.
    #[inline]
    pub(super) fn reaches_retransmissions(&self) -> bool {
        self.retransmissions.front().is_some_and(|first| first.0 <= self.newest.0)
    }

    /// RFC 8985, section 6.2, step 2. What comes back faster than any round trip was sent before.
    #[inline]
    pub(super) fn advance(&mut self, now: Picos, newly_acked: &NewlyAcked, min_rtt: Picos) {
        let Some(newest) = newly_acked.newest() else { return };
        let rtt = now - newest.0;
        if !newly_acked.newest_retransmitted || rtt >= min_rtt {
            self.deliver(rtt, newest);
        }
    }

    /// `newest`, sent `rtt` ago, has arrived.
    #[inline]
    pub(super) fn deliver(&mut self, rtt: Picos, newest: (Picos, u64)) {
        self.rtt = rtt;
        let newer = later(newest, self.newest);
        self.newest.0 = select_unpredictable(newer, newest.0, self.newest.0);
        self.newest.1 = select_unpredictable(newer, newest.1, self.newest.1);
    }
}

/// A probe that is due.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TlpSegment {
    /// One new segment, whatever the window.
    New,
    /// The last segment again.
    Last,
}

/// TLP.end_seq and TLP.is_retrans of RFC 8985, section 7.1.
#[derive(Default)]
pub(super) struct Tlp {
    /// One past the highest segment sent when the probe was (low 32 bits).
    end: u32,
    is_out: bool,
    pub(super) is_retrans: bool,
    /// What `next_segment` has to send.
    pub(super) due: Option<TlpSegment>,
}

impl Tlp {
    /// No probe is out.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        !self.is_out
    }

    pub(super) fn cancel(&mut self) {
        self.is_out = false;
    }

    /// By how much `una` lies beyond the highest segment sent before the probe.
    #[inline]
    pub(super) fn beyond(&self, una: u64) -> i32 {
        (una as u32).wrapping_sub(self.end) as i32
    }

    /// The probe goes out now.
    pub(super) fn sent(&mut self, due: TlpSegment, snd_nxt: u64) {
        self.due = None;
        self.end = snd_nxt as u32;
        self.is_out = true;
        self.is_retrans = due == TlpSegment::Last;
    }
}

/// F-RTO state of a sender after a retransmission timeout.
#[derive(Default)]
pub(super) struct Frto {
    pub(super) undecided: bool,
    /// The next transmission carries new data, no repair.
    pub(super) only_new: bool,
}

impl Frto {
    /// The retransmission timer expired. Section 3.1, step 1: a timeout amid another repair is not
    /// doubted, for what was repaired arrives now; one of the same segment again is (section 3.2).
    pub(super) fn begin(&mut self, doubted: bool) {
        self.undecided = doubted;
        self.only_new = false;
    }
}
