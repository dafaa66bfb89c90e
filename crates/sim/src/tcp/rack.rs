//! Loss judged by time (RFC 8985, section 6), with Linux's reordering window: none once recovery
//! has begun or three segments are SACKed, else a quarter of the least round trip.
//!
//! Our networks deliver in order, so the parts of section 6.2 that learn from reordering have
//! nothing to learn and are left out.

use super::profile::Profile;
use super::scoreboard::{DUP_THRESH, Delivery, LOST, RESENT, SACKED, Scoreboard};
use super::sender::{Sender, Timer};
use crate::cc::Phase;
use crate::time::{MILLISECOND, Picos};
use std::collections::VecDeque;

/// The kernel's least time for a timer (TCP_TIMEOUT_MIN_US).
pub(super) const LEAST_TIMER: Picos = 2 * MILLISECOND;

/// RACK's variables (RFC 8985, section 5.3).
#[derive(Default)]
pub(super) struct Rack {
    /// Of the segments delivered so far, the last to be sent: RACK.xmit_ts and RACK.end_seq.
    newest: (Picos, u64),
    /// Its round trip: RACK.rtt.
    rtt: Picos,
    /// Segments that were sent again, in that order, and when.
    resends: VecDeque<(Picos, u64)>,
}

/// What a look at the scoreboard found.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    /// Segments newly judged lost, those lost again included.
    pub(super) lost: u64,
    /// Some of them had been sent again.
    pub(super) again: bool,
    /// Until then the others may yet arrive.
    pub(super) wait: Option<Picos>,
}

impl Rack {
    pub(super) fn sent_again(&mut self, now: Picos, seq: u64) {
        self.resends.push_back((now, seq));
    }

    /// RFC 8985, section 6.2, step 2. What comes back faster than any round trip was sent before.
    #[inline]
    pub(super) fn advance(&mut self, now: Picos, delivery: &Delivery, min_rtt: Picos) {
        let Some(newest) = delivery.newest else { return };
        let rtt = now - newest.0;
        if delivery.newest_twice && rtt < min_rtt {
            return;
        }
        self.rtt = rtt;
        self.newest = self.newest.max(newest);
    }

    /// A segment sent at `sent` cannot count as lost for so long yet.
    #[inline]
    fn remaining(&self, sent: Picos, now: Picos, window: Picos) -> Option<Picos> {
        (self.rtt + window).checked_sub(now - sent).filter(|&left| left > 0)
    }
}

/// RFC 8985, section 6.2, step 5.
#[inline]
pub(super) fn detect(tcp: &Sender, board: &mut Scoreboard, now: Picos) -> Found {
    if board.in_order() {
        return Found::default();
    }
    let window = reordering_window(tcp, board);
    let mut found = Found::default();
    judge_originals(board, tcp.snd_una, now, window, &mut found);
    judge_resends(board, tcp.snd_una, now, window, &mut found);
    found
}

/// RFC 8985, section 6.2, step 4 (RACK_update_reo_wnd).
fn reordering_window(tcp: &Sender, board: &Scoreboard) -> Picos {
    if tcp.phase != Phase::Open || board.sacked >= DUP_THRESH as u64 {
        0
    } else {
        (tcp.rtt.min_rtt / 4).min(tcp.rtt.srtt)
    }
}

/// Segments sent but once lie in the order of their sending.
fn judge_originals(board: &mut Scoreboard, una: u64, now: Picos, window: Picos, found: &mut Found) {
    let end = una + board.segments.len() as u64;
    let mut settled = true;
    for seq in board.judged.max(una)..end {
        let segment = board.segments[(seq - una) as usize];
        if !segment.is(SACKED | LOST) {
            if (segment.sent(), seq) >= board.rack.newest {
                break;
            }
            if let Some(left) = board.rack.remaining(segment.sent(), now, window) {
                found.wait = found.wait.max(Some(left));
                settled = false;
                continue;
            }
            board.mark_lost(una, seq);
            found.lost += 1;
        }
        if settled {
            board.judged = seq + 1;
        }
    }
}

fn judge_resends(board: &mut Scoreboard, una: u64, now: Picos, window: Picos, found: &mut Found) {
    while let Some(&(sent, seq)) = board.rack.resends.front() {
        let segment = seq.checked_sub(una).and_then(|index| board.segments.get(index as usize));
        let on_its_way = segment.is_some_and(|seg| seg.is(RESENT) && seg.sent() == sent);
        if on_its_way {
            if (sent, seq) >= board.rack.newest {
                break;
            }
            if let Some(left) = board.rack.remaining(sent, now, window) {
                found.wait = found.wait.max(Some(left));
                break;
            }
            board.mark_lost_again(una, seq);
            found.lost += 1;
            found.again = true;
        }
        board.rack.resends.pop_front();
    }
}

/// The reordering timer (RFC 8985, section 6.3) fired. Gives whether that showed a loss.
pub(super) fn on_timer(tcp: &mut Sender, board: &mut Scoreboard, now: Picos) -> bool {
    let found = detect(tcp, board, now);
    tcp.rearm_rto(board.head_sent(), now);
    found.lost > 0
}

/// Arms the reordering timer.
pub(super) fn wait(tcp: &mut Sender, now: Picos, left: Picos) {
    tcp.timer = Timer::Reordering;
    tcp.timer_at = now + left + LEAST_TIMER;
}

/// After a timeout: segments sent within the last round trip may yet arrive.
pub(super) fn give_up(tcp: &Sender, board: &mut Scoreboard, now: Picos, profile: &Profile) {
    let round_trip = if profile.rack { board.rack.rtt } else { 0 };
    board.give_up(tcp.snd_una, |segment| now - segment.sent() < round_trip);
}
