//! A link behind whose wire packets are delayed by chance (`JitterSpec`).

use crate::config::JitterSpec;
use crate::rng::{RandomStream, stream_seed};
use crate::time::Picos;

/// Draws of its own: jitter changes no draw of the queue.
const STREAM: u64 = 0x71_77;

pub(super) struct LinkJitter {
    spec: JitterSpec,
    random: RandomStream,
    /// When the last packet went on that no other may overtake.
    last: Picos,
}

impl LinkJitter {
    /// `seed` is the link's.
    pub(super) fn new(spec: &JitterSpec, seed: u64) -> Self {
        let random = RandomStream::new(stream_seed(seed, STREAM));
        Self { spec: spec.clone(), random, last: 0 }
    }

    /// When a packet goes on that leaves the wire at `departs`.
    pub(super) fn goes_on_at(&mut self, departs: Picos, is_ack: bool) -> Picos {
        let at = departs + self.draw();
        if self.spec.reorders && !is_ack {
            return at;
        }
        self.last = self.last.max(at);
        self.last
    }

    fn draw(&mut self) -> Picos {
        if self.spec.share < 1.0 && self.random.uniform() >= self.spec.share {
            return 0;
        }
        (self.random.uniform() * self.spec.most as f64) as Picos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When packets go on that leave the wire 10 ps apart.
    fn times(spec: &JitterSpec, acks: bool) -> Vec<Picos> {
        let mut jitter = LinkJitter::new(spec, 1);
        (0..2000).map(|n| jitter.goes_on_at(10 * n, acks)).collect()
    }

    #[test]
    fn none_overtakes_another_unless_it_may_and_acks_never_do() {
        let may = JitterSpec { most: 100, share: 1.0, reorders: true };
        let must_not = JitterSpec { reorders: false, ..may.clone() };
        assert!(!times(&may, false).is_sorted());
        assert!(times(&may, true).is_sorted() && times(&must_not, false).is_sorted());
        for spec in [may, must_not] {
            let late = times(&spec, false).into_iter().zip(0..).map(|(at, n)| at - 10 * n);
            assert!(late.max().is_some_and(|most| (90..100).contains(&most)));
        }
    }

    #[test]
    fn a_share_of_the_packets_is_delayed() {
        let spec = JitterSpec { most: 1000, share: 0.1, reorders: true };
        let late = times(&spec, false).into_iter().zip(0..).filter(|&(at, n)| at > 10 * n).count();
        assert!((140..260).contains(&late), "{late}");
    }
}
