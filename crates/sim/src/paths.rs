//! The queues on each flow's route, one after the other in one table, so that a packet finds the next
//! one whatever the number of links and classes.

use crate::config::{Config, Route, bits_of};
use std::collections::HashMap;

/// A link, and a flow's traffic class as the link's meter numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct LinkClass {
    pub(crate) class: u16,
    pub(crate) link: u32,
}

/// A `LinkClass` in 32 bits, as a flow keeps that of its first queue: the line of the cache in which it does has no
/// room for more. `Paths::unpack` takes it apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedLinkClass(u32);

/// A queue on a flow's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    /// Where.
    pub(crate) at: LinkClass,
    /// What lies behind it.
    pub(crate) then: Then,
    /// The part of the network in which that is: behind the last forward queue, in which the receiver's ACK
    /// acts.
    pub(crate) next_part: u8,
}

/// What lies behind a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Another queue.
    Hop,
    /// The receiver.
    Receiver,
    /// The sender: it was the last backward queue.
    Sender,
}

/// The routes of all flows. Of each, forward queues come first, then backward ones.
pub(crate) struct Paths {
    hops: Vec<Hop>,
    starts: HashMap<(u32, u16), u32>,
    /// Low bits of a `PackedLinkClass`, those of its link; the others are the class's.
    link_bits: u32,
    /// A bit in each of these.
    link_mask: u32,
    /// By link, the classes that its meter counts apart, in ascending order.
    pub(crate) classes: Vec<Vec<u16>>,
}

/// Up to so many classes each link counts all apart; of more only those that cross it.
const FEW_CLASSES: usize = 64;

impl Paths {
    /// Those of `config`, which has been checked, with its links in parts.
    pub(crate) fn of(config: &Config, parts: &[u8]) -> Self {
        let classes = classes_by_link(config);
        let (mut hops, mut starts) = (Vec::new(), HashMap::new());
        for flow in &config.flows {
            starts.entry((flow.route, flow.class)).or_insert_with(|| {
                let start = hops.len() as u32;
                add_path(&mut hops, config, &classes, (flow.route, flow.class), parts);
                start
            });
        }
        let link_bits = bits_of(config.links.len());
        Self { hops, starts, link_bits, link_mask: (1 << link_bits) - 1, classes }
    }

    /// Where the queues of a route begin for flows of a class.
    pub(crate) fn start(&self, route: u32, class: u16) -> u32 {
        self.starts[&(route, class)]
    }

    /// A link and a class in 32 bits; `Config::check` has seen that they fit.
    pub(crate) fn pack(&self, at: LinkClass) -> PackedLinkClass {
        PackedLinkClass(u32::from(at.class) << self.link_bits | at.link)
    }

    /// The link and the class that were packed. Most packets need the link alone: it takes no shift.
    #[inline(always)]
    pub(crate) fn unpack(&self, packed: PackedLinkClass) -> LinkClass {
        LinkClass { class: (packed.0 >> self.link_bits) as u16, link: packed.0 & self.link_mask }
    }

    /// The queue at a place of the table. The next one of its route follows.
    #[inline(always)]
    pub(crate) fn hop(&self, place: u32) -> Hop {
        self.hops[place as usize]
    }

    /// Calls it into the cache.
    #[inline(always)]
    pub(crate) fn prefetch(&self, place: u32) {
        prefetch_index::prefetch_index(&self.hops, place as usize);
    }
}

fn add_path(
    hops: &mut Vec<Hop>,
    config: &Config,
    classes: &[Vec<u16>],
    key: (u32, u16),
    parts: &[u8],
) {
    let Route { forward, backward } = &config.routes[key.0 as usize];
    let sender_at = forward[0];
    let ack_at = backward.first().copied().unwrap_or(sender_at);
    for (links, end) in [(forward, (Then::Receiver, ack_at)), (backward, (Then::Sender, sender_at))]
    {
        for (place, &link) in (1..).zip(links) {
            let class = classes[link as usize].binary_search(&key.1).expect("it crosses the link");
            let (then, next) = links.get(place).map_or(end, |&next| (Then::Hop, next));
            let at = LinkClass { class: class as u16, link };
            hops.push(Hop { at, then, next_part: parts[next as usize] });
        }
    }
}

fn classes_by_link(config: &Config) -> Vec<Vec<u16>> {
    let all = config.profiles.len();
    if all <= FEW_CLASSES {
        return vec![(0..all as u16).collect(); config.links.len()];
    }
    let mut classes = vec![Vec::new(); config.links.len()];
    let mut pairs: Vec<_> = config.flows.iter().map(|flow| (flow.class, flow.route)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for (class, route) in pairs {
        let route = &config.routes[route as usize];
        for &link in route.forward.iter().chain(&route.backward) {
            let seen: &mut Vec<u16> = &mut classes[link as usize];
            if seen.last() != Some(&class) {
                seen.push(class);
            }
        }
    }
    classes
}
