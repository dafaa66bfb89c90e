//! F-RTO with SACK (RFC 5682, section 3): was the timeout spurious? After it the sender repeats one
//! segment, then tries new data; what was sent but once and yet arrives shows that it was.

use super::delivery::Delivery;
use super::profile::Profile;
use super::scoreboard::Scoreboard;
use super::sender::Sender;
use crate::cc::Phase;

/// See the module's page.
#[derive(Default)]
pub(super) struct ForwardRto {
    undecided: bool,
    /// The next transmission carries new data, no repair.
    pub(super) only_new: bool,
}

impl ForwardRto {
    /// The retransmission timer expired. Section 3.1, step 1: a timeout amid another repair is not
    /// doubted, for what was repaired arrives now; one of the same segment again is (section 3.2).
    pub(super) fn begin(&mut self, doubted: bool) {
        self.undecided = doubted;
        self.only_new = false;
    }
}

/// An ACK arrives.
#[inline]
pub(super) fn on_ack(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    delivery: &Delivery,
    advanced: bool,
    profile: &Profile,
) {
    board.forward.only_new = false;
    if tcp.phase == Phase::Loss && board.forward.undecided {
        decide(tcp, board, delivery, advanced, profile);
    }
}

#[cold]
fn decide(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    delivery: &Delivery,
    advanced: bool,
    profile: &Profile,
) {
    if delivery.first_once().is_some_and(|(_, seq)| seq < tcp.recover) {
        return undo(tcp, board);
    }
    if tcp.snd_nxt > tcp.recover {
        // Step 3.a: new data has been sent; anything but progress shows that the loss was real.
        board.forward.undecided =
            advanced && delivery.newest().is_none_or(|(_, seq)| seq < tcp.snd_una);
    } else if advanced {
        // Step 2.b
        let has_new = tcp.new_allowed(profile) > 0;
        tcp.recover = tcp.snd_nxt;
        board.forward.undecided = has_new;
        board.forward.only_new = has_new;
    }
}

/// Step 3.b: everything was on its way.
fn undo(tcp: &mut Sender, board: &mut Scoreboard) {
    let (cwnd, ssthresh) = tcp.before_cut;
    board.forward.undecided = false;
    board.absolve();
    tcp.phase = Phase::Open;
    if !tcp.cc.owns_window() {
        tcp.window.cwnd = tcp.window.cwnd.max(cwnd);
        tcp.window.ssthresh = tcp.window.ssthresh.max(ssthresh);
    }
}
