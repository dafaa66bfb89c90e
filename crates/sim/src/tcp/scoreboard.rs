//! What a sender with SACK knows of each outstanding segment.

mod apart;
mod losses;
mod rates;
#[cfg(test)]
mod tests;
mod unsacked;

use super::cwnd_limited::CwndLimited;
use super::highest_sacked::HighestSacked;
use super::prr::Prr;
use super::receive_window::ReceiveWindow;
use super::recovery_state::{Frto, Rack, Tlp};
use super::retransmission_order::RetransmissionOrder;
use super::segment::{EVER_RETRANS, FLAGS, LOST, NewlyAcked, RETRANS, SACKED, Segment};
use crate::cc::Cc;
use crate::fast::flow_kind::FlowKind;
use crate::ring::Ring;
use crate::time::Picos;
use apart::Apart;
use prefetch_index::prefetch_index;
use std::slice::from_ref;

/// Bytes of an outstanding segment.
pub(crate) const SEGMENT_BYTES: usize = size_of::<Segment>();
/// Bytes of what a paced sender keeps besides of an outstanding segment.
pub(crate) const RATE_RECORD_BYTES: usize = super::delivery_rate::RECORD_BYTES;

/// State of each outstanding segment, and the counts over them. What every ACK touches comes first, two lines of the cache, and then what
/// those touch that find something missing: with thousands of flows it is the memory that a packet
/// waits for.
#[derive(Default)]
#[repr(C, align(64))]
pub struct Scoreboard {
    /// From snd_una to snd_max.
    pub(super) segments: Ring<Segment>,
    pub(super) sacked: u32,
    pub(super) lost: u32,
    pub(super) retrans_out: u32,
    /// How fast to send through recovery.
    pub(super) prr: Prr,
    /// Probes of the tail.
    pub(super) probe: Tlp,
    /// What few flows need.
    apart: Option<Box<Apart>>,
    /// What the receiver has room for.
    pub(super) receive_window: ReceiveWindow,
    /// What was used of the window lately.
    pub(super) cwnd_limited: CwndLimited,
    /// Whether the last timeout was spurious.
    pub(super) frto: Frto,
    /// The next segment goes whatever the pacing: a timer asked for it.
    pub(super) pacing_exempt: bool,
    /// Loss by time; what was retransmitted comes last.
    pub(super) rack: Rack,
    /// One past the highest that have been SACKed.
    highest: HighestSacked,
    /// Every segment below this has been judged lost or not.
    pub(super) loss_marked_to: u64,
    /// Which lost segment is retransmitted next.
    retransmission_order: RetransmissionOrder,
}

impl Scoreboard {
    /// An empty one, for the needs of `cc`.
    pub fn new(cc: &Cc) -> Self {
        Self { apart: cc.paced().then(Apart::with_rates), ..Self::default() }
    }

    /// Calls it into the cache.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_index(from_ref(&self.segments), 0);
        prefetch_index(from_ref(&self.receive_window), 0);
        prefetch_index(from_ref(&self.loss_marked_to), 0);
    }

    /// Calls what most ACKs touch nearer.
    #[inline(always)]
    pub fn prefetch_near(&self) {
        prefetch_index(from_ref(&self.segments), 0);
        prefetch_index(from_ref(&self.receive_window), 0);
    }

    /// Calls the first segments into the cache, sent once and again, the place of the next, and segment number
    /// `reported`, of which an ACK tells.
    #[inline]
    pub fn prefetch_segments(&self, reported: usize) {
        self.segments.prefetch(reported);
        self.rack.prefetch();
        if let Some(apart) = self.apart.as_deref() {
            apart.prefetch();
        }
    }

    /// Calls the records of the same segments for their delivery rates into the cache.
    #[inline]
    pub fn prefetch_rates(&self, reported: usize) {
        if let Some(rates) = self.rates_read() {
            rates.prefetch(reported);
        }
    }

    /// Gives back room that it no longer needs.
    #[inline]
    pub(super) fn fit(&mut self) {
        self.segments.fit();
        self.rack.fit();
        if let Some(rates) = self.all_rates() {
            rates.fit();
        }
    }

    /// RFC 6675's pipe: segments thought to be in the network.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.segments.len() as u32 - self.sacked - self.lost + self.retrans_out
    }

    /// Segments delivered so far, of which the first `una` in order.
    #[inline]
    pub fn delivered_total(&self, una: u64) -> u64 {
        una + u64::from(self.sacked)
    }

    /// Every segment is thought to be on its way, none delivered beyond a gap.
    #[inline]
    pub(super) fn in_order(&self) -> bool {
        self.sacked + self.lost == 0
    }

    /// Its counts are those of its segments; for assertions.
    pub(super) fn counts_agree(&self) -> bool {
        let count = |flag| (0..self.segments.len()).filter(|&i| self.segments[i].is(flag)).count();
        let counts = [self.sacked, self.lost, self.retrans_out].map(|count| count as usize);
        counts == [SACKED, LOST, RETRANS].map(count)
    }

    /// A segment that is outstanding was sent twice.
    pub(super) fn was_retransmitted(&self, una: u64, seq: u64) -> bool {
        let index = seq.checked_sub(una).map(|index| index as usize);
        index
            .and_then(|index| self.segments.get(index))
            .is_some_and(|segment| segment.is(EVER_RETRANS))
    }

    /// When the first outstanding segment was last sent.
    pub(super) fn head_sent(&self) -> Option<Picos> {
        self.segments.front().map(|segment| segment.sent())
    }

    /// A segment that was not SACKed before has arrived.
    #[inline]
    fn settle(&mut self, segment: Segment) {
        if segment.is(LOST | RETRANS) {
            self.lost -= u32::from(segment.is(LOST));
            self.retrans_out -= u32::from(segment.is(RETRANS));
        }
    }

    /// Takes the segments below `next` off; those not SACKed before are `newly_acked`.
    #[inline(always)]
    pub(super) fn acknowledge<K: FlowKind>(
        &mut self,
        una: u64,
        next: u64,
        newly_acked: &mut NewlyAcked,
    ) {
        let count = (next - una) as usize;
        if let Some(rates) = self.rates::<K>() {
            rates.forget(count);
        }
        for offset in 0..count {
            let segment = self.segments[offset];
            if segment.is(SACKED) {
                self.sacked -= 1;
            } else {
                newly_acked.add(segment, una + offset as u64);
                self.settle(segment);
            }
        }
        self.segments.drop_oldest(count);
    }

    /// Takes the oldest `count` off where that says nothing but that they have arrived: at most
    /// two (RFC 5681, section 4.2), each sent but once, with none missing and no probe out. Gives
    /// when the first and the last of them were sent. Of delivery rates it knows nothing.
    #[inline]
    pub(super) fn take_in_order(&mut self, count: u64) -> Option<(Picos, Picos)> {
        let last = count.wrapping_sub(1);
        if (last > 1) | !self.in_order() | !self.probe.is_idle() {
            return None;
        }
        let last = *self.segments.get(last as usize)?;
        let first = *self.segments.front()?;
        if (first.0 | last.0) & FLAGS != 0 {
            return None;
        }
        self.segments.drop_oldest(count as usize);
        Some((first.sent(), last.sent()))
    }

    /// Marks `seq` as SACKed. Gives what it was before; `None` where it is no news.
    #[inline(always)]
    pub(super) fn sack_first(&mut self, una: u64, seq: u64) -> Option<Segment> {
        let segment = self.segments.get_mut(seq.wrapping_sub(una) as usize)?;
        let before = *segment;
        if before.is(SACKED) | !self.probe.is_idle() {
            return None;
        }
        segment.0 = (before.0 & !(LOST | RETRANS)) | SACKED;
        self.settle(before);
        self.sacked += 1;
        self.highest.rank_first(seq + 1);
        Some(before)
    }

    /// Marks `seq` as SACKed; where that is news, it is part of `newly_acked`. `ranks` says that losses are
    /// judged by the numbers of what has been SACKed.
    #[inline(always)]
    pub(super) fn sack(&mut self, una: u64, seq: u64, newly_acked: &mut NewlyAcked, ranks: bool) {
        let Some(segment) = self.segments.get_mut((seq - una) as usize) else { return };
        let before = *segment;
        if before.is(SACKED) {
            return;
        }
        segment.0 = (before.0 & !(LOST | RETRANS)) | SACKED;
        newly_acked.add(before, seq);
        self.settle(before);
        self.sacked += 1;
        if ranks {
            self.highest.rank(seq + 1);
        } else {
            self.highest.rank_first(seq + 1);
        }
    }

    /// From the first segment missing to the last that is SACKed.
    pub(super) fn span(&self, una: u64) -> u32 {
        if self.sacked == 0 { 0 } else { self.highest.first.saturating_sub(una) as u32 }
    }

    /// The first lost segment that has not been retransmitted.
    #[inline(always)]
    pub(super) fn next_lost(&self, una: u64) -> Option<u64> {
        if self.lost == self.retrans_out {
            return None;
        }
        let from = self.retransmission_order.from.max(una);
        let waits = |segment: &Segment| segment.0 & (LOST | RETRANS) == LOST;
        let passed = self.segments.position_from((from - una) as usize, waits)?;
        Some(from + passed as u64)
    }

    /// A new segment is sent.
    #[inline(always)]
    pub(super) fn send<K: FlowKind>(&mut self, una: u64, now: Picos) {
        self.segments.push_back(Segment::sent_at(now));
        let (delivered, in_flight) = (self.delivered_total(una), self.in_flight());
        let first = self.segments.len() == 1;
        if let Some(rates) = self.rates::<K>() {
            rates.begin_if(first, now);
            rates.record_new(delivered, in_flight);
        }
    }

    /// So many new segments are sent at once.
    #[inline]
    pub(super) fn send_burst<K: FlowKind>(&mut self, una: u64, now: Picos, count: u32) {
        let (delivered, in_flight) = (self.delivered_total(una), self.in_flight());
        let first = self.segments.is_empty();
        self.segments.push_alike(Segment::sent_at(now), count);
        if let Some(rates) = self.rates::<K>() {
            rates.begin_if(first, now);
            (1..=count).for_each(|sent| rates.record_new(delivered, in_flight + sent));
        }
    }

    /// A lost segment is retransmitted.
    pub(super) fn retransmit<K: FlowKind>(&mut self, una: u64, seq: u64, now: Picos) {
        self.segments[(seq - una) as usize].0 =
            Segment::sent_at(now).0 | LOST | RETRANS | EVER_RETRANS;
        self.retrans_out += 1;
        self.retransmission_order.retransmitted(seq);
        if let Some(state) = self.reordering_mut() {
            state.retransmitted(now);
        }
        let (delivered, in_flight) = (self.delivered_total(una), self.in_flight());
        if let Some(rates) = self.rates::<K>() {
            rates.record_again((seq - una) as usize, delivered, in_flight);
        }
    }

    /// The last segment is retransmitted as a probe: no loss is known of.
    pub(super) fn resend_last(&mut self, now: Picos) {
        if let Some(last) = self.segments.back_mut() {
            last.0 = Segment::sent_at(now).0 | (last.0 & (SACKED | LOST | RETRANS)) | EVER_RETRANS;
        }
    }
}
