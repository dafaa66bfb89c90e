//! How wide a slot of the event queue is, and how far its wheel reaches.

use crate::cc::Cc;
use crate::config::{Config, FlowSpec, Route};
use crate::events::Wheel;
use crate::fast::many_flows::exceed_cache;
use crate::fast::sole_dequeue::SoleDequeue;
use crate::time::{Picos, serialization};

/// An event queue for what `config` has on its way.
pub(crate) fn wheel(config: &Config) -> Wheel {
    let (width, horizon) = (slot_width(config), horizon(config));
    if config.routes.iter().all(Route::has_one_link) {
        Wheel::new(width, horizon)
    } else if exceed_cache(config.flows.len()) && crosses_several_links(config) {
        Wheel::for_large_network(width, horizon)
    } else {
        Wheel::for_network(width, horizon)
    }
}

/// Some flow's packets do.
fn crosses_several_links(config: &Config) -> bool {
    config.flows.iter().any(|flow| !config.routes[flow.route as usize].has_one_link())
}

/// Slots at most a quarter as wide as the time between two events of all links together, which is what
/// it takes a packet to pass each, or half where receivers delay their ACKs: few events share a slot. A
/// quarter of that where pacing or dequeues need events too.
fn slot_width(config: &Config) -> Picos {
    let bytes = config.flows.iter().map(|flow| flow.packet_bytes).min().unwrap_or(1500);
    let rate_bps = config.links.iter().map(|link| link.rate_bps).sum::<f64>().max(1.0);
    let delayed = config.profiles.iter().all(|profile| profile.delayed_ack.is_some());
    let paced = |flow: &FlowSpec| Cc::by_name(flow.congestion_control).is_some_and(|cc| cc.paced());
    let further = config.flows.iter().any(paced)
        || config.links.iter().any(|link| link.queue.decides_at_dequeue())
            && !SoleDequeue::of(config).exists();
    serialization(bytes, rate_bps) / if delayed { 2 } else { 4 } / if further { 4 } else { 1 }
}

/// Far enough for round trips. Timers lie beyond.
fn horizon(config: &Config) -> Picos {
    config.flows.iter().map(|flow| flow.rtt).max().unwrap_or(0)
}
