//! Dice: of the disciplines that drop at random, and of hosts.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

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
