//! The queues that a flow's packets cross, and their other delays.

use super::round_trips::RoundTrips;
use crate::plan::Plan;
use forebay_sim::config::{LinkPlan, LinkSpec};
use forebay_sim::link::Link;
use forebay_sim::queue::parameters::Wire;
use forebay_sim::queue::parse::NamingError;
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::time::{Picos, serialization};
use std::collections::BTreeMap;

/// The smallest IPv4 packet that sockets send: a UDP header without data.
const SMALLEST: u32 = 28;
/// The largest that a device of Ethernet's MTU carries.
const ETHERNET: u32 = 1500;
/// Packets that a host queues before an access link that its flows share: Linux's txqueuelen.
const HOST_QUEUE: u32 = 1000;

/// Links in the order in which packets cross them.
pub struct Route {
    /// Of data.
    pub forward: Vec<usize>,
    /// Of ACKs.
    pub backward: Vec<usize>,
}

/// A flow as the router knows it.
pub struct Flow {
    /// Traffic class.
    pub class: u16,
    /// Index of its route.
    pub route: u32,
    /// Whether its data comes from the right.
    pub reverse: bool,
    /// Delay of data from the last link to the receiver.
    pub to_receiver: Picos,
    /// Delay of ACKs from the last link, or from the receiver, to the sender.
    pub to_sender: Picos,
    /// What its sender measures.
    pub round_trips: RoundTrips,
    access_bps: f64,
    access_free: Picos,
}

/// Links, routes and flows of a router.
pub struct Layout {
    /// The plan's links, then access links that flows share.
    pub links: Vec<Link>,
    /// Memories that links share, bytes each.
    pub pools: Vec<u64>,
    /// The plan's routes, then those with an access link that flows share.
    pub routes: Vec<Route>,
    /// In the plan's order.
    pub flows: Vec<Flow>,
}

impl Flow {
    /// Time at which a packet that is sent now has crossed the access link.
    #[inline]
    pub fn through_access(&mut self, now: Picos, bytes: u32) -> Picos {
        self.access_free = self.access_free.max(now) + serialization(bytes, self.access_bps);
        self.access_free
    }
}

impl Layout {
    /// Lays out the plan's links and flows.
    pub fn of(plan: &Plan) -> Result<Self, NamingError> {
        let route = |(forward, backward): &(Vec<u16>, Vec<u16>)| Route {
            forward: forward.iter().copied().map(usize::from).collect(),
            backward: backward.iter().copied().map(usize::from).collect(),
        };
        let mut layout = Self {
            links: Vec::new(),
            pools: plan.memory_bytes.into_iter().collect(),
            routes: plan.routes.iter().map(route).collect(),
            flows: (0..plan.flows.len()).map(|index| flow(plan, index)).collect(),
        };
        for (link, number) in plan.links.iter().zip(0..) {
            layout.links.push(make(plan, link, number)?);
        }
        layout.share_access(plan);
        Ok(layout)
    }

    /// Adds a link with a queue for each access link that several flows share, as in the
    /// simulator.
    fn share_access(&mut self, plan: &Plan) {
        let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (flow, &group) in plan.flows.access_group.iter().enumerate() {
            groups.entry(group).or_default().push(flow);
        }
        for flows in groups.values().filter(|flows| flows.len() > 1) {
            let behind = &self.routes[self.flows[flows[0]].route as usize];
            let access = std::iter::once(self.links.len());
            let forward = access.chain(behind.forward.iter().copied()).collect();
            let backward = behind.backward.clone();
            self.links.push(access_link(plan, plan.flows.access_bps[flows[0]]));
            for &flow in flows {
                self.flows[flow].route = self.routes.len() as u32;
                self.flows[flow].access_bps = f64::INFINITY;
            }
            self.routes.push(Route { forward, backward });
        }
    }
}

fn flow(plan: &Plan, index: usize) -> Flow {
    let flows = &plan.flows;
    let route = &plan.routes[flows.route[index] as usize];
    let between = |route: &[u16]| -> Picos {
        let before_last = route.len().saturating_sub(1);
        route[..before_last].iter().map(|&link| plan.links[link as usize].delay_ps).sum()
    };
    // 0 for an open-loop flow, whose round trip is 0; `Plan::check` refuses other cases.
    let edge = flows.rtt_ps[index].saturating_sub(between(&route.0) + between(&route.1));
    let class = flows.class[index];
    Flow {
        class,
        route: flows.route[index].into(),
        reverse: plan.classes[class as usize].reverse,
        to_receiver: edge / 2,
        to_sender: edge - edge / 2,
        round_trips: RoundTrips::default(),
        access_bps: flows.access_bps[index],
        access_free: 0,
    }
}

fn make(plan: &Plan, link: &LinkPlan, number: u64) -> Result<Link, NamingError> {
    let spec = link.spec()?;
    let wire = Wire { shaped: spec.shaper.is_some(), ..wire(plan, spec.served_bps()) };
    Ok(Link::new(&spec, &wire, plan.seed ^ number, plan.classes.len(), None))
}

fn access_link(plan: &Plan, rate_bps: f64) -> Link {
    let queue = QueueSpec::named("pfifo", HOST_QUEUE, ETHERNET, []).expect("a plain queue");
    let spec = LinkSpec::plain(rate_bps, queue);
    Link::new(&spec, &wire(plan, rate_bps), plan.seed, plan.classes.len(), None)
}

fn wire(plan: &Plan, rate_bps: f64) -> Wire {
    Wire {
        rate_bps,
        largest_packet: largest_packet(plan),
        smallest_packet: SMALLEST,
        shaped: false,
        framing: None,
    }
}

/// The largest packet that any flow sends.
pub fn largest_packet(plan: &Plan) -> u32 {
    let of_lists = plan.packets.iter().flat_map(|packets| &packets.bytes);
    plan.flows.packet_bytes.iter().chain(of_lists).copied().max().unwrap_or(0).max(ETHERNET)
}
