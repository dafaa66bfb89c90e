//! How wide a slot of the event queue is, and how far its wheel reaches.

use crate::config::{Config, LinkSpec, Route};
use crate::events::Wheel;
use crate::fast::many_flows::exceed_cache;
use crate::fast::sole_dequeue::SoleDequeue;
use crate::time::{Picos, serialization};

/// An event queue for what `config` has on its way.
pub(crate) fn wheel(config: &Config) -> Wheel {
    let (width, horizon) = (slot_width(config), horizon(config));
    let in_cache = !exceed_cache(config.flows.len());
    if config.routes.iter().all(Route::has_one_link) {
        if in_cache && Wheel::holds(width, horizon) {
            Wheel::new(width, horizon)
        } else {
            Wheel::for_large_link(width, horizon)
        }
    } else if in_cache {
        Wheel::for_network(width, horizon)
    } else {
        Wheel::for_large_network(width, horizon)
    }
}

/// Slots at most a quarter as wide as the time between two events of all links together, which is what
/// it takes a packet to pass each, or half where receivers delay their ACKs: few events share a slot. A
/// quarter of that where pacing or dequeues need events too.
fn slot_width(config: &Config) -> Picos {
    let bytes = config.flows.iter().map(|flow| flow.packet_bytes).min().unwrap_or(1500);
    let rate_bps = carried_bps(config).max(1.0);
    let delayed = config.profiles.iter().all(|profile| profile.delayed_ack.is_some());
    let further = config.paces()
        || config.links.iter().any(|link| link.queue.decides_at_dequeue())
            && !SoleDequeue::of(config).exists();
    serialization(bytes, rate_bps) / if delayed { 2 } else { 4 } / if further { 4 } else { 1 }
}

/// What all links together can carry: a link that packets only reach over others, no more than these send.
fn carried_bps(config: &Config) -> f64 {
    let mut before = vec![Vec::new(); config.links.len()];
    let mut is_first = vec![false; config.links.len()];
    for way in config.routes.iter().flat_map(|route| [&route.forward, &route.backward]) {
        way.first().iter().for_each(|&&first| is_first[first as usize] = true);
        way.windows(2).for_each(|pair| before[pair[1] as usize].push(pair[0]));
    }
    let carried = |(index, link): (usize, &LinkSpec)| {
        let mut from = before[index].clone();
        from.sort_unstable();
        from.dedup();
        let comes = from.iter().map(|&each| config.links[each as usize].rate_bps).sum::<f64>();
        if is_first[index] { link.rate_bps } else { link.rate_bps.min(comes) }
    };
    config.links.iter().enumerate().map(carried).sum()
}

/// Far enough for round trips, and what jitter adds to them. Timers lie beyond.
fn horizon(config: &Config) -> Picos {
    let jitter = config.links.iter().filter_map(|link| link.jitter.as_ref()).map(|each| each.most);
    config.flows.iter().map(|flow| flow.rtt).max().unwrap_or(0) + jitter.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FlowSpec, JitterSpec, Source};
    use crate::queue::fifo::PfifoParams;
    use crate::queue::registry::QueueSpec;
    use crate::tcp::profile::Profile;
    use crate::time::MILLISECOND;

    /// One flow over links of these rates.
    fn over(rates: &[f64]) -> Config {
        let queue = QueueSpec::Pfifo(PfifoParams { limit: 10 });
        let link = |&rate_bps: &f64| LinkSpec::plain(rate_bps, queue.clone());
        let flow = FlowSpec {
            class: 0,
            route: 0,
            congestion_control: "reno",
            rtt: MILLISECOND,
            start: 0,
            source: Source::Segments(1),
            packet_bytes: 1500,
            access_bps: 1e9,
        };
        let forward = (0..rates.len() as u32).collect();
        Config {
            links: rates.iter().map(link).collect(),
            pools: vec![],
            seed: 1,
            routes: vec![Route { forward, backward: vec![] }],
            profiles: vec![Profile::ns2()],
            flows: vec![flow],
            datagrams: vec![],
            files: vec![],
            barriers: vec![],
            warmup: 0,
            window: MILLISECOND,
            batches: 1,
            trace: None,
            capture: false,
            flow_records: false,
            logged_links: 0,
            foreign: Default::default(),
        }
    }

    /// The slots were those of the fast link: 1 s of a link of 13 Mbit/s before it took 10⁷ steps of the wheel.
    #[test]
    fn a_link_behind_others_has_no_more_events_than_they() {
        assert!(slot_width(&over(&[13e6, 1e14])) * 2 >= slot_width(&over(&[13e6])));
        assert_eq!(slot_width(&over(&[1e14, 13e6])), slot_width(&over(&[1e14])));
        assert_eq!(carried_bps(&over(&[10e6, 4e6, 1e9])), 18e6);
    }

    #[test]
    fn the_wheel_reaches_as_far_as_jitter_delays() {
        let mut config = over(&[13e6]);
        let reaches = horizon(&config);
        let jitter = JitterSpec { most: 7 * MILLISECOND, share: 0.1, reorders: false };
        config.links[0].jitter = Some(jitter);
        assert_eq!(horizon(&config), reaches + 7 * MILLISECOND);
    }
}
