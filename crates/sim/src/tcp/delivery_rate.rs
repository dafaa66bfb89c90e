//! Samples of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation), for the controllers
//! that want them.

use super::pacer::Pacer;
use crate::cc::{RateSample, too_many_lost};
use crate::ring::Ring;
use crate::time::Picos;

/// What a rate sample needs of a segment (section 3.2). Two fill a line of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Sent {
    delivered_at: Picos,
    first_sent: Picos,
    /// How far delivery and loss had come, in segments (low 32 bits).
    delivered: u32,
    lost: u32,
    in_flight: u32,
}

/// Bytes of what is kept of an outstanding segment.
pub(super) const RECORD_BYTES: usize = size_of::<Sent>();

#[derive(Default)]
pub(super) struct DeliveryRate {
    /// Senders that want delivery rates alone pace.
    pub(super) pacer: Pacer,
    /// Segments judged lost so far.
    pub(super) lost: u64,
    /// `Ack::lost_flight`.
    pub(super) lost_flight: Option<u64>,
    /// One for each outstanding segment.
    sent: Ring<Sent>,
    /// When the last segment was delivered.
    delivered_at: Picos,
    /// When the first segment of the sample to come was sent.
    first_sent: Picos,
}

impl DeliveryRate {
    /// Calls the oldest record into the cache, the place of the next, and number `reported`.
    #[inline]
    pub(super) fn prefetch(&self, reported: usize) {
        self.sent.prefetch(reported);
    }

    /// A segment goes. If it is the `first` while none is outstanding, the sample's intervals begin here.
    #[inline(always)]
    pub(super) fn begin_if(&mut self, first: bool, now: Picos) {
        if first {
            self.first_sent = now;
            self.delivered_at = now;
        }
    }

    /// The segment after all that are outstanding is sent now, `delivered` before it.
    #[inline(always)]
    pub(super) fn record_new(&mut self, delivered: u64, in_flight: u32) {
        self.sent.push_back(self.record(delivered, in_flight));
    }

    /// Outstanding segment number `index` is retransmitted now, `delivered` before it: its record is replaced.
    #[inline(always)]
    pub(super) fn record_again(&mut self, index: usize, delivered: u64, in_flight: u32) {
        self.sent[index] = self.record(delivered, in_flight);
    }

    #[inline(always)]
    fn record(&self, delivered: u64, in_flight: u32) -> Sent {
        let Self { lost, delivered_at, first_sent, .. } = *self;
        Sent { delivered_at, first_sent, delivered: delivered as u32, lost: lost as u32, in_flight }
    }

    /// The oldest so many segments are no longer outstanding.
    pub(super) fn forget(&mut self, count: usize) {
        self.sent.drop_oldest(count);
    }

    /// Gives back room that it no longer needs.
    pub(super) fn fit(&mut self) {
        self.sent.fit();
    }

    /// Outstanding segment number `index` is judged lost.
    pub(super) fn note_lost(&mut self, index: usize) {
        self.lost += 1;
        let Some(&Sent { lost, in_flight, .. }) = self.sent.get(index) else { return };
        let lost = self.lost - grown_from(lost, self.lost);
        if self.lost_flight.is_none() && too_many_lost(lost, in_flight.into()) {
            self.lost_flight = Some(in_flight.into());
        }
    }

    /// Segments have been delivered now.
    pub(super) fn note_delivery(&mut self, now: Picos) {
        self.delivered_at = now;
    }

    /// The sample that outstanding segment number `index`, last sent at `sent_at`, gives when it
    /// is delivered now, after `delivered` others; `None` where no time has passed.
    pub(super) fn sample(
        &mut self,
        index: usize,
        sent_at: Picos,
        now: Picos,
        delivered: u64,
    ) -> Option<RateSample> {
        let record = *self.sent.get(index)?;
        self.first_sent = sent_at;
        let interval = (sent_at - record.first_sent).max(now - record.delivered_at);
        let since = delivered - grown_from(record.delivered, delivered);
        (interval > 0).then_some(RateSample {
            delivered: since,
            interval,
            prior_delivered: delivered - since,
            tx_in_flight: record.in_flight.into(),
            prior_lost: grown_from(record.lost, self.lost),
            app_limited: false, // a flow has data until its end
        })
    }
}

/// The count whose low 32 bits are `low`, and which has since grown to `count`.
#[inline]
fn grown_from(low: u32, count: u64) -> u64 {
    count - u64::from((count as u32).wrapping_sub(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_known_from_its_low_bits() {
        for (before, after) in
            [(0, 0), (7, 9), (1 << 32, (1 << 32) + 3), (u64::from(u32::MAX), 1 << 32)]
        {
            assert_eq!(grown_from(before as u32, after), before);
        }
    }

    /// Of some hundred segments two are too many to lose: the flight of the second is told.
    #[test]
    fn the_first_segment_too_many_tells_its_flight() {
        let mut rates = DeliveryRate::default();
        (0..60).for_each(|sent| rates.record_new(0, 101 + sent));
        for (lost, told) in [(0, None), (1, Some(102)), (2, Some(102))] {
            rates.note_lost(lost);
            assert_eq!(rates.lost_flight, told);
        }
    }
}
