//! Choices that a kernel makes at random. Ours follow from the flow's seed, a count and the time of the
//! choice: the same run makes the same choices, and another seed or another flow makes others.

use crate::time::Picos;

/// Draws that follow from a seed, a count and the time of each.
#[derive(Default)]
pub struct HashChoice {
    seed: u64,
    count: u64,
}

impl HashChoice {
    /// Choices of a flow with this seed.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, count: 0 }
    }

    /// A number in [0, 1), from the seed, the count of choices so far and `now` in nanoseconds (finalizer of splitmix64):
    /// so that a module of the kernel beside it can make the same choices.
    pub fn fraction(&mut self, now: Picos) -> f64 {
        self.count += 1;
        let mut z = (now / 1000) ^ self.seed ^ self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of 0, 1, … `n` - 1.
    pub fn below(&mut self, n: u8, now: Picos) -> u8 {
        (self.fraction(now) * f64::from(n)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_repeatable_and_even() {
        let mut counts = [0_u32; 7];
        for i in 0..7000 {
            let now = i * 80_000_000;
            let choice = HashChoice::default().below(7, now);
            assert_eq!(choice, HashChoice::default().below(7, now));
            counts[usize::from(choice)] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }

    #[test]
    fn another_seed_makes_other_choices_as_evenly() {
        let mut counts = [0_u32; 7];
        for seed in 0..7000_u64 {
            let spread = seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
            counts[usize::from(HashChoice::seeded(spread).below(7, 80_000_000))] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }
}
