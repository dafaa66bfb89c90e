//! The three highest segments that have been SACKed: RFC 6675's IsLost asks for the third.

pub(super) const DUP_THRESH: usize = 3;

/// One past each of them.
#[derive(Default)]
pub(super) struct HighestSacked {
    /// The highest; 0 where there is none.
    pub(super) first: u64,
    /// So far below it are the second and the third, if they are kept; they reach down to 0 where there is none.
    below: [u32; DUP_THRESH - 1],
}

impl HighestSacked {
    /// The third.
    pub(super) fn third(&self) -> u64 {
        self.first.saturating_sub(self.below[DUP_THRESH - 2].into())
    }

    /// One more is SACKed, which ends at `edge`. Keeps all three.
    #[inline]
    pub(super) fn rank(&mut self, edge: u64) {
        let [second, third] = self.below;
        if edge > self.first {
            let rise = u32::try_from(edge - self.first).unwrap_or(u32::MAX);
            self.first = edge;
            self.below = [rise, second.saturating_add(rise)];
        } else {
            let below = u32::try_from(self.first - edge).unwrap_or(u32::MAX);
            self.below = [second.min(below), third.min(second.max(below))];
        }
    }

    /// One more is SACKed, which ends at `edge`. Keeps only the first, where nobody asks for the others.
    #[inline(always)]
    pub(super) fn rank_first(&mut self, edge: u64) {
        self.first = self.first.max(edge);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_three_highest_are_kept(edges in prop::collection::vec(1_u64..400, 1..40)) {
            let (mut ranked, mut seen) = (HighestSacked::default(), BTreeSet::new());
            let mut alone = HighestSacked::default();
            for edge in edges {
                if seen.insert(edge) {
                    ranked.rank(edge);
                    alone.rank_first(edge);
                }
                let expected: Vec<u64> = seen.iter().rev().copied().chain([0, 0]).take(3).collect();
                let second = ranked.first - u64::from(ranked.below[0]);
                prop_assert_eq!(vec![ranked.first, second, ranked.third()], expected);
                prop_assert_eq!(alone.first, ranked.first);
            }
        }
    }
}
