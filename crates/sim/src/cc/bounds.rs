//! Bounds of doubles that are numbers: `f64::max` asks for each whether it is NaN, seven instructions instead
//! of one.

/// Neither number is NaN.
pub trait Bounds {
    /// The larger of both.
    fn at_least(self, least: Self) -> Self;
    /// The smaller of both.
    fn at_most(self, most: Self) -> Self;
}

impl Bounds for f64 {
    #[inline(always)]
    fn at_least(self, least: Self) -> Self {
        if self > least { self } else { least }
    }

    #[inline(always)]
    fn at_most(self, most: Self) -> Self {
        if self < most { self } else { most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_bound_as_the_library_does() {
        let numbers = [0.0, 1.0, 2.5, 1e300, f64::INFINITY];
        for one in numbers {
            for other in numbers {
                assert_eq!(one.at_least(other), one.max(other));
                assert_eq!(one.at_most(other), one.min(other));
            }
        }
    }
}
