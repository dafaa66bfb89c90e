//! Segments that have arrived out of order, as a bitmap from the next one expected.

const WORD: u32 = u64::BITS;

/// Empty while nothing is missing.
#[derive(Default)]
pub struct Reassembly {
    /// Bit i: segment `expected + i` has arrived.
    near: u64,
    /// The same from 64 on, the last word not 0; `None` while nothing has arrived so far ahead.
    #[allow(clippy::box_collection)] // 8 bytes in every flow instead of 24
    far: Option<Box<Vec<u64>>>,
}

impl Reassembly {
    /// Whether nothing has arrived beyond what is missing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        (self.near == 0) & self.far.is_none()
    }

    /// Whether segment `expected + offset` has arrived.
    pub fn contains(&self, offset: u64) -> bool {
        let (word, bit) = (offset / u64::from(WORD), offset % u64::from(WORD));
        let far = || self.far.as_ref().and_then(|far| far.get(word as usize - 1)).copied();
        let bits = if word == 0 { self.near } else { far().unwrap_or(0) };
        bits >> bit & 1 == 1
    }

    /// Segment `expected + offset` has arrived, modulo 2^64: one below what is expected is no news.
    /// Gives by how many `expected` thereby moves on. Whether it is the expected one is often no
    /// better than chance, so no branch asks.
    #[inline(always)]
    pub fn insert(&mut self, offset: u64) -> u64 {
        if offset >= u64::from(WORD) || self.far.is_some() {
            return self.insert_slowly(offset);
        }
        let near = self.near | 1 << offset;
        let run = near.trailing_ones();
        // Without the run, so that a shift by 64 and one by 0 are the same.
        self.near = (near & near.wrapping_add(1)).wrapping_shr(run);
        run.into()
    }

    /// `insert` where a word is not enough.
    #[inline(never)]
    fn insert_slowly(&mut self, offset: u64) -> u64 {
        if offset > u64::MAX / 2 {
            return 0;
        }
        if offset >= u64::from(WORD) {
            self.insert_far(offset - u64::from(WORD));
            return 0;
        }
        self.near |= 1 << offset;
        let mut passed = 0;
        while self.near & 1 == 1 {
            let run = self.near.trailing_ones();
            passed += u64::from(run);
            self.shift(run);
        }
        passed
    }

    fn insert_far(&mut self, offset: u64) {
        let (word, bit) = ((offset / u64::from(WORD)) as usize, offset % u64::from(WORD));
        let far = self.far.get_or_insert_default();
        if far.len() <= word {
            far.resize(word + 1, 0);
        }
        far[word] |= 1 << bit;
    }

    /// Moves every bit down by `run`, from 1 to 64.
    #[inline]
    fn shift(&mut self, run: u32) {
        self.near = self.near.checked_shr(run).unwrap_or(0);
        if self.far.is_some() {
            self.shift_far(run);
        }
    }

    fn shift_far(&mut self, run: u32) {
        let Some(far) = &mut self.far else { return };
        let mut above = 0;
        for word in far.iter_mut().rev() {
            let whole = *word;
            *word = whole.checked_shr(run).unwrap_or(0) | above;
            above = whole << (WORD - run);
        }
        self.near |= above;
        while far.last() == Some(&0) {
            far.pop();
        }
        if far.is_empty() {
            self.far = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_as_a_set(arrivals in prop::collection::vec(0_u64..400, 0..600)) {
            let (mut reassembly, mut expected) = (Reassembly::default(), 0);
            let mut model = BTreeSet::new();
            for offset in arrivals {
                model.insert(expected + offset);
                let before = expected;
                expected += reassembly.insert(offset);
                prop_assert!((before..expected).all(|seq| model.contains(&seq)));
                prop_assert!(!model.contains(&expected));
                let known = (expected..expected + 500).all(|seq| {
                    reassembly.contains(seq - expected) == model.contains(&seq)
                });
                prop_assert!(known);
                prop_assert_eq!(reassembly.is_empty(), model.range(expected..).next().is_none());
            }
        }
    }

    #[test]
    fn one_below_what_is_expected_is_no_news() {
        let mut reassembly = Reassembly::default();
        for far in [1, 100] {
            reassembly.insert(far);
            assert_eq!(reassembly.insert(0_u64.wrapping_sub(5)), 0);
        }
        assert_eq!(reassembly.insert(0), 2);
    }

    #[test]
    fn a_whole_word_moves_at_once() {
        let mut reassembly = Reassembly::default();
        assert_eq!((1..200).map(|offset| reassembly.insert(offset)).sum::<u64>(), 0);
        assert_eq!(reassembly.insert(0), 200);
        assert!(reassembly.is_empty());
    }
}
