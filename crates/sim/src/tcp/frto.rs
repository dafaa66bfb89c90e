//! F-RTO with SACK (RFC 5682, section 3): was the timeout spurious? After it the sender repeats one
//! segment, then tries new data; what was sent but once and yet arrives shows that it was.

use super::profile::Profile;
use super::scoreboard::Scoreboard;
use super::segment::NewlyAcked;
use super::sender::Sender;
use crate::cc::Phase;

/// An ACK arrives.
#[inline]
pub(super) fn on_ack(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    newly_acked: &NewlyAcked,
    advanced: bool,
    profile: &Profile,
) {
    board.frto.only_new = false;
    if tcp.phase == Phase::Loss && board.frto.undecided {
        decide(tcp, board, *newly_acked, advanced, profile);
    }
}

/// What it needs is copied to it: what others only refer to would have to lie in memory for every ACK.
#[cold]
fn decide(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    newly_acked: NewlyAcked,
    advanced: bool,
    profile: &Profile,
) {
    if newly_acked.first_never_retransmitted().is_some_and(|(_, seq)| seq < tcp.recover) {
        return undo(tcp, board);
    }
    if tcp.snd_nxt > tcp.recover {
        // Step 3.a: new data has been sent; anything but progress shows that the loss was real.
        board.frto.undecided =
            advanced && newly_acked.newest().is_none_or(|(_, seq)| seq < tcp.snd_una);
    } else if advanced {
        // Step 2.b
        let has_new = tcp.new_allowed(profile) > 0;
        tcp.recover = tcp.snd_nxt;
        board.frto.undecided = has_new;
        board.frto.only_new = has_new;
    }
}

/// Step 3.b: everything was on its way.
fn undo(tcp: &mut Sender, board: &mut Scoreboard) {
    board.frto.undecided = false;
    board.undo_lost_marks();
    tcp.undo_reduction();
}
