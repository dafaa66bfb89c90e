//! Which lost segment is retransmitted next: the first that waits. A search for it begins where none is passed
//! over, and passes over little that has been retransmitted: with many losses hundreds lie between one whose
//! retransmission was lost too and those that were lost once.

use super::sequence::unwrap_sequence;

/// Where the lost segments that wait to be retransmitted are sought.
#[derive(Default)]
pub(super) struct RetransmissionOrder {
    /// None below this waits.
    pub(super) from: u64,
    /// The search has come so far (low 32 bits): what waited below has been retransmitted.
    reached: u32,
    /// No more than so many below `reached` wait: those that were lost again, less those retransmitted since.
    again: u32,
}

impl RetransmissionOrder {
    /// All that wait lie from `seq` on, and the search reaches no further yet.
    pub(super) fn begin(seq: u64) -> Self {
        Self { from: seq, reached: seq as u32, again: 0 }
    }

    /// `seq` waits from now on, besides others.
    #[inline(always)]
    pub(super) fn wait(&mut self, seq: u64) {
        self.again += u32::from(self.has_reached(seq));
        self.from = self.from.min(seq);
    }

    /// `seq` is retransmitted, the first of those that waited.
    #[inline(always)]
    pub(super) fn retransmitted(&mut self, seq: u64) {
        self.from = seq + 1;
        if !self.has_reached(seq) {
            *self = Self::begin(seq + 1);
        } else {
            self.again = self.again.saturating_sub(1);
            if self.again == 0 {
                self.from = unwrap_sequence(seq, self.reached);
            }
        }
    }

    #[inline(always)]
    fn has_reached(&self, seq: u64) -> bool {
        ((seq as u32).wrapping_sub(self.reached) as i32) < 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Segments are lost, retransmitted or arrive after all.
        #[test]
        fn none_that_waits_is_passed_over(
            first in prop_oneof![Just(0), Just(u64::from(u32::MAX) - 50)],
            steps in prop::collection::vec((0_u8..5, 0_u64..100), 1..300),
        ) {
            let (mut order, mut waiting) = (RetransmissionOrder::default(), BTreeSet::new());
            for (step, seq) in steps {
                let seq = first + seq;
                match step {
                    0..=1 if waiting.is_empty() => order = RetransmissionOrder::begin(seq),
                    0..=1 if !waiting.contains(&seq) => order.wait(seq),
                    2..=3 => {
                        if let Some(&next) = waiting.first() {
                            order.retransmitted(next);
                            waiting.remove(&next);
                        }
                    }
                    _ => {}
                }
                match step {
                    0..=1 => { waiting.insert(seq); }
                    4 => { waiting.remove(&seq); }
                    _ => {}
                }
                prop_assert!(waiting.first().is_none_or(|&next| order.from <= next));
            }
        }
    }

    #[test]
    fn after_one_that_was_lost_again_the_search_goes_on_where_it_was() {
        let mut order = RetransmissionOrder::begin(10);
        (10..20).for_each(|seq| order.retransmitted(seq));
        [30, 12, 15].into_iter().for_each(|seq| order.wait(seq));
        assert_eq!(order.from, 12);
        order.retransmitted(12);
        assert_eq!(order.from, 13);
        order.retransmitted(15);
        assert_eq!(order.from, 20);
    }
}
