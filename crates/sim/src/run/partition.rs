//! Which links are simulated together, where one run uses several threads.
//!
//! A part of the network is a set of links, with the senders whose first queue is one of them and the
//! receivers whose last queue is. Nothing that happens in a part has an effect in another one sooner than
//! the lookahead: propagation and transmission of a packet from a link to the next one of its route, or
//! the time of an ACK on its way back, where the two ends are in different parts.

mod groups;
mod load;

use crate::config::{Config, FlowSpec, Source};
use crate::flow::ack_delays;
use crate::time::{Picos, SECOND, serialization};
use groups::Groups;
use load::packets_per_second;
use std::collections::HashMap;

/// The most parts: each has an outbox for every other.
const MAX_PARTS: usize = 64;
/// Packets at queues that a part handles between two exchanges with the others, at least: fewer would not pay for
/// the wait.
const LEAST_WORK: f64 = 500.0;
/// The largest part's work, as a multiple of the mean: up to the first the work is shared evenly, from the
/// second on too badly.
const EVEN: f64 = 1.1;
const MOST_UNEVEN: f64 = 1.5;

/// The parts of a network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Partition {
    /// How many.
    pub(crate) parts: usize,
    /// The part of each link.
    pub(crate) by_link: Vec<u8>,
    /// The least time from an event in one part to its effect in another.
    pub(crate) lookahead: Picos,
}

impl Partition {
    /// All links together.
    pub(crate) fn whole(config: &Config) -> Self {
        Self { parts: 1, by_link: vec![0; config.links.len()], lookahead: Picos::MAX }
    }

    /// Up to so many parts; fewer where more would not pay. Samples over time and captures are of the
    /// whole network; so is a record or a log of a file, which ends while other parts are at another time, and flows
    /// wait for each other.
    pub(crate) fn of(config: &Config, threads: usize) -> Self {
        let splits = config.trace.is_none()
            && !config.capture
            && config.barriers.is_empty()
            && ((!config.flow_records && config.logged_links == 0) || config.files.is_empty());
        let most = if splits { threads.min(MAX_PARTS).min(config.links.len()) } else { 1 };
        if most < 2 {
            return Self::whole(config);
        }
        let (effects, loads) = (effects(config), packets_per_second(config));
        let parts = (2..=most).rev().find_map(|parts| Self::in_parts(&effects, &loads, parts));
        parts.unwrap_or_else(|| Self::whole(config))
    }

    /// The parts of the longest lookahead that share the work evenly, else those that share it best; none
    /// where one part would have most of it, or all too little in the lookahead.
    fn in_parts(effects: &Effects, loads: &[f64], parts: usize) -> Option<Self> {
        let rate = loads.iter().sum::<f64>() / parts as f64 / SECOND as f64;
        let mut apart = effects.values().copied().max()?;
        let mut best = (MOST_UNEVEN, None);
        while apart as f64 * rate >= LEAST_WORK && best.0 > EVEN {
            let (by_link, uneven) = share_out(effects, loads, parts, apart);
            if uneven < best.0 {
                best = (uneven, Some(by_link));
            }
            apart /= 2;
        }
        let by_link = best.1?;
        Some(Self { parts, lookahead: lookahead(effects, &by_link), by_link })
    }
}

#[cfg(test)]
impl Partition {
    /// With the links in these parts.
    pub(crate) fn given(config: &Config, parts: usize, by_link: Vec<u8>) -> Self {
        Self { parts, lookahead: lookahead(&effects(config), &by_link), by_link }
    }
}

/// By two links, the least time from an event at one of them to its effect at the other.
type Effects = HashMap<(u32, u32), Picos>;

/// The part of each link, where those stay together of which one has an effect at the other in less time than
/// `apart`; and the largest part's work, as a multiple of the mean.
fn share_out(effects: &Effects, loads: &[f64], parts: usize, apart: Picos) -> (Vec<u8>, f64) {
    let mut groups = Groups::of(loads.len());
    for (&(from, to), _) in effects.iter().filter(|&(_, &time)| time < apart) {
        groups.join(from as usize, to as usize);
    }
    groups.share_out(loads, parts)
}

fn lookahead(effects: &Effects, by_link: &[u8]) -> Picos {
    let is_cut = |&(from, to): &(u32, u32)| by_link[from as usize] != by_link[to as usize];
    let cut = effects.iter().filter(|(links, _)| is_cut(links));
    cut.map(|(_, &time)| time).min().unwrap_or(Picos::MAX)
}

fn effects(config: &Config) -> Effects {
    let smallest = config.wire(1.0).smallest_packet; // looks at all flows
    let transmit = |link: u32| serialization(smallest, config.links[link as usize].peak_bps());
    let mut least = HashMap::new();
    let mut add = |(from, to), time: Picos| {
        let known = least.entry((from, to)).or_insert(time);
        *known = time.min(*known);
    };
    for route in &config.routes {
        for links in [&route.forward, &route.backward] {
            let pairs = links.windows(2).map(|pair| (pair[0], pair[1]));
            pairs
                .for_each(|pair| add(pair, transmit(pair.0) + config.links[pair.0 as usize].delay));
        }
    }
    for flow in &config.flows {
        let acks = ack_effects(config, flow, transmit);
        acks.for_each(|(links, time)| add(links, time));
        links_of_one_part(config, flow).for_each(|links| add(links, 0));
    }
    links_that_share_memory(config).for_each(|links| add(links, 0));
    least
}

/// From the last forward queue to where an ACK acts next, and from the last backward queue to the sender. An ACK that
/// was held back goes when its time has come, not when a packet has been transmitted.
fn ack_effects(
    config: &Config,
    flow: &FlowSpec,
    transmit: impl Fn(u32) -> Picos,
) -> impl Iterator<Item = ((u32, u32), Picos)> {
    let (first, last) = ends(config, flow);
    let back = &config.routes[flow.route as usize].backward;
    let (to_next, to_sender) = ack_delays(flow, config);
    let next = back.first().copied().unwrap_or(first);
    let there = back.last().map(|&queue| ((queue, first), transmit(queue) + to_sender));
    [Some(((last, next), to_next)), there].into_iter().flatten()
}

/// Sender and receiver of datagrams and of file after file have state in common, and the queues on the way
/// back that of lost ACKs.
fn links_of_one_part(config: &Config, flow: &FlowSpec) -> impl Iterator<Item = (u32, u32)> + use<> {
    let (first, last) = ends(config, flow);
    let together = !matches!(flow.source, Source::Segments(_));
    let mut links = config.routes[flow.route as usize].backward.clone();
    links.push(last);
    links.truncate(if together { links.len() } else { 0 });
    links.into_iter().map(move |link| (first, link))
}

fn links_that_share_memory(config: &Config) -> impl Iterator<Item = (u32, u32)> + '_ {
    let mut first_of = HashMap::new();
    (0..).zip(&config.links).filter_map(move |(index, link)| {
        let (pool, _) = link.pool?;
        Some((*first_of.entry(pool).or_insert(index), index))
    })
}

/// The first and the last forward queue of a flow.
fn ends(config: &Config, flow: &FlowSpec) -> (u32, u32) {
    let forward = &config.routes[flow.route as usize].forward;
    (forward[0], forward[forward.len() - 1])
}
