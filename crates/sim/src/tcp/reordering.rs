//! Packets that overtake each other: what a sender with RACK learns of them (RFC 8985, section 6.2, steps 3 and 4),
//! and how it takes back the reduction of a recovery that repaired nothing (Linux, tcp_try_undo_partial,
//! tcp_try_undo_recovery and tcp_try_undo_dsack). Only flows over a link that reorders keep what this needs.

use super::reordering_state::Reordering;
use super::scoreboard::Scoreboard;
use super::segment::{EVER_RETRANS, NewlyAcked};
use super::sender::Sender;
use crate::cc::Phase;
use crate::time::Picos;

/// What an ACK finds, before the scoreboard takes it in.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// RACK.fack: one past the highest segment known to have arrived.
    fack: u64,
    /// The first that was missing.
    una: u64,
    /// When the segment was last sent that the receiver answers, and whether more than once; `None` where it is not outstanding.
    trigger: Option<(Picos, bool)>,
}

/// Looks at an ACK of segment `seq`, and all below `una` before it; `None` where reordering is not learned of.
pub(super) fn look(board: &Scoreboard, una: u64, seq: u64) -> Option<Found> {
    board.reordering()?;
    let segment = seq.checked_sub(una).and_then(|index| board.segments.get(index as usize));
    let trigger = segment.map(|segment| (segment.sent(), segment.is(EVER_RETRANS)));
    Some(Found { fack: una + u64::from(board.span(una)), una, trigger })
}

/// The scoreboard has taken an ACK in. Gives whether nothing is to be judged lost now: what was missing has come by
/// itself, and what was retransmitted is still on its way (Linux, tcp_try_undo_partial).
pub(super) fn on_ack(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    now: Picos,
    newly_acked: &NewlyAcked,
    found: Found,
    advanced: bool,
) -> bool {
    let Some(mut state) = board.take_reordering() else { return false };
    let late = newly_acked.first_never_retransmitted().filter(|&(_, seq)| seq + 1 < found.fack);
    late.into_iter().for_each(|(_, seq)| state.see(found.fack - seq));
    let dsack = std::mem::take(&mut state.dsack);
    state.adapt(dsack, tcp.snd_una, tcp.snd_nxt);
    if let Some(recovery) = state.recovery.as_mut().filter(|_| dsack) {
        recovery.needed = recovery.needed.saturating_sub(1);
    }
    let holds = match tcp.phase {
        Phase::Recovery => {
            let delayed = advanced && state.shows_delay(found.trigger, now, tcp.rtt.min_rtt);
            delayed.then(|| state.see(found.fack - found.una));
            in_recovery(tcp, board, &mut state, delayed)
        }
        Phase::Open => undo_if_needless(tcp, &mut state),
        Phase::Loss => false,
    };
    board.keep_reordering(state);
    holds
}

/// Whether the window grows with what is SACKed too.
pub(super) fn grows_by_sacks(board: &Scoreboard) -> bool {
    board.reordering().is_some_and(|state| state.is_high())
}

fn in_recovery(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    state: &mut Reordering,
    delayed: bool,
) -> bool {
    let ends = tcp.snd_una >= tcp.recover;
    if delayed && !ends && board.retrans_out > 0 {
        return true;
    }
    if delayed {
        undo(tcp, state);
        if !ends {
            board.undo_lost_marks();
        }
    } else if !undo_if_needless(tcp, state) && ends {
        state.end_recovery();
    }
    false
}

/// Takes the reduction back if DSACKs have shown every retransmission to be needless. Gives false: what may be lost is
/// to be judged all the same, with the wider window.
fn undo_if_needless(tcp: &mut Sender, state: &mut Reordering) -> bool {
    if state.all_needless() {
        state.seen = true;
        undo(tcp, state);
    }
    false
}

fn undo(tcp: &mut Sender, state: &mut Reordering) {
    state.recovery = None;
    tcp.undo_reduction();
}
