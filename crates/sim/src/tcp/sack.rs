//! Recovery with SACK (RFC 6675), its sending governed by PRR (RFC 6937) where the profile says so.

use super::delivery::Delivery;
use super::profile::Profile;
use super::rack::{self, Found};
use super::receiver::SackRun;
use super::scoreboard::Scoreboard;
use super::sender::{Sender, Timer, unwrap_sequence};
use super::tail_probe::Due;
use super::telling::News;
use super::{forward_rto, tail_probe};
use crate::cc::{Cause, Phase};
use crate::time::Picos;
use crate::way::Way;

/// What an ACK reports: a number of segments that follow each other, the last of them first, and what
/// lost ACKs reported.
type Reported<'a> = (u64, u16, &'a [SackRun]);

/// An ACK arrives: up to `next`, and for what is `reported`.
#[inline(always)]
pub(super) fn on_ack<W: Way>(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    reported: Reported<'_>,
    marked: bool,
    profile: &Profile,
) -> Option<Picos> {
    let unmarked = W::SIMPLE || !(marked || tcp.yields());
    let board = tcp.scoreboard.as_mut()?;
    if profile.validates_window {
        let flight = board.in_flight();
        board.usage.note(tcp.window.cwnd, flight, tcp.snd_una, tcp.snd_max);
    }
    if tcp.phase == Phase::Open
        && reported.2.is_empty()
        && unmarked
        && reported.0 + 1 == next
        && let Some(sent) = board.take_calm(next.wrapping_sub(tcp.snd_una))
    {
        return on_calm_ack::<W>(tcp, now, next, sent, profile);
    }
    on_eventful_ack::<W>(tcp, now, next, reported, marked, profile)
}

/// The usual ACK: nothing is missing, nothing was sent twice, and the oldest one or two segments
/// have arrived, sent at `first` and `last`. Does what `on_eventful_ack` would, less what could
/// only find that there is nothing to do.
#[inline(always)]
fn on_calm_ack<W: Way>(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    (first, last): (Picos, Picos),
    profile: &Profile,
) -> Option<Picos> {
    let delivered = (next - tcp.snd_una) as u32;
    let (rtt, last_rtt) = (now - first, now - last);
    tcp.snd_una = next;
    tcp.rtt.sample(rtt, last_rtt, (next, tcp.snd_max), profile);
    let board = tcp.scoreboard.as_mut()?;
    let rate = board.rate_calm::<W>(next, delivered, last, now);
    let (offered, times) = (&mut tcp.receive_window, (now, tcp.rtt.srtt));
    board.receive_window.on_ack(offered, times, (next, delivered), (0, 0), delivered);
    board.rack.deliver(last_rtt, (last, next - 1));
    let (out, head_sent) = (board.segments.len(), board.head_sent());
    tail_probe::arm_calm::<W>(tcp, out, head_sent, now, profile);
    tcp.tell::<W>(now, (delivered, false), true, profile, || News {
        delivered,
        last_rtt: Some(last_rtt),
        rate,
        ..News::default()
    });
    Some(rtt)
}

/// Any other ACK.
#[inline(never)]
fn on_eventful_ack<W: Way>(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    reported: Reported<'_>,
    marked: bool,
    profile: &Profile,
) -> Option<Picos> {
    let profile = W::profile(profile);
    let mut board = tcp.scoreboard.take()?;
    let una = tcp.snd_una;
    let advanced = next > una;
    let rated = board.rates::<W>().is_some();
    let rate = if rated { board.rate(una, reported.0, now) } else { None };
    let delivery = take_delivery::<W>(tcp, &mut board, next.max(una), reported);
    tcp.progressed |= advanced;
    let delivered = delivery.segments;
    if delivered > 0 {
        board.note_delivery::<W>(now);
    }
    let (rtt, last_rtt) = tcp.rtt.measure(&delivery, now, profile.timestamps && advanced);
    if let (Some(rtt), Some(last)) = (rtt, last_rtt) {
        tcp.rtt.sample(rtt, last, (tcp.snd_una, tcp.snd_max), profile);
    }
    if !W::SIMPLE {
        stop_yielding(tcp, una, profile);
    }
    let held = (board.span(tcp.snd_una), board.sacked);
    let taken = (tcp.snd_una, (tcp.snd_una - una) as u32);
    let times = (now, tcp.rtt.srtt);
    board.receive_window.on_ack(&mut tcp.receive_window, times, taken, held, delivered);
    let found = repair(tcp, &mut board, now, &delivery, advanced, profile);
    set_timer::<W>(tcp, &board, now, &delivery, advanced, found.wait, profile);
    debug_assert!(board.counts_agree() && board.segments.len() as u64 == tcp.snd_max - tcp.snd_una);
    tcp.scoreboard = Some(board);
    let grows = advanced && tcp.phase != Phase::Recovery;
    tcp.tell::<W>(now, (delivered, marked), grows, profile, || News {
        delivered,
        newly_lost: found.lost,
        last_rtt,
        rate: rate.map(|rate| rate.and(delivered)),
        marked,
    });
    let reduces = tcp.phase == Phase::Recovery || (!W::SIMPLE && tcp.yields());
    if reduces && delivered > 0 && profile.prr && !tcp.cc.owns_window() {
        reduce(tcp, delivered, advanced && found.lost == 0);
    }
    rtt
}

/// What an ACK means while something is missing, or may be.
#[inline(always)]
fn repair(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    now: Picos,
    delivery: &Delivery,
    advanced: bool,
    profile: &Profile,
) -> Found {
    tail_probe::on_ack(tcp, board, now, delivery.segments == 0, profile);
    forward_rto::on_ack(tcp, board, delivery, advanced, profile);
    leave_phase(tcp);
    let mut found = Found::default();
    if !profile.rack {
        found.lost = board.judge(tcp.snd_una);
    } else if delivery.segments > 0 {
        board.rack.advance(now, delivery, tcp.rtt.min_rtt);
        found = rack::detect(tcp, board, now);
    }
    let loses = match tcp.phase {
        Phase::Open => board.lost > 0,
        Phase::Loss => found.again,
        Phase::Recovery => false,
    };
    if loses {
        enter_recovery(tcp, board, now, profile);
    }
    found
}

/// Takes what an ACK reports: everything below `next`, and what lies beyond of what is `reported`.
#[inline(always)]
fn take_delivery<W: Way>(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    next: u64,
    (trigger, run, lost): Reported<'_>,
) -> Delivery {
    let mut delivery = Delivery::none();
    if next > tcp.snd_una {
        board.acknowledge::<W>(tcp.snd_una, next, &mut delivery);
        tcp.snd_una = next;
    }
    for run in lost {
        take_run(board, next, unwrap_sequence(next, run.last), run.count, &mut delivery);
    }
    take_run(board, next, trigger, run, &mut delivery);
    delivery
}

/// Takes what lies from `next` on of the `count` segments up to `last`.
#[inline(always)]
fn take_run(board: &mut Scoreboard, next: u64, last: u64, count: u16, delivery: &mut Delivery) {
    let mut seq = (last + 1).saturating_sub(count.into()).max(next);
    while seq <= last {
        board.sack(next, seq, delivery);
        seq += 1;
    }
}

/// The end of recovery, or of the repair after a timeout.
fn leave_phase(tcp: &mut Sender) {
    if tcp.phase == Phase::Open || tcp.snd_una < tcp.recover {
        return;
    }
    if tcp.phase == Phase::Recovery && !tcp.cc.owns_window() {
        tcp.window.cwnd = tcp.window.ssthresh;
    }
    tcp.phase = Phase::Open;
}

/// What a mark has cut is done with, if that is since `una`.
fn stop_yielding(tcp: &mut Sender, una: u64, profile: &Profile) {
    if una < tcp.marked_until && !tcp.yields() && profile.prr && tcp.phase == Phase::Open {
        tcp.window.cwnd = tcp.window.ssthresh;
    }
}

/// RFC 6675, section 5, step 4. The window that yields to a mark goes on doing so (Linux,
/// tcp_enter_recovery).
fn enter_recovery(tcp: &mut Sender, board: &mut Scoreboard, now: Picos, profile: &Profile) {
    board.fit();
    board.probe.cancel();
    board.forward.only_new = false;
    tcp.phase = Phase::Recovery;
    if tcp.yields() && profile.prr {
        tcp.recover = tcp.marked_until - 1;
        tcp.marked_until = 0;
        return;
    }
    board.prr.begin(tcp.window.cwnd as u32);
    tcp.recover = tcp.snd_max;
    tcp.back_off(now, Cause::Loss, profile);
    if !profile.prr && !tcp.cc.owns_window() {
        tcp.window.cwnd = tcp.window.ssthresh;
    }
}

/// The window follows PRR.
fn reduce(tcp: &mut Sender, delivered: u32, safe: bool) {
    let Some(board) = &mut tcp.scoreboard else { return };
    let (in_flight, ssthresh) = (board.in_flight(), tcp.window.ssthresh as u32);
    tcp.window.cwnd = board.prr.window(delivered, in_flight, ssthresh, safe).into();
}

/// Segments that may go now: the window less the pipe, as far as there is something to send.
#[inline]
pub(super) fn allowance(tcp: &Sender, board: &Scoreboard, profile: &Profile) -> u64 {
    let due = u64::from(board.probe.due.is_some());
    let room = (tcp.window.cwnd as u32).saturating_sub(board.in_flight());
    if room == 0 {
        return due;
    }
    let repairs = if board.forward.only_new { 0 } else { board.lost - board.resent };
    u64::from(room).min(u64::from(repairs) + tcp.new_allowed(profile)).max(due)
}

/// The next of the segments that `allowance` lets go: RFC 6675's NextSeg, rules 1 and 2.
#[inline(always)]
pub(super) fn next_segment<W: Way>(tcp: &mut Sender, now: Picos) -> u64 {
    match &mut tcp.scoreboard {
        Some(board) if board.lost == board.resent && board.probe.due.is_none() => {
            board.prr.sent();
            board.send::<W>(tcp.snd_una, now);
            next_new(tcp)
        }
        _ => next_repair::<W>(tcp, now),
    }
}

#[inline(always)]
fn next_new(tcp: &mut Sender) -> u64 {
    let seq = tcp.snd_nxt;
    tcp.snd_nxt += 1;
    tcp.snd_max = tcp.snd_nxt;
    seq
}

/// Something is to be sent again, or to be probed.
#[inline(never)]
fn next_repair<W: Way>(tcp: &mut Sender, now: Picos) -> u64 {
    let board = tcp.scoreboard.as_mut().expect("a sender with SACK has a scoreboard");
    if let Some(due) = board.probe.due {
        let new = u64::from(due == Due::New);
        board.probe.sent(due, tcp.snd_nxt + new);
        if due == Due::Last {
            board.resend_last(now);
            tcp.retransmissions += 1;
            return tcp.snd_nxt - 1;
        }
    }
    board.prr.sent();
    let lost = if board.forward.only_new { None } else { board.next_lost(tcp.snd_una) };
    if let Some(seq) = lost {
        board.resend::<W>(tcp.snd_una, seq, now);
        board.rack.sent_again(now, seq);
        tcp.retransmissions += 1;
        // The first segment's new chance begins now.
        if seq == tcp.snd_una && tcp.timer == Timer::Rto {
            tcp.timer_at = now + tcp.rtt.rto() + tcp.pacing_delay::<W>(now);
        }
        return seq;
    }
    board.send::<W>(tcp.snd_una, now);
    next_new(tcp)
}

/// Which timer runs after an ACK. An ACK that takes nothing off moves the retransmission timer only
/// where the first segment was sent after what the ACK tells of: else a silent first segment could
/// put its timeout off for ever.
#[inline]
fn set_timer<W: Way>(
    tcp: &mut Sender,
    board: &Scoreboard,
    now: Picos,
    delivery: &Delivery,
    advanced: bool,
    wait: Picos,
    profile: &Profile,
) {
    if wait > 0 {
        rack::wait(tcp, now, wait);
    } else if advanced || overtaken(board, delivery) {
        tail_probe::arm::<W>(tcp, board, now, profile);
    }
}

fn overtaken(board: &Scoreboard, delivery: &Delivery) -> bool {
    let (Some(head), Some((once, _))) = (board.head_sent(), delivery.first_once()) else {
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
    if enters && profile.prr && !tcp.cc.owns_window() {
        reduce(tcp, 1, false);
    }
}

/// The probe's timer fired.
pub(super) fn on_probe_timer(tcp: &mut Sender, now: Picos, profile: &Profile) {
    let Some(mut board) = tcp.scoreboard.take() else { return };
    tail_probe::on_timer(tcp, &mut board, now, profile);
    board.unpaced = board.probe.due == Some(Due::Last);
    tcp.scoreboard = Some(board);
}

/// The retransmission timer fired; `doubted` where that may turn out to be spurious.
pub(super) fn on_timeout(tcp: &mut Sender, now: Picos, doubted: bool, profile: &Profile) {
    let Some(mut board) = tcp.scoreboard.take() else { return };
    board.probe.cancel();
    board.forward.begin(doubted);
    board.unpaced = true;
    rack::give_up(tcp, &mut board, now, profile);
    tcp.window.cwnd = f64::from(board.in_flight() + 1);
    tcp.scoreboard = Some(board);
}

#[cfg(test)]
mod tests;
