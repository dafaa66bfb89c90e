//! Log-linear histogram of spans of time.

use crate::time::Picos;

const SUB_BITS: u32 = 6;

/// Counts values in bins whose width is at most 1/64 of their value; never allocates after `new`.
#[derive(Clone)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; ((65 - SUB_BITS) << SUB_BITS) as usize] }
    }
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Picos) {
        self.counts[bin(value)] += 1;
    }

    /// Counts all that `other` has counted.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// Counts per bin, up to the last bin that holds any.
    pub fn counts(&self) -> &[u64] {
        let used = self.counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        &self.counts[..used]
    }

    /// Lower edges of all bins of `counts`, and the upper edge of the last.
    pub fn edges(&self) -> Vec<Picos> {
        (0..=self.counts().len()).map(lower_edge).collect()
    }
}

#[inline]
fn bin(value: Picos) -> usize {
    let exponent = (value | (1 << SUB_BITS)).ilog2() - SUB_BITS;
    (((exponent as u64) << SUB_BITS) + (value >> exponent)) as usize
}

fn lower_edge(bin: usize) -> Picos {
    let (bin, sub) = (bin as u64, 1_u64 << SUB_BITS);
    let exponent = (bin / sub).saturating_sub(1);
    (bin - exponent * sub).checked_shl(exponent as u32).unwrap_or(Picos::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_lies_within_its_bin(value in 0..(1_u64 << 62)) {
            let index = bin(value);
            prop_assert!(lower_edge(index) <= value && value < lower_edge(index + 1));
            prop_assert!((lower_edge(index + 1) - lower_edge(index)) as f64 <= (value as f64 / 64.0).max(1.0));
        }
    }
}
