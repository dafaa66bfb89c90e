//! What other parts have counted, for the readings of the whole network.

use crate::config::Config;
use crate::flow::Flow;
use crate::network::Network;
use crate::run::event_loop::Simulation;
use crate::run::partition::Partition;
use std::mem::{swap, take};

/// Brings what the other parts have counted, and their links, senders and receivers into the first one; done
/// again, takes the latter three back.
pub(super) fn swap_into_first(parts: &mut [Simulation], config: &Config, partition: &Partition) {
    let Some((first, others)) = parts.split_first_mut() else { return };
    for other in others {
        let number = other.network.part.number();
        let is_there = |link: u32| partition.by_link[link as usize] == number;
        add_counts(&mut first.network, &mut other.network);
        let links = first.network.links.iter_mut().zip(other.network.links.iter_mut());
        let theirs = links.zip(&partition.by_link).filter(|&(_, &part)| part == number);
        theirs.for_each(|((one, other), _)| swap(one, other));
        for (one, other) in first.flows.iter_mut().zip(other.flows.iter_mut()) {
            one.route.drops += take(&mut other.route.drops);
            let spec = &config.flows[one.index() as usize];
            let forward = &config.routes[spec.route as usize].forward;
            if is_there(forward[0]) {
                swap_senders(one, other);
            }
            if is_there(forward[forward.len() - 1]) {
                swap(&mut one.receiver, &mut other.receiver);
            }
        }
    }
}

fn swap_senders(one: &mut Flow, other: &mut Flow) {
    swap(&mut one.sender, &mut other.sender);
    swap(&mut one.access, &mut other.access);
    swap(&mut one.app, &mut other.app);
}

fn add_counts(first: &mut Network, other: &mut Network) {
    for (sum, more) in first.passed.iter_mut().zip(&mut other.passed) {
        *sum += take(more);
    }
    for (sum, more) in first.rtt.iter_mut().zip(&mut other.rtt) {
        sum.add(&take(more));
    }
    for (all, more) in first.completions.iter_mut().zip(&mut other.completions) {
        all.append(more);
    }
    if let (Some(all), Some(more)) = (&mut first.flow_recorder, &mut other.flow_recorder) {
        all.add(more);
    }
    if let (Some(all), Some(more)) = (&mut first.packet_log, &mut other.packet_log) {
        all.add(more);
    }
    first.early_deliveries.deliveries.append(&mut other.early_deliveries.deliveries);
}
