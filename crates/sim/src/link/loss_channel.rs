//! A link that loses packets by chance (`LossSpec`).

use crate::config::{LossPlace, LossSpec, LossUnit};
use crate::rng::{RandomStream, stream_seed};

/// Draws of its own: whether a link loses packets changes no draw of its queue.
const STREAM: u64 = 0x10_55;

pub(super) struct LossChannel {
    spec: LossSpec,
    is_bad: bool,
    random: RandomStream,
    /// Packets lost since they were last taken.
    lost: u64,
}

impl LossChannel {
    /// In its steady state. `seed` is the link's.
    pub(super) fn new(spec: &LossSpec, seed: u64) -> Self {
        let mut random = RandomStream::new(stream_seed(seed, STREAM));
        let is_bad = random.uniform() < spec.share_bad();
        Self { spec: spec.clone(), is_bad, random, lost: 0 }
    }

    /// Whether a packet that comes to this place is lost.
    pub(super) fn loses(&mut self, place: LossPlace, bytes: u32) -> bool {
        if place != self.spec.place {
            return false;
        }
        self.step();
        let probability = self.probability(bytes);
        let lost = self.random.uniform() < probability;
        self.lost += u64::from(lost);
        lost
    }

    /// The next packet may find another state.
    fn step(&mut self) {
        if self.spec.good_to_bad > 0.0 {
            let change = if self.is_bad { self.spec.bad_to_good } else { self.spec.good_to_bad };
            self.is_bad ^= self.random.uniform() < change;
        }
    }

    fn probability(&self, bytes: u32) -> f64 {
        let each = if self.is_bad { self.spec.in_bad } else { self.spec.in_good };
        match self.spec.unit {
            LossUnit::Packet => each,
            LossUnit::Byte => -(f64::from(bytes) * (-each).ln_1p()).exp_m1(),
        }
    }

    /// Packets lost since the last call.
    pub(super) fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }
}
