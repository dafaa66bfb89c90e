//! Hosts that are now faster, now slower: each segment is held up on its way to the receiver for a
//! random time, and none overtakes another of its flow.

use crate::chance::Chance;
use crate::config::Config;
use crate::time::Picos;

/// See the module's page.
pub(crate) struct Shaking {
    /// By flow.
    hosts: Vec<Host>,
}

/// A stream of a flow's own: what other flows do changes nothing of it.
#[derive(Clone)]
struct Host {
    chance: Chance,
    /// Until when the last segment was held up.
    until: Picos,
}

impl Host {
    fn new(seed: u64, flow: u64) -> Self {
        // Streams that are none of the links': these begin from the seed and their numbers.
        let spread = (flow + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { chance: Chance::new(!seed ^ spread), until: 0 }
    }
}

impl Shaking {
    /// `None` where no class asks for it.
    pub(crate) fn of(config: &Config) -> Option<Self> {
        let asked = config.profiles.iter().any(|profile| profile.jitter > 0);
        let hosts = || (0..config.flows.len() as u64).map(|flow| Host::new(config.seed, flow));
        asked.then(|| Self { hosts: hosts().collect() })
    }

    /// When a segment that leaves the last queue at `at` goes on, which takes up to `jitter`.
    pub(crate) fn hold_up(&mut self, flow: u32, at: Picos, jitter: Picos) -> Picos {
        let Host { chance, until } = &mut self.hosts[flow as usize];
        *until = (at + (chance.uniform() * jitter as f64) as Picos).max(*until);
        *until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_overtakes_another_of_its_flow_and_none_waits_longer() {
        let hosts = (0..2).map(|flow| Host::new(1, flow)).collect();
        let (mut shaking, mut last, mut waited_for_another) = (Shaking { hosts }, [0; 2], 0);
        for at in (0..1000).map(|i| 10 * i) {
            let flow = (at / 10 % 3 == 0) as usize;
            let until = shaking.hold_up(flow as u32, at, 100);
            assert!(last[flow] <= until && at <= until && until < at + 100);
            waited_for_another += u32::from(until == last[flow]);
            last[flow] = until;
        }
        assert!(waited_for_another > 100);
    }

    #[test]
    fn what_other_flows_do_changes_nothing() {
        let held_up = |others: bool| {
            let mut shaking = Shaking { hosts: (0..2).map(|flow| Host::new(7, flow)).collect() };
            let mut next = |at| {
                if others {
                    shaking.hold_up(1, at, 90);
                }
                shaking.hold_up(0, at, 100)
            };
            (0..50).map(|i| next(10 * i)).collect::<Vec<_>>()
        };
        assert_eq!(held_up(false), held_up(true));
    }
}
