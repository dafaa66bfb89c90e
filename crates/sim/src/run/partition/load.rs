//! How much work each link is, as far as the configuration tells.

use crate::config::{Config, FlowSpec, Source};
use crate::time::SECOND;

/// What a segment costs at its sender, with its ACK, and at its receiver, in packets at queues (Abilene's fast
/// edge on two threads: 145 ns at a queue, 250 ns at both ends).
const SENDER: f64 = 1.2;
const RECEIVER: f64 = 0.5;
/// Rounds in which flows grow.
const ROUNDS: usize = 10;

/// Packets a second at each link, with what they cost at the senders and receivers next to it. Each flow begins
/// with the least of the equal shares of its links, and grows as far as all of them have room.
pub(super) fn packets_per_second(config: &Config) -> Vec<f64> {
    let mut flows = vec![0.0; config.links.len()];
    for flow in &config.flows {
        forward(config, flow).for_each(|link| flows[link] += 1.0);
    }
    let rate = |link: usize| config.links[link].served_bps();
    let limits: Vec<f64> = config.flows.iter().map(|flow| most_bps(config, flow)).collect();
    let begin = |(flow, &limit): (&FlowSpec, &f64)| {
        forward(config, flow).map(|link| rate(link) / flows[link]).fold(limit, f64::min)
    };
    let mut rates: Vec<f64> = config.flows.iter().zip(&limits).map(begin).collect();
    for _ in 0..ROUNDS {
        let mut used = vec![0.0; config.links.len()];
        for (flow, rate) in config.flows.iter().zip(&rates) {
            forward(config, flow).for_each(|link| used[link] += rate);
        }
        for ((flow, own), limit) in config.flows.iter().zip(&mut rates).zip(&limits) {
            let room = forward(config, flow).map(|link| rate(link) / used[link]);
            *own = (*own * room.fold(f64::INFINITY, f64::min)).min(*limit);
        }
    }
    work(config, &rates)
}

fn work(config: &Config, rates: &[f64]) -> Vec<f64> {
    let mut loads = vec![0.0; config.links.len()];
    for (flow, bps) in config.flows.iter().zip(rates) {
        let packets = bps / 8.0 / f64::from(flow.packet_bytes.max(1));
        let route = &config.routes[flow.route as usize];
        for &link in route.forward.iter().chain(&route.backward) {
            loads[link as usize] += packets;
        }
        loads[route.forward[0] as usize] += SENDER * packets;
        loads[route.forward[route.forward.len() - 1] as usize] += RECEIVER * packets;
    }
    loads
}

fn forward(config: &Config, flow: &FlowSpec) -> impl Iterator<Item = usize> {
    config.routes[flow.route as usize].forward.iter().map(|&link| link as usize)
}

/// A flow has no more: its access link's rate, and what it sends in the whole run.
fn most_bps(config: &Config, flow: &FlowSpec) -> f64 {
    let packets = match flow.source {
        Source::Segments(segments) => segments as f64,
        Source::Datagrams(first, end) => f64::from(end.saturating_sub(first)),
        Source::Until(_) | Source::Files(..) | Source::FilesUntil(..) => f64::INFINITY,
    };
    let seconds = (config.warmup + config.window) as f64 / SECOND as f64;
    (packets * f64::from(flow.packet_bytes) * 8.0 / seconds).min(flow.access_bps)
}
