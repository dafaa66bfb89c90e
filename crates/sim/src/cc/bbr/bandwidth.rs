//! A bandwidth in the kernel's unit.

use super::super::rounding::double;
use crate::time::{MICROSECOND, Picos};

/// Segments a second of the kernel's unit: 2^-24 segments a microsecond (BW_UNIT).
const UNIT: f64 = 1e6 / (1_u64 << 24) as f64;

/// `delivered` segments in `interval`, which the kernel knows in whole microseconds, rounded down to its unit; in
/// segments a second.
#[inline]
pub(super) fn bandwidth(delivered: u64, interval: Picos) -> f64 {
    let microseconds = (interval / MICROSECOND).max(1);
    double((delivered << 24) / microseconds) * UNIT
}

/// A bandwidth rounded down to the unit.
pub(super) fn whole(bandwidth: f64) -> f64 {
    (bandwidth / UNIT).floor() * UNIT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;

    /// 10 segments in 89.6081 ms: 10 2^24 / 89608 = 1872 units, of 0.0596 segments a second.
    #[test]
    fn it_is_whole_in_the_kernels_unit() {
        let interval = 896_081 * MICROSECOND / 10;
        assert_eq!(bandwidth(10, interval), 1872.0 * 1e6 / 16_777_216.0);
        let exact = 10.0 * SECOND as f64 / interval as f64;
        assert!(bandwidth(10, interval) <= exact && exact < bandwidth(10, interval) + UNIT);
    }
}
