//! Whole numbers, as the kernel counts: a processor without SSE 4.1 calls the C library for a double's.

use std::hint::select_unpredictable;

/// A count or a time below 2^63 as a double: from a signed number it takes one instruction.
#[inline]
pub fn double(x: u64) -> f64 {
    x as i64 as f64
}

/// In the middle of where doubles are just the whole numbers: what is added is rounded to one.
const WHOLE: f64 = (3_u64 << 51) as f64;

/// The whole number nearest to a double between -2^51 and 2^51.
#[inline]
fn nearest(x: f64) -> f64 {
    (x + WHOLE) - WHOLE
}

/// The whole number below it. Chosen without a branch: a processor cannot guess to which side a number is rounded.
#[inline]
pub fn whole_below(x: f64) -> f64 {
    let nearest = nearest(x);
    nearest - select_unpredictable(nearest > x, 1.0, 0.0)
}

/// The whole number above it.
#[inline]
pub fn whole_above(x: f64) -> f64 {
    let nearest = nearest(x);
    nearest + select_unpredictable(nearest < x, 1.0, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_round_as_the_library_does(x in prop_oneof![-4.0..4.0, -1e15..1e15], whole in 0..1_u64 << 51) {
            prop_assert_eq!((whole_below(x), whole_above(x)), (x.floor(), x.ceil()));
            prop_assert_eq!(double(whole), whole as f64);
            let whole = whole as f64;
            prop_assert_eq!((whole_below(whole), whole_above(whole)), (whole, whole));
        }
    }
}
