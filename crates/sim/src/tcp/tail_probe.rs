//! The tail loss probe (RFC 8985, section 7): where two round trips pass without an ACK, one
//! segment is sent so that its ACK tells what was lost, before the retransmission timer must.

use super::profile::Profile;
use super::rack::LEAST_TIMER;
use super::scoreboard::Scoreboard;
use super::sender::{Sender, Timer};
use crate::cc::{Cause, Phase};
use crate::time::{Picos, SECOND};

/// A probe that is due.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// One new segment, whatever the window.
    New,
    /// The last segment again.
    Last,
}

/// TLP.end_seq and TLP.is_retrans of RFC 8985, section 7.1.
#[derive(Default)]
pub(super) struct TailProbe {
    /// One past the highest segment sent when the probe was; `None` when no probe is out.
    end: Option<u64>,
    resent: bool,
    /// What `next_segment` has to send.
    pub(super) due: Option<Due>,
}

impl TailProbe {
    pub(super) fn cancel(&mut self) {
        self.end = None;
    }

    /// The probe goes out now.
    pub(super) fn sent(&mut self, due: Due, snd_nxt: u64) {
        self.due = None;
        self.end = Some(snd_nxt);
        self.resent = due == Due::Last;
    }
}

/// RFC 8985, section 7.2: the probe's time, if one may be armed. Linux adds its minimum timeout
/// where a single segment is out, whose ACK may be delayed.
#[inline]
fn timeout(tcp: &Sender, board: &Scoreboard, profile: &Profile) -> Option<Picos> {
    let may = profile.tail_loss_probe && tcp.phase == Phase::Open && board.in_order();
    let grace = if board.segments.len() == 1 { profile.min_rto } else { LEAST_TIMER };
    let after = if tcp.rtt.srtt == 0 { SECOND } else { 2 * tcp.rtt.srtt + grace };
    may.then(|| after.min(tcp.rtt.rto()))
}

/// Arms the probe's timer, or else the retransmission timer.
#[inline]
pub(super) fn arm(tcp: &mut Sender, board: &Scoreboard, now: Picos, profile: &Profile) {
    match timeout(tcp, board, profile) {
        Some(after) if !board.segments.is_empty() => {
            tcp.timer = Timer::Probe;
            tcp.timer_at = now + after + tcp.pacing_delay(now);
        }
        _ => tcp.rearm_rto(board.head_sent(), now),
    }
}

/// RFC 8985, section 7.3: the timer fired.
pub(super) fn on_timer(tcp: &mut Sender, board: &mut Scoreboard, now: Picos, profile: &Profile) {
    if board.probe.end.is_some() {
        return tcp.rearm_rto(board.head_sent(), now);
    }
    let new = tcp.new_allowed(profile) > 0;
    board.probe.due = Some(if new { Due::New } else { Due::Last });
    tcp.timer = Timer::Rto;
    tcp.timer_at = now + tcp.rtt.rto();
}

/// RFC 8985, section 7.4.2: an ACK up to `next`. A probe that repaired a loss cuts the window.
#[cold]
fn conclude(tcp: &mut Sender, board: &mut Scoreboard, now: Picos, pure: bool, profile: &Profile) {
    let Some(end) = board.probe.end else { return };
    if !board.probe.resent {
        board.probe.cancel();
    } else if tcp.snd_una > end {
        board.probe.cancel();
        tcp.back_off(now, Cause::Loss, profile);
        if !tcp.cc.owns_window() {
            tcp.window.cwnd = tcp.window.ssthresh;
        }
    } else if pure {
        board.probe.cancel(); // both the original and the probe arrived
    }
}

/// An ACK arrives; `pure` where it delivers nothing new.
#[inline]
pub(super) fn on_ack(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    now: Picos,
    pure: bool,
    profile: &Profile,
) {
    if board.probe.end.is_some_and(|end| tcp.snd_una >= end) {
        conclude(tcp, board, now, pure, profile);
    }
}
