//! Recovery with SACK (RFC 6675), its sending governed by PRR (RFC 6937) where the profile says so.

use super::ack_packet::SackRun;
use super::cc_feedback::AckSummary;
use super::phases::{enter_recovery, leave_cwr, leave_phase, prr_update};
use super::profile::Profile;
use super::rack::{self, LossDetection};
use super::recovery_state::TlpSegment;
use super::scoreboard::Scoreboard;
use super::segment::NewlyAcked;
use super::sender::{Sender, Timer};
use super::sequence::unwrap_sequence;
use super::usual_ack::{fast_path_ack, one_more_sacked};
use super::{frto, reordering, tlp};
use crate::cc::{Cc, Phase};
use crate::fast::flow_kind::FlowKind;
use crate::time::Picos;

/// What an ACK reports: a number of segments that follow each other, the last of them first, and what
/// lost ACKs reported.
type Reported<'a> = (u64, u16, &'a [SackRun]);

/// An ACK arrives: up to `next`, and for what is `reported`.
#[inline(always)]
pub(super) fn on_ack<K: FlowKind>(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    reported: Reported<'_>,
    marked: bool,
    profile: &Profile,
) -> Option<Picos> {
    let unmarked = K::FAST_PATH || !(marked || tcp.in_cwr());
    let board = tcp.scoreboard.as_mut()?;
    if K::FOREIGN
        && let Cc::Foreign(cc) = &mut tcp.cc
    {
        cc.prior_in_flight = board.in_flight();
    }
    if profile.validates_window && !K::CONTROLLED_CWND {
        let flight = board.in_flight();
        board.cwnd_limited.update(tcp.window.cwnd, flight, tcp.snd_una, tcp.snd_max);
    }
    if tcp.phase == Phase::Open
        && reported.2.is_empty()
        && unmarked
        && reported.0 + 1 == next
        && let Some(sent) = board.take_in_order(next.wrapping_sub(tcp.snd_una))
    {
        return fast_path_ack::<K>(tcp, now, next, sent, profile);
    }
    if K::CONTROLLED_CWND
        && tcp.phase == Phase::Recovery
        && next == tcp.snd_una
        && reported.1 == 1
        && let Some(segment) = board.sack_first(next, reported.0)
    {
        return one_more_sacked::<K>(tcp, now, reported.0, segment, profile);
    }
    slow_path_ack::<K>(tcp, now, next, reported, marked, profile)
}

/// Any other ACK.
#[inline(never)]
fn slow_path_ack<K: FlowKind>(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    reported: Reported<'_>,
    marked: bool,
    profile: &Profile,
) -> Option<Picos> {
    let profile = K::profile(profile);
    let mut board = tcp.scoreboard.take()?;
    let una = tcp.snd_una;
    let advanced = next > una;
    let rate = board.rate::<K>(una, reported.0, now);
    let order = if K::FAST_PATH { None } else { reordering::look(&board, una, reported.0) };
    let newly_acked = take_delivery::<K>(tcp, &mut board, next.max(una), reported, !profile.rack);
    tcp.progressed |= advanced;
    let delivered = newly_acked.segments;
    if delivered > 0 {
        board.note_delivery::<K>(now);
    }
    let (rtt, last_rtt) = tcp.rtt.measure(&newly_acked, now, profile.timestamps && advanced);
    if let (Some(rtt), Some(last)) = (rtt, last_rtt) {
        tcp.rtt.sample(rtt, last, (tcp.snd_una, tcp.snd_max), profile);
    }
    if !K::FAST_PATH {
        leave_cwr(tcp, una, profile);
    }
    let held = (board.span(tcp.snd_una), board.sacked);
    let taken = (tcp.snd_una, (tcp.snd_una - una) as u32);
    let times = (now, tcp.rtt.srtt);
    board.receive_window.on_ack(&mut tcp.receive_window, times, taken, held, delivered);
    let found = detect_losses(tcp, &mut board, now, (&newly_acked, order), advanced, profile);
    set_timer::<K>(tcp, &board, now, &newly_acked, advanced, found.wait, profile);
    debug_assert!(board.counts_agree() && board.segments.len() as u64 == tcp.snd_max - tcp.snd_una);
    let progresses = advanced || (delivered > 0 && reordering::grows_by_sacks(&board));
    tcp.scoreboard = Some(board);
    let grows = progresses && tcp.phase != Phase::Recovery;
    tcp.notify_cc::<K>(now, (delivered, marked), grows, profile, || AckSummary {
        delivered,
        newly_lost: found.lost,
        last_rtt,
        rate: rate.map(|rate| rate.and(delivered)),
        marked,
    });
    let reduces = tcp.phase == Phase::Recovery || (!K::FAST_PATH && tcp.in_cwr());
    if reduces && delivered > 0 && profile.prr && !tcp.cc.controls_cwnd() {
        prr_update(tcp, delivered, advanced && found.lost == 0);
    }
    rtt
}

/// What an ACK means while something is missing, or may be.
#[inline(always)]
fn detect_losses(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    now: Picos,
    (newly_acked, order): (&NewlyAcked, Option<reordering::Found>),
    advanced: bool,
    profile: &Profile,
) -> LossDetection {
    tlp::on_ack(tcp, board, now, newly_acked.segments == 0, profile);
    frto::on_ack(tcp, board, newly_acked, advanced, profile);
    let holds = order
        .is_some_and(|order| reordering::on_ack(tcp, board, now, newly_acked, order, advanced));
    leave_phase(tcp);
    let mut found = LossDetection::default();
    if holds {
        return found;
    }
    if !profile.rack {
        found.lost = board.mark_lost_by_dupthresh(tcp.snd_una);
    } else if newly_acked.segments > 0 {
        board.rack.advance(now, newly_acked, tcp.rtt.min_rtt);
        found = rack::detect(tcp, board, now);
    }
    let loses = match tcp.phase {
        Phase::Open => board.lost > 0,
        Phase::Loss => found.retransmission_lost,
        Phase::Recovery => false,
    };
    if loses {
        enter_recovery(tcp, board, now, profile);
    }
    if !profile.rack && tcp.phase == Phase::Recovery {
        take_unsacked_as_lost(tcp, board, profile);
    }
    found
}

/// RFC 6675's NextSeg, rules 3 and 4: where nothing is known to be lost and nothing new may go, the next segment below
/// the highest that was SACKed goes again; and once in each recovery the last one, of which no SACK would tell.
#[inline(never)]
fn take_unsacked_as_lost(tcp: &Sender, board: &mut Scoreboard, profile: &Profile) {
    let room = board.in_flight() < tcp.window.cwnd as u32;
    if !room || board.lost > board.retrans_out || tcp.new_allowed(profile) > 0 {
        return;
    }
    let una = tcp.snd_una;
    if let Some(seq) = board.first_unsacked(una) {
        board.mark_lost(una, seq);
    } else if board.last_is_unsacked() && board.rescues(una, tcp.recover) {
        board.mark_lost(una, tcp.snd_max - 1);
    }
}

/// Takes what an ACK reports: everything below `next`, and what lies beyond of what is `reported`.
#[inline(always)]
fn take_delivery<K: FlowKind>(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    next: u64,
    (sacked_last, run, lost): Reported<'_>,
    ranks: bool,
) -> NewlyAcked {
    let mut newly_acked = NewlyAcked::none();
    if next > tcp.snd_una {
        board.acknowledge::<K>(tcp.snd_una, next, &mut newly_acked);
        tcp.snd_una = next;
    }
    for run in lost {
        let run = (unwrap_sequence(next, run.last), run.count);
        take_run(board, next, run, &mut newly_acked, ranks);
    }
    take_run(board, next, (sacked_last, run), &mut newly_acked, ranks);
    newly_acked
}

/// Takes what lies from `next` on of the `count` segments up to `last`.
#[inline(always)]
fn take_run(
    board: &mut Scoreboard,
    next: u64,
    (last, count): (u64, u16),
    newly_acked: &mut NewlyAcked,
    ranks: bool,
) {
    let mut seq = (last + 1).saturating_sub(count.into()).max(next);
    while seq <= last {
        board.sack(next, seq, newly_acked, ranks);
        seq += 1;
    }
}

/// Segments that may go now: the window less the pipe, as far as there is something to send.
#[inline]
pub(super) fn sendable_segments(tcp: &Sender, board: &Scoreboard, profile: &Profile) -> u64 {
    let due = u64::from(board.probe.due.is_some());
    let room = (tcp.window.cwnd as u32).saturating_sub(board.in_flight());
    if room == 0 {
        return due;
    }
    let repairs = if board.frto.only_new { 0 } else { board.lost - board.retrans_out };
    u64::from(room).min(u64::from(repairs) + tcp.new_allowed(profile)).max(due)
}

/// The next of the segments that `sendable_segments` lets go: RFC 6675's NextSeg, rules 1 and 2.
#[inline(always)]
pub(super) fn next_segment<K: FlowKind>(tcp: &mut Sender, now: Picos) -> u64 {
    match &mut tcp.scoreboard {
        Some(board) if board.lost == board.retrans_out && board.probe.due.is_none() => {
            board.prr.sent(1);
            board.send::<K>(tcp.snd_una, now);
            next_new(tcp)
        }
        _ => next_repair::<K>(tcp, now),
    }
}

/// The next `count` of them at once, where all are new: the first. `None` where one was sent before.
#[inline(always)]
pub(super) fn next_segments<K: FlowKind>(tcp: &mut Sender, now: Picos, count: u32) -> Option<u64> {
    let board = tcp.scoreboard.as_mut()?;
    if board.lost != board.retrans_out || board.probe.due.is_some() {
        return None;
    }
    board.prr.sent(count);
    board.send_burst::<K>(tcp.snd_una, now, count);
    let first = tcp.snd_nxt;
    tcp.snd_nxt += u64::from(count);
    tcp.snd_max = tcp.snd_nxt;
    Some(first)
}

#[inline(always)]
fn next_new(tcp: &mut Sender) -> u64 {
    let seq = tcp.snd_nxt;
    tcp.snd_nxt += 1;
    tcp.snd_max = tcp.snd_nxt;
    seq
}

/// Something is to be retransmitted, or to be probed.
#[inline(never)]
fn next_repair<K: FlowKind>(tcp: &mut Sender, now: Picos) -> u64 {
    let board = tcp.scoreboard.as_mut().expect("a sender with SACK has a scoreboard");
    if let Some(due) = board.probe.due {
        let new = u64::from(due == TlpSegment::New);
        board.probe.sent(due, tcp.snd_nxt + new);
        if due == TlpSegment::Last {
            board.resend_last(now);
            tcp.retransmissions += 1;
            return tcp.snd_nxt - 1;
        }
    }
    board.prr.sent(1);
    let lost = if board.frto.only_new { None } else { board.next_lost(tcp.snd_una) };
    if let Some(seq) = lost {
        board.retransmit::<K>(tcp.snd_una, seq, now);
        board.rack.record_retransmission(now, seq);
        tcp.retransmissions += 1;
        // The first segment's new chance begins now.
        if seq == tcp.snd_una && tcp.timer == Timer::Rto {
            tcp.timer_at = now + tcp.rtt.rto() + tcp.pacing_delay::<K>(now);
        }
        return seq;
    }
    board.send::<K>(tcp.snd_una, now);
    next_new(tcp)
}

/// Which timer runs after an ACK. An ACK that takes nothing off moves the retransmission timer only
/// where the first segment was sent after what the ACK tells of: else a silent first segment could
/// put its timeout off for ever.
#[inline]
fn set_timer<K: FlowKind>(
    tcp: &mut Sender,
    board: &Scoreboard,
    now: Picos,
    newly_acked: &NewlyAcked,
    advanced: bool,
    wait: Picos,
    profile: &Profile,
) {
    if wait > 0 {
        rack::wait(tcp, now, wait);
    } else if advanced || overtaken(board, newly_acked) {
        tlp::arm::<K>(tcp, board, now, profile);
    }
}

fn overtaken(board: &Scoreboard, newly_acked: &NewlyAcked) -> bool {
    let (Some(head), Some((once, _))) =
        (board.head_sent(), newly_acked.first_never_retransmitted())
    else {
        return false;
    };
    head > once
}

/// The reordering timer fired.
pub(super) fn on_reordering_timer(tcp: &mut Sender, now: Picos, profile: &Profile) {
    let Some(mut board) = tcp.scoreboard.take() else { return };
    let lost = rack::on_timer(tcp, &mut board, now);
    let enters = lost && tcp.phase != Phase::Recovery;
    if enters {
        enter_recovery(tcp, &mut board, now, profile);
    }
    tcp.scoreboard = Some(board);
    if enters && profile.prr && !tcp.cc.controls_cwnd() {
        prr_update(tcp, 1, false);
    }
}

/// The probe's timer fired.
pub(super) fn on_probe_timer(tcp: &mut Sender, now: Picos, profile: &Profile) {
    let Some(mut board) = tcp.scoreboard.take() else { return };
    tlp::on_timer(tcp, &mut board, now, profile);
    board.pacing_exempt = board.probe.due == Some(TlpSegment::Last);
    tcp.scoreboard = Some(board);
}

/// The retransmission timer fired; `doubted` where that may turn out to be spurious.
pub(super) fn on_timeout(tcp: &mut Sender, now: Picos, doubted: bool, profile: &Profile) {
    let Some(mut board) = tcp.scoreboard.take() else { return };
    board.probe.cancel();
    board.frto.begin(doubted);
    board.pacing_exempt = true;
    rack::mark_all_lost(tcp, &mut board, now, profile);
    tcp.window.cwnd = f64::from(board.in_flight() + 1);
    tcp.scoreboard = Some(board);
}

#[cfg(test)]
mod tests;
