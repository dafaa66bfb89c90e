//! Log-linear histogram of spans of time.

use crate::time::Picos;

const SUB_BITS: u32 = 6;
/// Bins of values between two powers of two.
const OCTAVE: usize = 1 << SUB_BITS;

/// Counts values in bins whose width is at most 1/64 of their value. It keeps the octaves from the
/// least value to the largest that it has met, and the zeros apart: most histograms of a large
/// network hold few values.
#[derive(Clone, Default)]
pub struct Histogram {
    zeros: u64,
    /// The number of the first bin that is kept.
    first: usize,
    counts: Vec<u64>,
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Picos) {
        if value == 0 {
            self.zeros += 1;
            return;
        }
        let bin = bin(value);
        match self.counts.get_mut(bin.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => self.record_beyond(bin),
        }
    }

    /// Calls what counts a value into the cache.
    #[inline]
    pub fn prefetch(&self, value: Picos) {
        prefetch_index::prefetch_index(&self.counts, bin(value).wrapping_sub(self.first));
    }

    #[cold]
    #[inline(never)]
    fn record_beyond(&mut self, bin: usize) {
        self.reach(bin, bin + 1);
        self.counts[bin - self.first] += 1;
    }

    /// Keeps the octaves of the bins from `from` to before `to` too.
    fn reach(&mut self, from: usize, to: usize) {
        let from = from / OCTAVE * OCTAVE;
        if self.counts.is_empty() {
            self.first = from;
        }
        let ahead = self.first.saturating_sub(from);
        self.counts.splice(..0, std::iter::repeat_n(0, ahead));
        self.first -= ahead;
        let end = to.next_multiple_of(OCTAVE).max(self.first + self.counts.len());
        self.counts.resize(end - self.first, 0);
    }

    /// Counts all that `other` has counted.
    pub fn add(&mut self, other: &Self) {
        self.zeros += other.zeros;
        if other.counts.is_empty() {
            return;
        }
        self.reach(other.first, other.first + other.counts.len());
        let from = other.first - self.first;
        for (count, more) in self.counts[from..].iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// Counts by bin, from the first that holds any to the last.
    pub fn counts(&self) -> Vec<u64> {
        let count = |bin: usize| match bin.checked_sub(self.first) {
            _ if bin == 0 => self.zeros,
            Some(index) => self.counts[index],
            None => 0,
        };
        self.used().map(count).collect()
    }

    /// Lower edges of all bins of `counts`, and the upper edge of the last.
    pub fn edges(&self) -> Vec<Picos> {
        let used = self.used();
        (used.start..=used.end).map(lower_edge).collect()
    }

    /// The bins from the first that holds any to the last.
    fn used(&self) -> std::ops::Range<usize> {
        let holds = |count: &u64| *count > 0;
        let last = self.counts.iter().rposition(holds).map(|index| self.first + index);
        let first = self.counts.iter().position(holds).map(|index| self.first + index);
        let end = last.map_or(usize::from(self.zeros > 0), |last| last + 1);
        if self.zeros > 0 { 0..end } else { first.unwrap_or(0)..end }
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

    fn counted(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    proptest! {
        #[test]
        fn a_value_lies_within_its_bin(value in 0..(1_u64 << 62)) {
            let index = bin(value);
            prop_assert!(lower_edge(index) <= value && value < lower_edge(index + 1));
            prop_assert!((lower_edge(index + 1) - lower_edge(index)) as f64 <= (value as f64 / 64.0).max(1.0));
        }

        #[test]
        fn it_counts_each_value_once(
            values in prop::collection::vec(prop_oneof![Just(0), 0..100_u64, 0..(1_u64 << 62)], 0..40),
            split in 0..40_usize,
        ) {
            let mut both = counted(&values[..split.min(values.len())]);
            both.add(&counted(&values[split.min(values.len())..]));
            for histogram in [counted(&values), both] {
                let (counts, edges) = (histogram.counts(), histogram.edges());
                prop_assert_eq!(edges.len(), counts.len() + 1);
                prop_assert_eq!(counts.iter().sum::<u64>(), values.len() as u64);
                for (&count, edges) in counts.iter().zip(edges.windows(2)) {
                    let within = values.iter().filter(|&&v| edges[0] <= v && v < edges[1]).count();
                    prop_assert_eq!(count, within as u64);
                }
                prop_assert!(counts.first() != Some(&0) && counts.last() != Some(&0));
            }
        }
    }
}
