//! What a sender with SACK knows of each outstanding segment.

use super::forward_rto::ForwardRto;
use super::rack::Rack;
use super::receive_window::ReceiveWindow;
use super::tail_probe::TailProbe;
use crate::cc::{Cc, RateSample};
use crate::ring::Ring;
use crate::time::Picos;
use std::collections::VecDeque;

pub(super) const DUP_THRESH: usize = 3;
pub(super) const SACKED: u64 = 1;
pub(super) const LOST: u64 = 2;
/// Sent again, and thought to be on its way.
pub(super) const RESENT: u64 = 4;
/// Sent again at some time (Karn).
pub(super) const TWICE: u64 = 8;
const FLAG_BITS: u32 = 4;
const FLAGS: u64 = (1 << FLAG_BITS) - 1;

/// One outstanding segment: when it was last sent, and its flags in the low bits.
#[derive(Clone, Copy, Default)]
pub(super) struct Segment(u64);

impl Segment {
    #[inline]
    fn sent_at(now: Picos) -> Self {
        Self(now << FLAG_BITS)
    }

    #[inline]
    pub(super) fn sent(self) -> Picos {
        self.0 >> FLAG_BITS
    }

    #[inline]
    pub(super) fn is(self, flag: u64) -> bool {
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

#[derive(Default)]
struct Rates {
    /// Alongside `Scoreboard::segments`.
    sent: VecDeque<Sent>,
    /// When the last segment was delivered.
    delivered_at: Picos,
    first_sent: Picos,
}

/// What an ACK delivers, as the scoreboard sees it.
#[derive(Clone, Copy, Default)]
pub(super) struct Delivery {
    /// Segments newly acknowledged or SACKed.
    pub(super) segments: u64,
    /// Of those sent but once the first: when, and its number.
    pub(super) first_once: Option<(Picos, u64)>,
    /// Of the same, the last: when it was sent.
    pub(super) last_once: Picos,
    /// Number and transmission time of the last of them to be sent.
    pub(super) newest: Option<(Picos, u64)>,
    /// The newest was sent more than once.
    pub(super) newest_twice: bool,
}

impl Delivery {
    #[inline]
    fn add(&mut self, segment: Segment, seq: u64) {
        self.segments += 1;
        let twice = segment.is(TWICE);
        if !twice {
            self.first_once = self.first_once.or(Some((segment.sent(), seq)));
            self.last_once = segment.sent();
        }
        if self.newest.is_none_or(|newest| newest < (segment.sent(), seq)) {
            self.newest = Some((segment.sent(), seq));
            self.newest_twice = twice;
        }
    }
}

/// See the module's page.
#[derive(Default)]
pub struct Scoreboard {
    /// From snd_una to snd_max.
    pub(super) segments: Ring<Segment>,
    pub(super) sacked: u64,
    pub(super) lost: u64,
    pub(super) resent: u64,
    /// Highest SACKed segments plus one, highest first; 0 where there is none.
    highest: [u64; DUP_THRESH],
    /// Every segment below this has been judged lost or not.
    pub(super) judged: u64,
    /// No segment below this is lost and waits to be sent again.
    pub(super) resend_from: u64,
    /// PRR: segments delivered and sent since recovery began, and the flight when it began.
    pub(super) prr_delivered: u64,
    pub(super) prr_out: u64,
    pub(super) recover_flight: u64,
    /// Segments delivered so far.
    pub delivered_total: u64,
    /// Segments judged lost so far.
    pub lost_total: u64,
    /// Loss by time.
    pub(super) rack: Rack,
    /// Probes of the tail.
    pub(super) probe: TailProbe,
    /// Whether the last timeout was spurious.
    pub(super) forward: ForwardRto,
    /// The next segment goes whatever the pacing: a timer asked for it.
    pub(super) unpaced: bool,
    /// What the receiver has room for.
    pub(super) receive_window: ReceiveWindow,
    /// For controllers that want the delivery rate.
    rates: Option<Box<Rates>>,
}

impl Scoreboard {
    /// An empty one, for the needs of `cc`.
    pub fn new(cc: &Cc) -> Self {
        Self { rates: cc.wants_rate().then(Box::default), ..Self::default() }
    }

    /// RFC 6675's pipe: segments thought to be in the network.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.segments.len() as u64 - self.sacked - self.lost + self.resent
    }

    /// Every segment is thought to be on its way, none delivered beyond a gap.
    #[inline]
    pub(super) fn in_order(&self) -> bool {
        self.sacked + self.lost == 0
    }

    /// When the first outstanding segment was last sent.
    pub(super) fn head_sent(&self) -> Option<Picos> {
        self.segments.front().map(|segment| segment.sent())
    }

    #[inline]
    fn forget(&mut self, segment: Segment) {
        self.sacked -= u64::from(segment.is(SACKED));
        self.lost -= u64::from(segment.is(LOST));
        self.resent -= u64::from(segment.is(RESENT));
    }

    /// Takes the segments below `next` off; those not SACKed before are `delivery`.
    #[inline]
    pub(super) fn acknowledge(&mut self, una: u64, next: u64, delivery: &mut Delivery) {
        if let Some(rates) = &mut self.rates {
            rates.sent.drain(..(next - una) as usize);
        }
        if self.take_plain((next - una) as usize, una, delivery) {
            return;
        }
        for seq in una..next {
            let segment = self.segments.pop_front().expect("only sent segments are acknowledged");
            if !segment.is(SACKED) {
                delivery.add(segment, seq);
            }
            self.forget(segment);
        }
    }

    /// Takes the oldest `count` off if each was sent but once and never judged: the usual case.
    #[inline]
    fn take_plain(&mut self, count: usize, una: u64, delivery: &mut Delivery) -> bool {
        let mut newest = Segment::default();
        let mut flags = 0;
        for offset in 0..count {
            newest = self.segments[offset];
            flags |= newest.0;
        }
        if count == 0 || flags & FLAGS != 0 {
            return false;
        }
        delivery.segments = count as u64;
        delivery.first_once = Some((self.segments[0].sent(), una));
        delivery.last_once = newest.sent();
        delivery.newest = Some((newest.sent(), una + count as u64 - 1));
        self.segments.drop_oldest(count);
        true
    }

    /// Marks `seq` as SACKed; where that is news, it is part of `delivery`.
    pub(super) fn sack(&mut self, una: u64, seq: u64, delivery: &mut Delivery) {
        let Some(segment) = self.segments.get_mut((seq - una) as usize) else { return };
        if segment.is(SACKED) {
            return;
        }
        let before = *segment;
        segment.0 = (segment.0 & !(LOST | RESENT)) | SACKED;
        delivery.add(before, seq);
        self.forget(before);
        self.sacked += 1;
        let mut rising = seq + 1;
        for place in &mut self.highest {
            if rising > *place {
                std::mem::swap(place, &mut rising);
            }
        }
    }

    /// Whether `seq` is outstanding and not SACKed.
    pub(super) fn is_open(&self, una: u64, seq: u64) -> bool {
        let index = seq.checked_sub(una).map(|index| index as usize);
        index.and_then(|i| self.segments.get(i)).is_some_and(|segment| !segment.is(SACKED))
    }

    /// Counts `seq` as delivered if that is news.
    pub(super) fn learn(&mut self, una: u64, seq: u64) {
        let mut delivery = Delivery::default();
        self.sack(una, seq, &mut delivery);
        self.delivered_total += delivery.segments;
    }

    /// From the first segment missing to the last that is SACKed.
    pub(super) fn span(&self, una: u64) -> u64 {
        if self.sacked == 0 { 0 } else { self.highest[0].saturating_sub(una) }
    }

    /// RFC 6675's IsLost: three segments above have been SACKed. Gives how many are newly lost.
    pub(super) fn judge(&mut self, una: u64) -> u64 {
        let below = self.highest[DUP_THRESH - 1].saturating_sub(1);
        let from = self.judged.max(una);
        let before = self.lost_total;
        for seq in from..below {
            if !self.segments[(seq - una) as usize].is(SACKED | LOST) {
                self.mark_lost(una, seq);
            }
        }
        self.judged = from.max(below);
        self.lost_total - before
    }

    /// A segment on its way is lost.
    pub(super) fn mark_lost(&mut self, una: u64, seq: u64) {
        self.segments[(seq - una) as usize].0 |= LOST;
        self.lost += 1;
        self.lost_total += 1;
        self.resend_from = self.resend_from.min(seq);
    }

    /// A segment that was sent again, `seq`, is lost again.
    pub(super) fn mark_lost_again(&mut self, una: u64, seq: u64) {
        self.segments[(seq - una) as usize].0 &= !RESENT;
        self.resent -= 1;
        self.lost_total += 1;
        self.resend_from = self.resend_from.min(seq);
    }

    /// Nothing was lost after all.
    pub(super) fn absolve(&mut self) {
        (0..self.segments.len()).for_each(|index| self.segments[index].0 &= !(LOST | RESENT));
        (self.lost, self.resent) = (0, 0);
    }

    /// The first lost segment that has not been sent again.
    pub(super) fn next_lost(&mut self, una: u64) -> Option<u64> {
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

    /// A new segment is sent.
    #[inline(always)]
    pub(super) fn send(&mut self, now: Picos) {
        self.segments.push_back(Segment::sent_at(now));
        if self.rates.is_some() {
            self.record_new(now);
        }
    }

    #[inline(never)]
    fn record_new(&mut self, now: Picos) {
        if let Some(rates) = self.rates.as_mut().filter(|_| self.segments.len() == 1) {
            rates.first_sent = now; // nothing outstanding: the sample's intervals begin here
            rates.delivered_at = now;
        }
        self.record(self.segments.len() - 1, false);
    }

    /// A lost segment is sent again.
    pub(super) fn resend(&mut self, una: u64, seq: u64, now: Picos) {
        self.segments[(seq - una) as usize].0 = Segment::sent_at(now).0 | LOST | RESENT | TWICE;
        self.resent += 1;
        self.resend_from = seq + 1;
        self.record((seq - una) as usize, false);
    }

    /// The last segment is sent again as a probe: no loss is known of.
    pub(super) fn resend_last(&mut self, now: Picos) {
        if let Some(last) = self.segments.back_mut() {
            last.0 = Segment::sent_at(now).0 | (last.0 & (SACKED | LOST | RESENT)) | TWICE;
        }
    }

    /// Records a segment that is sent now, new or again.
    fn record(&mut self, index: usize, limited: bool) {
        let in_flight = self.in_flight();
        let Some(rates) = &mut self.rates else { return };
        let record = Sent {
            delivered: self.delivered_total,
            delivered_at: rates.delivered_at,
            first_sent: rates.first_sent,
            lost: self.lost_total,
            in_flight,
            limited,
        };
        if index < rates.sent.len() {
            rates.sent[index] = record;
        } else {
            rates.sent.push_back(record);
        }
    }

    /// So many segments have been delivered now.
    #[inline]
    pub(super) fn count_delivered(&mut self, now: Picos, segments: u64) {
        self.delivered_total += segments;
        if let Some(rates) = self.rates.as_mut().filter(|_| segments > 0) {
            rates.delivered_at = now;
        }
    }

    /// The delivery rate that the newest delivered segment, number `index`, tells of.
    pub(super) fn rate(&mut self, index: usize, now: Picos, delivered: u64) -> Option<RateSample> {
        let rates = self.rates.as_mut()?;
        let record = *rates.sent.get(index)?;
        let sent_at = self.segments[index].sent();
        rates.first_sent = sent_at;
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

    /// After a timeout all that was not SACKed counts as lost (RFC 6675, section 5.1), the first
    /// segment always, the others unless `recent` says that they were sent too recently.
    pub(super) fn give_up(&mut self, una: u64, recent: impl Fn(Segment) -> bool) {
        let (mut lost, mut resent, mut again) = (0, 0, 0);
        for index in 0..self.segments.len() {
            let segment = &mut self.segments[index];
            if segment.is(SACKED) {
                continue;
            }
            if index == 0 || !recent(*segment) {
                again += u64::from(segment.is(RESENT));
                segment.0 = (segment.0 | LOST) & !RESENT;
            }
            lost += u64::from(segment.is(LOST));
            resent += u64::from(segment.is(RESENT));
        }
        self.lost_total += lost - self.lost + again;
        (self.lost, self.resent) = (lost, resent);
        self.resend_from = una;
        self.judged = una;
    }
}
