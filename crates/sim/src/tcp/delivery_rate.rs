//! Samples of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation), for the controllers
//! that want them.

use crate::cc::RateSample;
use crate::ring::Ring;
use crate::time::Picos;

/// How far delivery and loss had come, in segments.
#[derive(Clone, Copy, Default)]
pub(super) struct DeliveryCounters {
    pub(super) delivered: u64,
    pub(super) lost: u64,
}

/// What a rate sample needs of a segment (section 3.2).
#[derive(Clone, Copy, Default)]
struct Sent {
    counters: DeliveryCounters,
    delivered_at: Picos,
    first_sent: Picos,
    in_flight: u64,
}

#[derive(Default)]
pub(super) struct DeliveryRate {
    /// Segments judged lost so far.
    pub(super) lost: u64,
    /// See `Scoreboard::pacing_timer_at`.
    pub(super) pacing_timer_at: Option<Picos>,
    /// One for each outstanding segment.
    sent: Ring<Sent>,
    /// When the last segment was delivered.
    delivered_at: Picos,
    /// When the first segment of the sample to come was sent.
    first_sent: Picos,
}

impl DeliveryRate {
    /// A segment goes while none is outstanding: the sample's intervals begin here.
    pub(super) fn begin(&mut self, now: Picos) {
        self.first_sent = now;
        self.delivered_at = now;
    }

    /// Outstanding segment number `index`, or the one after all of them, is sent now.
    pub(super) fn record(&mut self, index: usize, counters: DeliveryCounters, in_flight: u64) {
        let (delivered_at, first_sent) = (self.delivered_at, self.first_sent);
        let record = Sent { counters, delivered_at, first_sent, in_flight };
        match self.sent.get_mut(index) {
            Some(before) => *before = record,
            None => self.sent.push_back(record),
        }
    }

    /// The oldest so many segments are no longer outstanding.
    pub(super) fn forget(&mut self, count: usize) {
        self.sent.drop_oldest(count);
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
        (interval > 0).then_some(RateSample {
            delivered: delivered - record.counters.delivered,
            interval,
            prior_delivered: record.counters.delivered,
            tx_in_flight: record.in_flight,
            prior_lost: record.counters.lost,
            app_limited: false, // a flow has data until its end
        })
    }
}
