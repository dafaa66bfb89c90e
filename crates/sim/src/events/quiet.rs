//! Until when nothing happens.

use super::Wheel;
use crate::time::Picos;

impl Wheel {
    /// Nothing is due before this: 0 where a search would take long.
    #[inline]
    pub fn quiet_until(&self) -> Picos {
        let bits = self.occupied_from(self.cursor);
        if bits == 0 {
            return match &self.buckets {
                Some(buckets) => buckets.quiet_until(),
                None => (self.cursor + 63) << self.shift,
            };
        }
        let next = self.cursor + u64::from(bits.trailing_zeros());
        self.slots[self.index(next)].at
    }
}
