//! Whole numbers, as the kernel counts: a processor without SSE 4.1 calls the C library for a double's.

/// A count or a time below 2^63 as a double: from a signed number it takes one instruction.
#[inline]
pub fn double(x: u64) -> f64 {
    x as i64 as f64
}

/// The whole number below a double between -2^63 and 2^63.
#[inline]
pub fn whole_below(x: f64) -> f64 {
    let whole = x as i64 as f64;
    if whole > x { whole - 1.0 } else { whole }
}

/// The whole number above it.
#[inline]
pub fn whole_above(x: f64) -> f64 {
    let below = whole_below(x);
    if below < x { below + 1.0 } else { below }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_round_as_the_library_does(x in prop_oneof![-4.0..4.0, -1e15..1e15, -9e18..9e18], whole in 0..1_u64 << 52) {
            prop_assert_eq!((whole_below(x), whole_above(x)), (x.floor(), x.ceil()));
            prop_assert_eq!(double(whole), whole as f64);
            let whole = whole as f64;
            prop_assert_eq!((whole_below(whole), whole_above(whole)), (whole, whole));
        }
    }
}
