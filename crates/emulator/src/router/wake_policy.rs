//! The router's wake-up interval and number of threads.

use super::Router;
use super::stall_drops::shortest_drain;
use crate::plan::Plan;
use forebay_sim::time::{MICROSECOND, MILLISECOND, Picos};
use std::thread::available_parallelism;

/// Longest minimum interval.
const LONGEST_PAUSE: Picos = 50 * MICROSECOND;
/// Minimum intervals in the drain time of the shortest buffer.
const PAUSES_A_BUFFER: Picos = 100;
/// Packets per second from which one thread approaches the gate's limit (0.7 of a core, at
/// 11 to 15 µs for each packet with both TCP stacks).
const TWO_FROM: f64 = 30_000.0;
/// Longest sleep, which limits the time to stop.
const NAP: Picos = 50 * MILLISECOND;
/// Minimum time before delivery at which a second thread gets its packets; else there is none.
const LEAST_AHEAD: Picos = 2 * MILLISECOND;

/// Wake-up interval, longest sleep, and number of threads.
#[derive(Clone, Copy, Debug)]
pub struct WakePolicy {
    /// Minimum time between wake-ups: arming a timer and waking cost nearly as much as a packet.
    pub min_interval: Picos,
    /// The longest sleep. Two threads do not wake each other, so it is half of the time by
    /// which packets are posted in advance.
    pub max_sleep: Picos,
    /// Whether the right end has its own thread.
    pub two_threads: bool,
}

impl WakePolicy {
    /// For a plan and its router.
    pub fn of(plan: &Plan, router: &Router) -> Self {
        let links = || plan.links.iter();
        let fast =
            links().any(|link| link.rate_bps >= TWO_FROM * 8.0 * f64::from(link.packet_bytes));
        let cores = available_parallelism().map_or(1, usize::from);
        let min_last_hop_delay = router.min_last_hop_delay();
        let right_is_plain = router.acks_cross_no_queue() && !plan.receiver.offload;
        let two_threads = fast && cores > 1 && min_last_hop_delay >= LEAST_AHEAD && right_is_plain;
        Self {
            min_interval: LONGEST_PAUSE.min(shortest_drain(plan) / PAUSES_A_BUFFER),
            max_sleep: if two_threads { NAP.min(min_last_hop_delay / 2) } else { NAP },
            two_threads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{link, plan};
    use super::*;
    use forebay_sim::time::serialization;
    use serde_json::{Value, json};

    /// 622 Mbit/s in packets of 1500 B, 247 of them in 4.77 ms; round trips of 67 ms.
    fn fast() -> Value {
        let mut plan = plan(vec![link(247)], &[(&[0], &[])]);
        plan["links"][0]["rate_bps"] = json!(622e6);
        plan["flows"]["rtt_ps"] = json!([67 * MILLISECOND]);
        plan
    }

    fn of(plan: Value) -> WakePolicy {
        let plan: Plan = serde_json::from_value(plan).unwrap();
        WakePolicy::of(&plan, &Router::new(&plan).unwrap())
    }

    #[test]
    fn a_pause_is_a_hundredth_of_the_shortest_buffer_but_no_more_than_50_us() {
        let of_buffer = |packets| {
            let mut plan = fast();
            plan["links"][0]["buffer_packets"] = json!(packets);
            of(plan).min_interval
        };
        let packet = serialization(1500, 622e6);
        assert_eq!([28, 247].map(of_buffer), [packet * 28 / 100, packet * 247 / 100]);
        assert_eq!(of_buffer(1000), 50 * MICROSECOND);
    }

    #[test]
    fn two_threads_where_it_is_fast_and_they_need_not_wake_each_other() {
        let two_threads = available_parallelism().unwrap().get() > 1;
        assert_eq!(
            (of(fast()).two_threads, of(fast()).max_sleep),
            (two_threads, if two_threads { 16_750 } else { 50_000 } * MICROSECOND)
        );
        for (place, value) in [
            ("/links/0/rate_bps", json!(155e6)),
            ("/flows/rtt_ps", json!([3 * MILLISECOND])),
            ("/routes/0", json!([[0], [0]])),
            ("/classes/0/reverse", json!(true)),
            ("/receiver/offload", json!(true)),
        ] {
            let mut slow = fast();
            *slow.pointer_mut(place).unwrap() = value;
            let wake_policy = of(slow);
            assert_eq!((wake_policy.two_threads, wake_policy.max_sleep), (false, NAP), "{place}");
        }
    }
}
