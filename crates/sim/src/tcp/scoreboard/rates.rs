//! What a scoreboard says of delivery rates, for the controllers that want them.

use super::Scoreboard;
use crate::cc::RateSample;
use crate::fast::flow_kind::FlowKind;
use crate::tcp::delivery_rate::DeliveryRate;
use crate::tcp::pacer::Pacer;
use crate::tcp::segment::SACKED;
use crate::time::Picos;

impl Scoreboard {
    /// The pacer; `None` for a sender that does not pace. One that does wants delivery rates.
    #[inline(always)]
    pub fn pacer(&mut self) -> Option<&mut Pacer> {
        self.all_rates().map(|rates| &mut rates.pacer)
    }

    /// Delivery rates, for a controller that wants them.
    #[inline(always)]
    pub(in crate::tcp) fn rates<K: FlowKind>(&mut self) -> Option<&mut DeliveryRate> {
        if K::PACED { self.all_rates() } else { None }
    }

    /// The oldest `count` segments, sent at the latest at `last`, have just been taken off, up to `next`
    /// (`take_in_order`). Gives the delivery rate that the last of them tells of.
    #[inline]
    pub(in crate::tcp) fn rate_in_order<K: FlowKind>(
        &mut self,
        next: u64,
        count: u32,
        last: Picos,
        now: Picos,
    ) -> Option<RateSample> {
        let rates = self.rates::<K>()?;
        let before = next - u64::from(count);
        let rate = rates.sample(count as usize - 1, last, now, before);
        rates.forget(count as usize);
        rates.note_delivery(now);
        rate.map(|rate| rate.and(count))
    }

    /// The delivery rate that `seq` tells of, which was sent at `sent` and alone has just been SACKed.
    #[inline(always)]
    pub(in crate::tcp) fn rate_of_sacked<K: FlowKind>(
        &mut self,
        una: u64,
        seq: u64,
        sent: Picos,
        now: Picos,
    ) -> Option<RateSample> {
        let before = self.delivered_total(una) - 1;
        let rates = self.rates::<K>()?;
        let rate = rates.sample((seq - una) as usize, sent, now, before);
        rates.note_delivery(now);
        rate.map(|rate| rate.and(1))
    }

    /// The delivery rate that `seq` tells of, less what its ACK delivers; `None` where it is no
    /// longer outstanding, or SACKed, or the controller does not want it.
    #[inline(always)]
    pub(in crate::tcp) fn rate<K: FlowKind>(
        &mut self,
        una: u64,
        seq: u64,
        now: Picos,
    ) -> Option<RateSample> {
        let delivered = self.delivered_total(una);
        let index = seq.checked_sub(una).filter(|_| K::PACED)? as usize;
        let segment = *self.segments.get(index).filter(|segment| !segment.is(SACKED))?;
        self.rates::<K>()?.sample(index, segment.sent(), now, delivered)
    }

    /// Segments have been delivered now.
    #[inline]
    pub(in crate::tcp) fn note_delivery<K: FlowKind>(&mut self, now: Picos) {
        if let Some(rates) = self.rates::<K>() {
            rates.note_delivery(now);
        }
    }

    /// Segments judged lost so far, for controllers that want delivery rates.
    pub fn lost_total(&self) -> u64 {
        self.rates_read().map_or(0, |rates| rates.lost)
    }

    /// `Ack::lost_flight`.
    pub(in crate::tcp) fn lost_flight(&self) -> Option<u64> {
        self.rates_read().and_then(|rates| rates.lost_flight)
    }

    /// The controller has heard of it.
    pub(in crate::tcp) fn forget_lost_flight(&mut self) {
        if let Some(rates) = self.all_rates() {
            rates.lost_flight = None;
        }
    }

    /// Outstanding segment number `index` is judged lost.
    #[inline]
    pub(super) fn note_lost(&mut self, index: usize) {
        if let Some(rates) = self.all_rates() {
            rates.note_lost(index);
        }
    }
}
