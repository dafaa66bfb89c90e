//! Recovery with SACK (RFC 6675), its sending governed by PRR (RFC 6937) where the profile says so.

use super::profile::Profile;
use super::scoreboard::{Delivery, Scoreboard};
use super::sender::{News, Sender, Timer};
use super::tail_probe::Due;
use super::{forward_rto, rack, tail_probe};
use crate::cc::{Cause, Phase, RateSample};
use crate::time::{MILLISECOND, Picos};

/// What a loss that is noticed now does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loss {
    None,
    First,
    Again,
}

pub(super) fn on_ack(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    reported: (u64, u16),
    marked: bool,
    profile: &Profile,
) -> Option<Picos> {
    let mut board = tcp.scoreboard.take()?;
    let una = tcp.snd_una;
    if profile.validates_window {
        tcp.usage.note(tcp.window.cwnd, board.in_flight(), una, tcp.snd_max);
    }
    let mut news = News { marked, ..News::default() };
    let delivery = take_delivery(tcp, &mut board, now, next.max(una), reported, &mut news);
    let advanced = tcp.snd_una > una;
    (news.rtt, news.last_rtt) = sample(tcp, &delivery, now, advanced, profile);
    if let (Some(rtt), Some(last)) = (news.rtt, news.last_rtt) {
        tcp.rtt.sample(rtt, last, (tcp.snd_una, tcp.snd_max), profile);
    }
    if tcp.receive_window < u32::MAX {
        let held = (board.span(tcp.snd_una), board.sacked);
        let times = (now, tcp.rtt.srtt);
        let offered = board.receive_window.on_ack(times, tcp.snd_una, held, news.delivered);
        // What was offered before still stands (RFC 9293, section 3.8.6).
        let left = tcp.receive_window.saturating_sub((tcp.snd_una - una) as u32);
        tcp.receive_window = left.max(offered);
    }
    let wait = if board.in_order() && delivery.newest.is_some() && tcp.phase == Phase::Open {
        board.rack.advance(now, &delivery, tcp.rtt.min_rtt);
        tail_probe::on_ack(tcp, &mut board, now, false, profile);
        None
    } else {
        repair(tcp, &mut board, now, &delivery, advanced, &mut news, profile)
    };
    set_timer(tcp, &board, now, &delivery, advanced, wait, profile);
    tcp.scoreboard = Some(board);
    let grows = advanced && tcp.phase != Phase::Recovery;
    tcp.tell::<false>(now, (news.delivered, marked), grows, profile, || news);
    let reduces = tcp.phase == Phase::Recovery && profile.prr && !tcp.cc.owns_window();
    if reduces && news.delivered > 0 {
        reduce(tcp, news.delivered, advanced && news.newly_lost == 0);
    }
    news.rtt
}

/// What an ACK means while something is missing, or may be. Gives how long to wait for reordering.
fn repair(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    now: Picos,
    delivery: &Delivery,
    advanced: bool,
    news: &mut News,
    profile: &Profile,
) -> Option<Picos> {
    tail_probe::on_ack(tcp, board, now, delivery.segments == 0, profile);
    let has_new = tcp.new_allowed(profile) > 0;
    forward_rto::on_ack(tcp, board, delivery, advanced, has_new);
    leave_phase(tcp, now);
    let mut found = rack::Found::default();
    if !profile.rack {
        found.lost = board.judge(tcp.snd_una);
    } else if delivery.newest.is_some() {
        board.rack.advance(now, delivery, tcp.rtt.min_rtt);
        found = rack::detect(tcp, board, now);
    }
    news.newly_lost = found.lost;
    let loss = match tcp.phase {
        Phase::Open if board.lost > 0 => Loss::First,
        Phase::Loss if found.again => Loss::Again,
        _ => Loss::None,
    };
    if loss != Loss::None {
        enter_recovery(tcp, board, now, profile);
    }
    found.wait
}

/// Takes what an ACK reports: everything below `next`, and the last of `reported` segments that
/// follow each other, as far as they lie beyond.
#[inline]
fn take_delivery(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    now: Picos,
    next: u64,
    (trigger, run): (u64, u16),
    news: &mut News,
) -> Delivery {
    let una = tcp.snd_una;
    let fresh = tcp.cc.wants_rate() && board.is_open(una, trigger);
    let rate = if fresh { board.rate((trigger - una) as usize, now, 1) } else { None };
    let mut delivery = Delivery::default();
    board.acknowledge(una, next, &mut delivery);
    tcp.snd_una = next;
    tcp.snd_nxt = tcp.snd_nxt.max(next);
    if trigger >= next {
        let first = (trigger + 1).saturating_sub(run.into()).max(next);
        (first..=trigger).for_each(|seq| board.sack(next, seq, &mut delivery));
    }
    news.delivered = delivery.segments;
    news.rate = rate.map(|rate| RateSample {
        delivered: rate.delivered + news.delivered.saturating_sub(1),
        ..rate
    });
    board.count_delivered(now, delivery.segments);
    delivery
}

/// The end of recovery, or of the repair after a timeout.
fn leave_phase(tcp: &mut Sender, now: Picos) {
    if tcp.phase == Phase::Open || tcp.snd_una < tcp.recover {
        return;
    }
    if tcp.phase == Phase::Recovery {
        if !tcp.cc.owns_window() {
            tcp.window.cwnd = tcp.window.ssthresh;
        }
        tcp.cc.on_recovered(&mut tcp.window, now);
    }
    tcp.phase = Phase::Open;
}

/// RFC 6675, section 5, step 4.
fn enter_recovery(tcp: &mut Sender, board: &mut Scoreboard, now: Picos, profile: &Profile) {
    board.prr_delivered = 0;
    board.prr_out = 0;
    board.recover_flight = tcp.window.cwnd as u64;
    board.probe.cancel();
    board.forward.only_new = false;
    tcp.phase = Phase::Recovery;
    tcp.recover = tcp.snd_max;
    tcp.back_off(now, Cause::Loss, profile);
    if !profile.prr && !tcp.cc.owns_window() {
        tcp.window.cwnd = tcp.window.ssthresh;
    }
}

/// RFC 6937, section 3, with the safe-ACK choice between its two bounds that Linux makes.
fn reduce(tcp: &mut Sender, delivered: u64, safe: bool) {
    let Some(board) = &mut tcp.scoreboard else { return };
    board.prr_delivered += delivered;
    let in_flight = board.in_flight();
    let ssthresh = tcp.window.ssthresh as u64;
    let allowed = if in_flight > ssthresh {
        let share = (board.prr_delivered * ssthresh).div_ceil(board.recover_flight.max(1));
        share.saturating_sub(board.prr_out)
    } else {
        let owed = board.prr_delivered.saturating_sub(board.prr_out).max(delivered);
        (owed + u64::from(safe)).min(ssthresh - in_flight)
    };
    let first = u64::from(board.prr_out == 0);
    tcp.window.cwnd = (in_flight + allowed.max(first)) as f64;
}

/// Segments that may go now: the window less the pipe, as far as there is something to send.
#[inline]
pub(super) fn allowance(tcp: &Sender, board: &Scoreboard, profile: &Profile) -> u64 {
    let room = u64::from(tcp.window.cwnd as u32).saturating_sub(board.in_flight());
    let repairs = if board.forward.only_new { 0 } else { board.lost - board.resent };
    let due = u64::from(board.probe.due.is_some());
    room.min(repairs + tcp.new_allowed(profile)).max(due)
}

/// The next of the segments that `allowance` lets go: RFC 6675's NextSeg, rules 1 and 2.
#[inline(always)]
pub(super) fn next_segment(tcp: &mut Sender, now: Picos) -> u64 {
    match &mut tcp.scoreboard {
        Some(board) if board.lost == board.resent && board.probe.due.is_none() => {
            board.prr_out += 1;
            board.send(now);
            next_new(tcp)
        }
        _ => next_repair(tcp, now),
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
fn next_repair(tcp: &mut Sender, now: Picos) -> u64 {
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
    board.prr_out += 1;
    let lost = if board.forward.only_new { None } else { board.next_lost(tcp.snd_una) };
    if let Some(seq) = lost {
        board.resend(tcp.snd_una, seq, now);
        board.rack.sent_again(now, seq);
        tcp.retransmissions += 1;
        // The first segment's new chance begins now.
        if seq == tcp.snd_una && tcp.timer == Timer::Rto {
            tcp.timer_at = now + tcp.rtt.rto() + tcp.pacing_delay(now);
        }
        return seq;
    }
    board.send(now);
    next_new(tcp)
}

/// Which timer runs after an ACK. An ACK that takes nothing off moves the retransmission timer only
/// where the first segment was sent after what the ACK tells of: else a silent first segment could
/// put its timeout off for ever.
#[inline]
fn set_timer(
    tcp: &mut Sender,
    board: &Scoreboard,
    now: Picos,
    delivery: &Delivery,
    advanced: bool,
    wait: Option<Picos>,
    profile: &Profile,
) {
    if let Some(left) = wait {
        rack::wait(tcp, now, left);
    } else if advanced || overtaken(board, delivery) {
        tail_probe::arm(tcp, board, now, profile);
    }
}

fn overtaken(board: &Scoreboard, delivery: &Delivery) -> bool {
    let (Some(head), Some((once, _))) = (board.head_sent(), delivery.first_once) else {
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

/// The retransmission timer fired.
pub(super) fn on_timeout(tcp: &mut Sender, now: Picos, profile: &Profile) {
    let Some(mut board) = tcp.scoreboard.take() else { return };
    board.probe.cancel();
    board.forward.begin(profile.f_rto);
    board.unpaced = true;
    rack::give_up(tcp, &mut board, now, profile);
    tcp.window.cwnd = (board.in_flight() + 1) as f64;
    tcp.scoreboard = Some(board);
}

/// Karn: what was sent twice gives no sample, unless ACKs echo timestamps. Two samples: of the
/// segments that an ACK covers the first counts for the timeout, for a delayed ACK's wait is part of
/// that round trip; the last, which nothing held back, for the least round trip and for controllers
/// (Linux, tcp_clean_rtx_queue and tcp_ack_update_rtt).
#[inline]
fn sample(
    tcp: &Sender,
    delivery: &Delivery,
    now: Picos,
    advanced: bool,
    profile: &Profile,
) -> (Option<Picos>, Option<Picos>) {
    if let Some((sent, _)) = delivery.first_once {
        return (Some(now - sent), Some(now - delivery.last_once));
    }
    let echoes = profile.timestamps && advanced;
    let echoed = delivery.newest.filter(|_| echoes).and_then(|(sent, _)| echoed(tcp, now, sent));
    (echoed, echoed)
}

/// A timestamp's clock ticks in milliseconds (RFC 7323, section 5.4; Linux): a round trip so
/// measured is whole, and may be up to one shorter than it was.
fn echoed(tcp: &Sender, now: Picos, sent: Picos) -> Option<Picos> {
    // Faster than ever: it was the original that arrived.
    if now - sent + MILLISECOND < tcp.rtt.min_rtt {
        return None;
    }
    Some((now / MILLISECOND - sent / MILLISECOND).max(1) * MILLISECOND)
}
