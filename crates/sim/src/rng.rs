//! Dice: of the disciplines that drop at random, and of hosts.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The seed of one of many streams of a run.
pub(crate) fn stream_seed(seed: u64, stream: u64) -> u64 {
    seed ^ (stream + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A stream of its own, so that one's draws disturb nobody else's.
#[derive(Clone, Debug)]
pub(crate) struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform over the multiples of 2^-53 in [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
