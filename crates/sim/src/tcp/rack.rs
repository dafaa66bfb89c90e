//! Loss judged by time (RFC 8985, section 6), with Linux's reordering window: none once recovery
//! has begun or three segments are SACKed, else a quarter of the least round trip. Where a link of the route reorders,
//! `reordering` has what the sender learns of it.

use super::highest_sacked::DUP_THRESH;
use super::profile::Profile;
use super::scoreboard::Scoreboard;
use super::segment::{LOST, RETRANS, SACKED, later};
use super::sender::{Sender, Timer};
use crate::cc::Phase;
use crate::fast::flow_kind::GeneralKind;
use crate::time::{MILLISECOND, Picos};
use std::hint::select_unpredictable;

/// The kernel's least time for a timer (TCP_TIMEOUT_MIN_US).
pub(super) const MIN_TIMEOUT: Picos = 2 * MILLISECOND;

/// What a look at the scoreboard found.
#[derive(Clone, Copy, Default)]
pub(super) struct LossDetection {
    /// Segments newly judged lost, those lost again included.
    pub(super) lost: u32,
    /// Some of them had been retransmitted.
    pub(super) retransmission_lost: bool,
    /// So long the others may yet arrive; 0 where there are none.
    pub(super) wait: Picos,
}

/// RFC 8985, section 6.2, step 5.
#[inline(always)]
pub(super) fn detect(tcp: &Sender, board: &mut Scoreboard, now: Picos) -> LossDetection {
    let mut found = LossDetection::default();
    if !board.in_order() {
        // What was sent before this counts as lost.
        let reo_timeout = board.rack.rtt + reordering_window(tcp, board);
        detect_lost_originals(board, tcp.snd_una, now, reo_timeout, &mut found);
        if board.rack.reaches_retransmissions() {
            let (lost, wait) = detect_lost_retransmissions(board, tcp.snd_una, now, reo_timeout);
            found.lost += lost;
            found.retransmission_lost = lost > 0;
            found.wait = found.wait.max(wait);
        }
    }
    found
}

/// Judges what is lost, in recovery, where there is no reordering window. Called when segment `seq` has been SACKed,
/// which was sent at `sent`, and if `once` never retransmitted. Returns what was found. If it was the first that was not judged, and no other was sent later, none is lost: those beyond it were
/// sent after it.
#[inline(always)]
pub(super) fn detect_in_recovery(
    board: &mut Scoreboard,
    una: u64,
    (seq, sent, once): (u64, Picos, bool),
    min_rtt: Picos,
    now: Picos,
) -> LossDetection {
    let rtt = now - sent;
    if once || rtt >= min_rtt {
        board.rack.deliver(rtt, (sent, seq));
    }
    let (mut found, reo_timeout) = (LossDetection::default(), board.rack.rtt);
    if once && seq == board.loss_marked_to && seq == board.rack.newest.1 {
        board.loss_marked_to = seq + 1;
    } else {
        detect_lost_originals(board, una, now, reo_timeout, &mut found);
    }
    if board.rack.reaches_retransmissions() {
        let (lost, wait) = detect_lost_retransmissions(board, una, now, reo_timeout);
        found.lost += lost;
        found.wait = found.wait.max(wait);
    }
    found
}

/// RFC 8985, section 6.2, step 4 (RACK_update_reo_wnd).
#[inline]
fn reordering_window(tcp: &Sender, board: &Scoreboard) -> Picos {
    let learned = board.reordering().and_then(|state| state.window(tcp.rtt.min_rtt));
    if let Some(window) = learned {
        return window.min(tcp.rtt.srtt);
    }
    // Chosen without a branch: a processor cannot guess how far a repair has come.
    let waits = select_unpredictable(tcp.phase == Phase::Open, tcp.rtt.min_rtt / 4, 0);
    let waits = waits.min(tcp.rtt.srtt);
    select_unpredictable(board.sacked < DUP_THRESH as u32, waits, 0)
}

/// Segments sent but once lie in the order of their sending.
#[inline(always)]
fn detect_lost_originals(
    board: &mut Scoreboard,
    una: u64,
    now: Picos,
    reo_timeout: Picos,
    found: &mut LossDetection,
) {
    let mut loss_marked_to = board.loss_marked_to.max(una);
    let mut seq = loss_marked_to;
    while let Some(&segment) = board.segments.get((seq - una) as usize) {
        let mut settled = seq == loss_marked_to;
        if !segment.is(SACKED | LOST) {
            if !later(board.rack.newest, (segment.sent(), seq)) {
                break;
            }
            let left = (segment.sent() + reo_timeout).saturating_sub(now);
            if left == 0 {
                board.mark_lost(una, seq);
                found.lost += 1;
            } else {
                found.wait = found.wait.max(left);
                settled = false;
            }
        }
        seq += 1;
        if settled {
            loss_marked_to = seq;
        }
    }
    board.loss_marked_to = loss_marked_to;
}

/// How many are lost again, and how long the next may yet take.
#[inline(never)]
fn detect_lost_retransmissions(
    board: &mut Scoreboard,
    una: u64,
    now: Picos,
    reo_timeout: Picos,
) -> (u32, Picos) {
    let mut lost = 0;
    while let Some(&(sent, seq)) = board.rack.retransmissions.front() {
        let segment = seq.checked_sub(una).and_then(|index| board.segments.get(index as usize));
        let on_its_way = segment.is_some_and(|seg| seg.is(RETRANS) && seg.sent() == sent);
        if on_its_way {
            if !later(board.rack.newest, (sent, seq)) {
                break;
            }
            let left = (sent + reo_timeout).saturating_sub(now);
            if left > 0 {
                return (lost, left);
            }
            board.mark_retransmission_lost(una, seq);
            lost += 1;
        }
        board.rack.retransmissions.pop_front();
    }
    (lost, 0)
}

/// The reordering timer (RFC 8985, section 6.3) fired. Gives whether that showed a loss.
pub(super) fn on_timer(tcp: &mut Sender, board: &mut Scoreboard, now: Picos) -> bool {
    let found = detect(tcp, board, now);
    tcp.rearm_rto::<GeneralKind>(board.head_sent(), now);
    found.lost > 0
}

/// Arms the reordering timer.
pub(super) fn wait(tcp: &mut Sender, now: Picos, left: Picos) {
    tcp.timer = Timer::Reordering;
    tcp.timer_at = now + left + MIN_TIMEOUT;
}

/// After a timeout: segments sent within the last round trip may yet arrive.
pub(super) fn mark_all_lost(tcp: &Sender, board: &mut Scoreboard, now: Picos, profile: &Profile) {
    let round_trip = if profile.rack { board.rack.rtt } else { 0 };
    board.mark_all_lost(tcp.snd_una, |segment| now - segment.sent() < round_trip);
}
