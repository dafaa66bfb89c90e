//! Recovery with SACK (RFC 6675), its sending governed by PRR (RFC 6937) where the profile says so.

use super::profile::Profile;
use super::sender::{News, Sender};
use crate::cc::{Cause, Cc, Phase, RateSample};
use crate::time::Picos;
use std::collections::VecDeque;

const DUP_THRESH: usize = 3;
const SACKED: u64 = 1;
const LOST: u64 = 2;
const RESENT: u64 = 4;
const FLAG_BITS: u32 = 3;

/// One outstanding segment: when it was last sent, and its flags in the low bits.
#[derive(Clone, Copy)]
struct Segment(u64);

impl Segment {
    fn sent_at(now: Picos) -> Self {
        Self(now << FLAG_BITS)
    }
    fn sent(self) -> Picos {
        self.0 >> FLAG_BITS
    }
    fn is(self, flag: u64) -> bool {
        self.0 & flag != 0
    }
}

/// What a rate sample needs of a segment (draft-cheng-iccrg-delivery-rate-estimation, section 3.2).
#[derive(Clone, Copy)]
struct Sent {
    delivered: u64,
    delivered_at: Picos,
    first_sent: Picos,
    lost: u64,
    in_flight: u64,
    limited: bool,
}

/// What the sender knows of every outstanding segment.
#[derive(Default)]
pub struct Scoreboard {
    /// From snd_una to snd_max.
    segments: VecDeque<Segment>,
    sacked: u64,
    lost: u64,
    resent: u64,
    /// Highest SACKed segments plus one, highest first; 0 where there is none.
    highest: [u64; DUP_THRESH],
    /// Every segment below this has been judged lost or not.
    judged: u64,
    /// No segment below this is lost and waits to be sent again.
    resend_from: u64,
    /// PRR: segments delivered and sent since recovery began, and the flight when it began.
    prr_delivered: u64,
    prr_out: u64,
    recover_flight: u64,
    /// Segments delivered so far, and when the last was.
    pub delivered_total: u64,
    delivered_at: Picos,
    first_sent: Picos,
    /// Segments judged lost so far.
    pub lost_total: u64,
    /// Alongside `segments`, for controllers that want the delivery rate.
    sent: Option<VecDeque<Sent>>,
}

impl Scoreboard {
    /// An empty one, for the needs of `cc`.
    pub fn new(cc: &Cc) -> Self {
        Self { sent: cc.wants_rate().then(VecDeque::new), ..Self::default() }
    }

    /// RFC 6675's pipe: segments thought to be in the network.
    pub fn in_flight(&self) -> u64 {
        self.segments.len() as u64 - self.sacked - self.lost + self.resent
    }

    fn forget(&mut self, segment: Segment) {
        self.sacked -= u64::from(segment.is(SACKED));
        self.lost -= u64::from(segment.is(LOST));
        self.resent -= u64::from(segment.is(RESENT));
    }

    /// Takes the segments below `next` off; gives how many of them were not SACKed before.
    fn acknowledge(&mut self, una: u64, next: u64) -> u64 {
        if let Some(sent) = &mut self.sent {
            sent.drain(..(next - una) as usize);
        }
        let mut fresh = 0;
        for _ in una..next {
            let segment = self.segments.pop_front().expect("only sent segments are acknowledged");
            fresh += u64::from(!segment.is(SACKED));
            self.forget(segment);
        }
        fresh
    }

    /// Marks `seq` as SACKed; gives whether that was news.
    fn sack(&mut self, una: u64, seq: u64) -> bool {
        let Some(segment) = self.segments.get_mut((seq - una) as usize) else {
            return false;
        };
        if segment.is(SACKED) {
            return false;
        }
        let before = *segment;
        segment.0 = (segment.0 & !(LOST | RESENT)) | SACKED;
        self.forget(before);
        self.sacked += 1;
        let mut rising = seq + 1;
        for place in &mut self.highest {
            if rising > *place {
                std::mem::swap(place, &mut rising);
            }
        }
        true
    }

    /// Counts `seq` as delivered if that is news.
    pub(super) fn learn(&mut self, una: u64, seq: u64) {
        if self.sack(una, seq) {
            self.delivered_total += 1;
        }
    }

    /// RFC 6675's IsLost: three segments above have been SACKed. Gives how many are newly lost.
    fn judge(&mut self, una: u64) -> u64 {
        let below = self.highest[DUP_THRESH - 1].saturating_sub(1);
        let from = self.judged.max(una);
        let mut found = 0;
        for seq in from..below {
            let segment = &mut self.segments[(seq - una) as usize];
            if !segment.is(SACKED | LOST) {
                segment.0 |= LOST;
                found += 1;
            }
        }
        self.judged = from.max(below);
        self.lost += found;
        self.lost_total += found;
        found
    }

    /// The first lost segment that has not been sent again.
    fn next_lost(&mut self, una: u64) -> Option<u64> {
        if self.lost == self.resent {
            return None;
        }
        let mut seq = self.resend_from.max(una);
        loop {
            let segment = self.segments[(seq - una) as usize];
            if segment.is(LOST) && !segment.is(RESENT) {
                self.resend_from = seq;
                return Some(seq);
            }
            seq += 1;
        }
    }

    /// Records a segment that is sent now, new or again.
    fn record(&mut self, index: usize, limited: bool) {
        let in_flight = self.in_flight();
        let Some(sent) = &mut self.sent else { return };
        let record = Sent {
            delivered: self.delivered_total,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost_total,
            in_flight,
            limited,
        };
        if index < sent.len() {
            sent[index] = record;
        } else {
            sent.push_back(record);
        }
    }

    /// The delivery rate that the newest delivered segment, number `index`, tells of.
    fn rate(&mut self, index: usize, now: Picos, delivered: u64) -> Option<RateSample> {
        let record = *self.sent.as_ref()?.get(index)?;
        let sent_at = self.segments[index].sent();
        self.first_sent = sent_at;
        let interval = (sent_at - record.first_sent).max(now - record.delivered_at);
        (interval > 0).then_some(RateSample {
            delivered: self.delivered_total + delivered - record.delivered,
            interval,
            prior_delivered: record.delivered,
            tx_in_flight: record.in_flight,
            prior_lost: record.lost,
            app_limited: record.limited,
        })
    }

    fn resend(&mut self, una: u64, seq: u64, now: Picos) {
        self.segments[(seq - una) as usize].0 = Segment::sent_at(now).0 | LOST | RESENT;
        self.resent += 1;
        self.resend_from = seq + 1;
        self.record((seq - una) as usize, false);
    }

    /// After a timeout all that was not SACKed counts as lost (RFC 6675, section 5.1).
    fn give_up(&mut self, una: u64) {
        for segment in &mut self.segments {
            segment.0 &= !RESENT;
            if !segment.is(SACKED) {
                segment.0 |= LOST;
            }
        }
        self.resent = 0;
        self.lost_total += self.segments.len() as u64 - self.sacked - self.lost;
        self.lost = self.segments.len() as u64 - self.sacked;
        self.resend_from = una;
        self.judged = una + self.segments.len() as u64;
    }
}

pub(super) fn on_ack(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    trigger: u64,
    marked: bool,
    profile: &Profile,
) -> Option<Picos> {
    let mut board = tcp.scoreboard.take()?;
    let una = tcp.snd_una;
    let mut news = News { rtt: sample(&board, una, trigger, now), marked, ..News::default() };
    if let Some(rtt) = news.rtt {
        tcp.rtt.sample(rtt, profile);
    }
    take_delivery(tcp, &mut board, now, next.max(una), trigger, &mut news);
    news.newly_lost = board.judge(tcp.snd_una);
    let advanced = tcp.snd_una > una;
    update_phase(tcp, &mut board, now, profile);
    tcp.scoreboard = Some(board);
    let grows = advanced && tcp.phase != Phase::Recovery;
    tcp.tell(now, news, grows, profile);
    if tcp.phase == Phase::Recovery && profile.prr && !tcp.cc.owns_window() {
        reduce(tcp, news.delivered, advanced && news.newly_lost == 0);
    }
    if advanced {
        tcp.restart_timer(now);
    }
    news.rtt
}

/// Moves snd_una to `next` and marks `trigger` as SACKed if it lies beyond.
fn take_delivery(
    tcp: &mut Sender,
    board: &mut Scoreboard,
    now: Picos,
    next: u64,
    trigger: u64,
    news: &mut News,
) {
    let una = tcp.snd_una;
    let newest = trigger.checked_sub(una).map(|index| index as usize);
    let fresh = newest.is_some_and(|i| board.segments.get(i).is_some_and(|seg| !seg.is(SACKED)));
    let rate = newest.filter(|_| fresh).and_then(|i| board.rate(i, now, 1));
    news.delivered = board.acknowledge(una, next);
    tcp.snd_una = next;
    tcp.snd_nxt = tcp.snd_nxt.max(next);
    if trigger >= next {
        news.delivered += u64::from(board.sack(next, trigger));
    }
    news.rate = rate.map(|rate| RateSample {
        delivered: rate.delivered + news.delivered.saturating_sub(1),
        ..rate
    });
    if news.delivered > 0 {
        board.delivered_total += news.delivered;
        board.delivered_at = now;
    }
}

fn update_phase(tcp: &mut Sender, board: &mut Scoreboard, now: Picos, profile: &Profile) {
    if tcp.phase != Phase::Open && tcp.snd_una >= tcp.recover {
        if tcp.phase == Phase::Recovery {
            if !tcp.cc.owns_window() {
                tcp.window.cwnd = tcp.window.ssthresh;
            }
            tcp.cc.on_recovered(&mut tcp.window, now);
        }
        tcp.phase = Phase::Open;
    }
    if tcp.phase == Phase::Open && board.lost > 0 {
        enter_recovery(tcp, board, now, profile);
    }
}

/// RFC 6675, section 5, step 4.
fn enter_recovery(tcp: &mut Sender, board: &mut Scoreboard, now: Picos, profile: &Profile) {
    board.prr_delivered = 0;
    board.prr_out = 0;
    board.recover_flight = tcp.window.cwnd as u64;
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
    room.min(board.lost - board.resent + tcp.new_allowed(profile))
}

/// The next of the segments that `allowance` lets go: RFC 6675's NextSeg, rules 1 and 2.
#[inline]
pub(super) fn next_segment(tcp: &mut Sender, now: Picos) -> u64 {
    let board = tcp.scoreboard.as_mut().expect("a sender with SACK has a scoreboard");
    board.prr_out += 1;
    if let Some(seq) = board.next_lost(tcp.snd_una) {
        board.resend(tcp.snd_una, seq, now);
        tcp.retransmissions += 1;
        return seq;
    }
    if board.segments.is_empty() {
        board.first_sent = now; // nothing outstanding: the sample's intervals begin here
        board.delivered_at = now;
    }
    board.segments.push_back(Segment::sent_at(now));
    board.record(board.segments.len() - 1, false);
    let seq = tcp.snd_nxt;
    tcp.snd_nxt += 1;
    tcp.snd_max = tcp.snd_nxt;
    seq
}

pub(super) fn on_timeout(tcp: &mut Sender) {
    if let Some(board) = tcp.scoreboard.as_mut() {
        board.give_up(tcp.snd_una);
    }
}

/// Karn: a segment that was sent twice gives no sample.
fn sample(board: &Scoreboard, una: u64, trigger: u64, now: Picos) -> Option<Picos> {
    let segment = board.segments.get(trigger.checked_sub(una)? as usize)?;
    (!segment.is(RESENT | LOST | SACKED)).then(|| now - segment.sent())
}
