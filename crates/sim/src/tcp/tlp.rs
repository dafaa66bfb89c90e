//! The tail loss probe (RFC 8985, section 7): where two round trips pass without an ACK, one
//! segment is sent so that its ACK tells what was lost, before the retransmission timer must.

use super::profile::Profile;
use super::rack::MIN_TIMEOUT;
use super::recovery_state::TlpSegment;
use super::scoreboard::Scoreboard;
use super::sender::{Sender, Timer};
use crate::cc::{CongestionEvent, Phase};
use crate::fast::flow_kind::{FlowKind, GeneralKind};
use crate::time::{Picos, SECOND};

/// RFC 8985, section 7.2: the probe's time. Linux adds its minimum timeout where a single segment
/// is out, whose ACK may be delayed.
#[inline]
fn timeout(tcp: &Sender, out: usize, profile: &Profile) -> Picos {
    let grace = if out == 1 { profile.min_rto } else { MIN_TIMEOUT };
    let after = if tcp.rtt.srtt == 0 { SECOND } else { 2 * tcp.rtt.srtt + grace };
    after.min(tcp.rtt.rto())
}

/// Arms the probe's timer where nothing is missing, or else the retransmission timer.
#[inline]
pub(super) fn arm<K: FlowKind>(
    tcp: &mut Sender,
    board: &Scoreboard,
    now: Picos,
    profile: &Profile,
) {
    if tcp.phase == Phase::Open && board.in_order() {
        arm_in_order::<K>(tcp, board.segments.len(), board.head_sent(), now, profile);
    } else {
        tcp.rearm_rto::<K>(board.head_sent(), now);
    }
}

/// Arms the probe's timer where nothing is missing of `out` outstanding segments, the first of them sent at `head_sent`;
/// without segments or probes the retransmission timer.
#[inline(always)]
pub(super) fn arm_in_order<K: FlowKind>(
    tcp: &mut Sender,
    out: usize,
    head_sent: Option<Picos>,
    now: Picos,
    profile: &Profile,
) {
    if profile.tail_loss_probe && out > 0 {
        tcp.timer = Timer::Probe;
        tcp.timer_at = now + timeout(tcp, out, profile) + tcp.pacing_delay::<K>(now);
    } else {
        tcp.rearm_rto::<K>(head_sent, now);
    }
}

/// RFC 8985, section 7.3: the timer fired.
pub(super) fn on_timer(tcp: &mut Sender, board: &mut Scoreboard, now: Picos, profile: &Profile) {
    if !board.probe.is_idle() {
        return tcp.rearm_rto::<GeneralKind>(board.head_sent(), now);
    }
    let new = tcp.new_allowed(profile) > 0;
    board.probe.due = Some(if new { TlpSegment::New } else { TlpSegment::Last });
    tcp.timer = Timer::Rto;
    tcp.timer_at = now + tcp.rtt.rto();
}

/// RFC 8985, section 7.4.2: an ACK up to `next`. A probe that repaired a loss reduces the window.
#[cold]
fn process_tlp_ack(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    now: Picos,
    pure: bool,
    profile: &Profile,
) {
    if !board.probe.is_retrans {
        board.probe.cancel();
    } else if board.probe.beyond(tcp.snd_una) > 0 {
        board.probe.cancel();
        tcp.reduce_ssthresh(now, CongestionEvent::Loss, profile);
        if !tcp.cc.controls_cwnd() {
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
    if !board.probe.is_idle() && board.probe.beyond(tcp.snd_una) >= 0 {
        process_tlp_ack(tcp, board, now, pure, profile);
    }
}
