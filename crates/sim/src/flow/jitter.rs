//! Hosts whose speed varies: each segment is delayed between the last queue and the receiver for a
//! random time, and none overtakes another of its flow.

use crate::config::Config;
use crate::rng::{RandomStream, stream_seed};
use crate::time::Picos;

/// The random delay of each flow's segments before its receiver.
pub(crate) struct JitterDelays {
    /// By flow.
    flows: Vec<FlowJitter>,
}

/// A stream of a flow's own: what other flows do changes nothing of it.
#[derive(Clone)]
struct FlowJitter {
    random: RandomStream,
    /// Until when the last segment was delayed.
    until: Picos,
}

impl FlowJitter {
    fn new(seed: u64, flow: u64) -> Self {
        // Streams that are none of the links': these begin from the seed and their numbers.
        Self { random: RandomStream::new(stream_seed(!seed, flow)), until: 0 }
    }
}

impl JitterDelays {
    /// `None` where no class asks for it.
    pub(crate) fn of(config: &Config) -> Option<Self> {
        let asked = config.profiles.iter().any(|profile| profile.jitter > 0);
        let flows =
            || (0..config.flows.len() as u64).map(|flow| FlowJitter::new(config.seed, flow));
        asked.then(|| Self { flows: flows().collect() })
    }

    /// When a segment that leaves the last queue at `at` goes on, which takes up to `jitter`.
    pub(crate) fn delay_segment(&mut self, flow: u32, at: Picos, jitter: Picos) -> Picos {
        let FlowJitter { random, until } = &mut self.flows[flow as usize];
        *until = (at + (random.uniform() * jitter as f64) as Picos).max(*until);
        *until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_overtakes_another_of_its_flow_and_none_waits_longer() {
        let flows = (0..2).map(|flow| FlowJitter::new(1, flow)).collect();
        let (mut jitter_delays, mut last, mut waited_for_another) =
            (JitterDelays { flows }, [0; 2], 0);
        for at in (0..1000).map(|i| 10 * i) {
            let flow = (at / 10 % 3 == 0) as usize;
            let until = jitter_delays.delay_segment(flow as u32, at, 100);
            assert!(last[flow] <= until && at <= until && until < at + 100);
            waited_for_another += u32::from(until == last[flow]);
            last[flow] = until;
        }
        assert!(waited_for_another > 100);
    }

    #[test]
    fn what_other_flows_do_changes_nothing() {
        let delayed = |others: bool| {
            let mut jitter_delays =
                JitterDelays { flows: (0..2).map(|flow| FlowJitter::new(7, flow)).collect() };
            let mut next = |at| {
                if others {
                    jitter_delays.delay_segment(1, at, 90);
                }
                jitter_delays.delay_segment(0, at, 100)
            };
            (0..50).map(|i| next(10 * i)).collect::<Vec<_>>()
        };
        assert_eq!(delayed(false), delayed(true));
    }
}
