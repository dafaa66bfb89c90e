//! How a sender with SACK enters a recovery and leaves it, and its window meanwhile.

use super::profile::Profile;
use super::scoreboard::Scoreboard;
use super::sender::Sender;
use crate::cc::{CongestionEvent, Phase};
use crate::time::Picos;

/// The end of recovery, or of the repair after a timeout.
pub(super) fn leave_phase(tcp: &mut Sender) {
    if tcp.phase == Phase::Open || tcp.snd_una < tcp.recover {
        return;
    }
    if tcp.phase == Phase::Recovery && !tcp.cc.controls_cwnd() {
        tcp.window.cwnd = tcp.window.ssthresh;
    }
    tcp.phase = Phase::Open;
}

/// Ends the reduction for a mark, if `cwr_end` was acknowledged since `una`: the window is then ssthresh.
pub(super) fn leave_cwr(tcp: &mut Sender, una: u64, profile: &Profile) {
    if una < tcp.cwr_end && !tcp.in_cwr() && profile.prr && tcp.phase == Phase::Open {
        tcp.window.cwnd = tcp.window.ssthresh;
    }
}

/// RFC 6675, section 5, step 4. The window that yields to a mark goes on doing so (Linux,
/// tcp_enter_recovery).
pub(super) fn enter_recovery(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    now: Picos,
    profile: &Profile,
) {
    board.fit();
    board.probe.cancel();
    board.frto.only_new = false;
    tcp.phase = Phase::Recovery;
    if tcp.in_cwr() && profile.prr {
        tcp.recover = tcp.cwr_end - 1;
        tcp.cwr_end = 0;
        return;
    }
    if let Some(reordering) = board.reordering_mut() {
        reordering.begin_recovery();
    }
    board.prr.begin(tcp.window.cwnd as u32);
    tcp.recover = tcp.snd_max;
    tcp.reduce_ssthresh(now, CongestionEvent::Loss, profile);
    if !profile.prr && !tcp.cc.controls_cwnd() {
        tcp.window.cwnd = tcp.window.ssthresh;
    }
}

/// The window follows PRR.
pub(super) fn prr_update(tcp: &mut Sender, delivered: u32, safe: bool) {
    let Some(board) = &mut tcp.scoreboard else { return };
    let (in_flight, ssthresh) = (board.in_flight(), tcp.window.ssthresh as u32);
    tcp.window.cwnd = board.prr.window(delivered, in_flight, ssthresh, safe).into();
}
