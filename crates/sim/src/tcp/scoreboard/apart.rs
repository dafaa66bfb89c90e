//! What few flows need of a scoreboard: behind one pointer, it leaves the others three lines of the cache.

use super::Scoreboard;
use crate::tcp::delivery_rate::DeliveryRate;
use crate::tcp::reordering_state::Reordering;
use prefetch_index::prefetch_index;
use std::slice::from_ref;

/// What few flows need.
#[derive(Default)]
pub(super) struct Apart {
    /// For controllers that want the delivery rate.
    rates: Option<DeliveryRate>,
    /// Of a flow over a link that reorders.
    reordering: Option<Reordering>,
    /// No last segment is taken as lost again before all below this have arrived (RFC 6675's RescueRxt).
    rescued_to: u64,
}

impl Apart {
    /// Of a flow whose controller wants the delivery rate.
    pub(super) fn with_rates() -> Box<Self> {
        Box::new(Self { rates: Some(DeliveryRate::default()), ..Self::default() })
    }

    /// Calls the delivery rates into the cache, which fill two lines.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_index(from_ref(&self.rates), 0);
        prefetch_index(from_ref(&self.rescued_to), 0);
    }
}

impl Scoreboard {
    /// What a flow over a link that reorders has learned of it.
    #[inline]
    pub(in crate::tcp) fn reordering(&self) -> Option<&Reordering> {
        self.apart.as_ref()?.reordering.as_ref()
    }

    /// The same, to change it.
    #[inline]
    pub(in crate::tcp) fn reordering_mut(&mut self) -> Option<&mut Reordering> {
        self.apart.as_mut()?.reordering.as_mut()
    }

    /// The same, taken out while the scoreboard changes beside it.
    pub(in crate::tcp) fn take_reordering(&mut self) -> Option<Reordering> {
        self.apart.as_mut()?.reordering.take()
    }

    /// Put back, or begun.
    pub(in crate::tcp) fn keep_reordering(&mut self, state: Reordering) {
        self.apart.get_or_insert_default().reordering = Some(state);
    }

    /// The last segment, `recover` - 1 or later, was not taken as lost in this recovery; it now is.
    pub(in crate::tcp) fn rescues(&mut self, una: u64, recover: u64) -> bool {
        let apart = self.apart.get_or_insert_default();
        let first = una >= apart.rescued_to;
        apart.rescued_to = recover.max(apart.rescued_to);
        first
    }

    /// Delivery rates, whatever the kind of flow.
    #[inline(always)]
    pub(super) fn all_rates(&mut self) -> Option<&mut DeliveryRate> {
        self.apart.as_mut()?.rates.as_mut()
    }

    /// The same, to read.
    pub(super) fn rates_read(&self) -> Option<&DeliveryRate> {
        self.apart.as_ref()?.rates.as_ref()
    }
}
