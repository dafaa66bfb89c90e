//! The two usual ACKs of a sender with SACK: that of the next segments, and that of one more beyond a gap.

use super::cc_feedback::AckSummary;
use super::profile::Profile;
use super::segment::{EVER_RETRANS, Segment};
use super::sender::Sender;
use super::{rack, tlp};
use crate::fast::flow_kind::FlowKind;
use crate::time::Picos;

/// The usual ACK: nothing is missing, nothing was sent twice, and the oldest one or two segments
/// have arrived, sent at `first` and `last`. Does what `slow_path_ack` would, less what could
/// only find that there is nothing to do.
#[inline(always)]
pub(super) fn fast_path_ack<K: FlowKind>(
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
    let rate = board.rate_in_order::<K>(next, delivered, last, now);
    let (offered, times) = (&mut tcp.receive_window, (now, tcp.rtt.srtt));
    board.receive_window.on_ack(offered, times, (next, delivered), (0, 0), delivered);
    board.rack.deliver(last_rtt, (last, next - 1));
    let (out, head_sent) = (board.segments.len(), board.head_sent());
    tlp::arm_in_order::<K>(tcp, out, head_sent, now, profile);
    tcp.notify_cc::<K>(now, (delivered, false), true, profile, || AckSummary {
        delivered,
        last_rtt: Some(last_rtt),
        rate,
        ..AckSummary::default()
    });
    Some(rtt)
}

/// The usual ACK of a recovery: it takes nothing off, and `seq`, which has just been SACKed and was `segment` before,
/// is all that it reports. Does what `slow_path_ack` would, less what could only find that there is nothing to do.
#[inline(always)]
pub(super) fn one_more_sacked<K: FlowKind>(
    tcp: &mut Sender,
    now: Picos,
    seq: u64,
    segment: Segment,
    profile: &Profile,
) -> Option<Picos> {
    let una = tcp.snd_una;
    let (sent, once) = (segment.sent(), !segment.is(EVER_RETRANS));
    let rtt = once.then_some(now - sent);
    if let Some(rtt) = rtt {
        tcp.rtt.sample(rtt, rtt, (una, tcp.snd_max), profile);
    }
    let board = tcp.scoreboard.as_mut()?;
    let rate = board.rate_of_sacked::<K>(una, seq, sent, now);
    let held = (board.span(una), board.sacked);
    let (offered, times) = (&mut tcp.receive_window, (now, tcp.rtt.srtt));
    board.receive_window.on_ack(offered, times, (una, 0), held, 1);
    board.frto.only_new = false;
    let found = rack::detect_in_recovery(board, una, (seq, sent, once), tcp.rtt.min_rtt, now);
    let head_sent = board.head_sent();
    if found.wait > 0 {
        rack::wait(tcp, now, found.wait);
    } else if once && head_sent > Some(sent) {
        tcp.rearm_rto::<K>(head_sent, now);
    }
    tcp.notify_cc::<K>(now, (1, false), false, profile, || AckSummary {
        delivered: 1,
        newly_lost: found.lost,
        last_rtt: rtt,
        rate,
        ..AckSummary::default()
    });
    rtt
}
