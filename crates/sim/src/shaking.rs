//! Hosts that are now faster, now slower: each segment is held up on its way to the receiver for a
//! random time, and none overtakes another of its flow.

use crate::chance::Chance;
use crate::config::Config;
use crate::time::Picos;

/// See the module's page.
pub(crate) struct Shaking {
    chance: Chance,
    /// By flow, until when its last segment was held up.
    until: Vec<Picos>,
}

impl Shaking {
    /// `None` where no class asks for it.
    pub(crate) fn of(config: &Config) -> Option<Self> {
        let asked = config.profiles.iter().any(|profile| profile.jitter > 0);
        // A stream that is none of the links': these begin from the seed and their numbers.
        let begin =
            || Self { chance: Chance::new(!config.seed), until: vec![0; config.flows.len()] };
        asked.then(begin)
    }

    /// When a segment that leaves the last queue at `at` goes on, which takes up to `jitter`.
    pub(crate) fn hold_up(&mut self, flow: u32, at: Picos, jitter: Picos) -> Picos {
        let until = &mut self.until[flow as usize];
        *until = (at + (self.chance.uniform() * jitter as f64) as Picos).max(*until);
        *until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_overtakes_another_of_its_flow_and_none_waits_longer() {
        let mut shaking = Shaking { chance: Chance::new(1), until: vec![0; 2] };
        let (mut last, mut waited_for_another) = ([0; 2], 0);
        for at in (0..1000).map(|i| 10 * i) {
            let flow = (at / 10 % 3 == 0) as usize;
            let until = shaking.hold_up(flow as u32, at, 100);
            assert!(last[flow] <= until && at <= until && until < at + 100);
            waited_for_another += u32::from(until == last[flow]);
            last[flow] = until;
        }
        assert!(waited_for_another > 100);
    }
}
