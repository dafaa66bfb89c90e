//! Recovery without SACK: NewReno (RFC 6582), limited transmit (RFC 3042).

use super::cc_feedback::AckSummary;
use super::profile::Profile;
use super::sender::{NOT_TIMED, Sender};
use crate::cc::{Cc, CongestionEvent, Phase};
use crate::fast::flow_kind::FlowKind;
use crate::time::Picos;

const DUP_THRESH: u32 = 3;
/// Segments that one duplicate ACK may let go (ns-2).
const DUPLICATE_BURST: u32 = 2;

#[inline(always)]
pub(super) fn on_ack<K: FlowKind>(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    marked: bool,
    profile: &Profile,
) -> Option<Picos> {
    tcp.burst_left = u32::MAX;
    if !K::FAST_PATH
        && let Cc::Foreign(cc) = &mut tcp.cc
    {
        cc.prior_in_flight = (tcp.snd_nxt - tcp.snd_una) as u32;
    }
    if next > tcp.snd_una {
        return on_new_ack::<K>(tcp, now, next, marked, profile);
    }
    if next == tcp.snd_una && tcp.snd_una < tcp.snd_max {
        on_duplicate(tcp, now, profile);
        tcp.notify_cc::<K>(now, (0, marked), false, profile, || AckSummary {
            marked,
            ..AckSummary::default()
        });
    }
    None
}

#[inline(always)]
fn on_new_ack<K: FlowKind>(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    marked: bool,
    profile: &Profile,
) -> Option<Picos> {
    let delivered = (next - tcp.snd_una) as u32;
    let last_rtt = round_trip::<K>(tcp, now, delivered);
    let summary = move || AckSummary { delivered, last_rtt, marked, ..AckSummary::default() };
    tcp.snd_una = next;
    tcp.snd_nxt = tcp.snd_nxt.max(next);
    match tcp.phase {
        Phase::Recovery if next < tcp.recover => {
            on_partial_ack(tcp, now, delivered);
            tcp.notify_cc::<K>(now, (delivered, marked), false, profile, summary);
            return None;
        }
        // Full acknowledgement, option 2: the window stays at its reduced size.
        Phase::Recovery => tcp.phase = Phase::Open,
        Phase::Loss if next >= tcp.recover => tcp.phase = Phase::Open,
        Phase::Loss => tcp.progressed = true,
        _ => {}
    }
    let rtt = take_sample(tcp, now, profile);
    tcp.dupacks = 0;
    tcp.inflation = 0;
    tcp.notify_cc::<K>(now, (delivered, marked), true, profile, summary);
    tcp.restart_timer(now);
    rtt
}

/// The round trip of the last segment that an ACK covers, for a controller that wants it.
#[inline(always)]
fn round_trip<K: FlowKind>(tcp: &mut Sender, now: Picos, delivered: u32) -> Option<Picos> {
    let times = tcp.send_times.as_mut().filter(|_| !K::NEWRENO_ONLY)?;
    times.acknowledge(delivered, now)
}

/// RFC 6582, section 3.2, step 3, partial acknowledgement: send the next hole, deflate. The timer is
/// restarted by the first one alone (the "impatient" variant of section 4, which ns-2 uses).
fn on_partial_ack(tcp: &mut Sender, now: Picos, deflation: u32) {
    tcp.retransmit_first = true;
    if tcp.timed.0 < tcp.snd_una {
        tcp.timed = NOT_TIMED; // it waited for the repair
    }
    if tcp.inflation > deflation {
        tcp.inflation -= deflation - 1;
    } else {
        let rest = f64::from(deflation - tcp.inflation);
        tcp.window.cwnd = (tcp.window.cwnd - rest).max(1.0);
        tcp.inflation = 1;
    }
    if !tcp.progressed {
        tcp.progressed = true;
        tcp.restart_timer(now);
    }
}

fn on_duplicate(tcp: &mut Sender, now: Picos, profile: &Profile) {
    tcp.dupacks += 1;
    match tcp.phase {
        Phase::Recovery => tcp.inflation += 1,
        _ if tcp.dupacks < DUP_THRESH => tcp.inflation += 1,
        // RFC 6582, step 2: the losses of one flight reduce the window once.
        _ if tcp.dupacks == DUP_THRESH && tcp.snd_una > tcp.recover => {
            enter_recovery(tcp, now, profile)
        }
        _ => {}
    }
    tcp.burst_left = if tcp.dupacks < DUP_THRESH { 1 } else { DUPLICATE_BURST };
}

fn enter_recovery(tcp: &mut Sender, now: Picos, profile: &Profile) {
    tcp.phase = Phase::Recovery;
    tcp.recover = tcp.snd_max;
    tcp.progressed = false;
    tcp.reduce_ssthresh(now, CongestionEvent::Loss, profile);
    tcp.window.cwnd = tcp.window.ssthresh;
    tcp.inflation = DUP_THRESH;
    tcp.retransmit_first = true;
    tcp.timed = NOT_TIMED;
    tcp.restart_timer(now);
}

/// Segments that may go now: the repair that is due, and what the window holds beyond.
#[inline]
pub(super) fn sendable_segments<K: FlowKind>(tcp: &Sender, profile: &Profile) -> u64 {
    let window = (tcp.window.cwnd + f64::from(tcp.inflation)) as u32;
    let offered = if K::NEWRENO_ONLY { u32::MAX } else { tcp.receive_window };
    let new = tcp.new_within(window.min(profile.max_window).min(offered));
    (new + u64::from(tcp.retransmit_first)).min(tcp.burst_left.into())
}

/// The next of the segments that `sendable_segments` lets go.
#[inline(always)]
pub(super) fn next_segment<K: FlowKind>(tcp: &mut Sender, now: Picos) -> u64 {
    let seq = choose_segment(tcp, now);
    if let Some(times) = tcp.send_times.as_mut().filter(|_| !K::NEWRENO_ONLY) {
        times.record(seq - tcp.snd_una, now);
    }
    seq
}

#[inline(always)]
fn choose_segment(tcp: &mut Sender, now: Picos) -> u64 {
    tcp.burst_left -= 1;
    if tcp.retransmit_first {
        tcp.retransmit_first = false;
        tcp.retransmissions += 1;
        return tcp.snd_una;
    }
    let seq = tcp.snd_nxt;
    tcp.snd_nxt += 1;
    if seq < tcp.snd_max {
        tcp.retransmissions += 1;
        return seq;
    }
    tcp.snd_max = tcp.snd_nxt;
    if tcp.timed == NOT_TIMED {
        tcp.timed = (seq, now);
    }
    seq
}

/// Go back to the first segment not acknowledged.
pub(super) fn on_timeout(tcp: &mut Sender) {
    tcp.snd_nxt = tcp.snd_una;
    tcp.dupacks = 0;
    tcp.inflation = 0;
    tcp.retransmit_first = false;
    tcp.burst_left = u32::MAX;
}

#[inline]
fn take_sample(tcp: &mut Sender, now: Picos, profile: &Profile) -> Option<Picos> {
    let (seq, sent) = tcp.timed;
    if seq >= tcp.snd_una {
        return None;
    }
    tcp.timed = NOT_TIMED;
    tcp.rtt.sample(now - sent, now - sent, (tcp.snd_una, tcp.snd_max), profile);
    Some(now - sent)
}
