//! What to simulate.

mod bucket;
mod check;
mod framing;
mod jitter;
mod link_plan;
mod loss;
mod rate_trace;
mod source;

pub use bucket::{BucketSpec, Refill};
pub(crate) use check::bits_of;
pub use check::{ConfigError, MAX_FLOWS, MAX_HOPS};
pub use framing::FramingSpec;
pub use jitter::JitterSpec;
pub use link_plan::{ClassPlan, LinkPlan};
pub use loss::{LossPlace, LossSpec, LossUnit};
pub use rate_trace::RateTrace;
pub use source::{Barrier, Datagram, File, Source};

use crate::cc::foreign::ForeignList;
use crate::queue::parameters::Wire;
use crate::queue::registry::QueueSpec;
use crate::tcp::profile::Profile;
use crate::time::Picos;
use std::sync::Arc;

/// A link and the queue in front of it.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Rate of the wire.
    pub rate_bps: f64,
    /// What may wait for it.
    pub queue: QueueSpec,
    /// Packets that the line card holds behind the queue, which does not count them (paper A, section 5.2.2).
    pub transmit_ring: u32,
    /// Memory shared with other links: an index into `Config::pools`, and this port's alpha.
    pub pool: Option<(u16, f64)>,
    /// Propagation to the next link of a route; part of a flow's round trip, not on top of it.
    pub delay: Picos,
    /// Holds packets in the queue until they conform.
    pub shaper: Option<BucketSpec>,
    /// Drops packets that do not conform, before they reach the queue.
    pub policer: Option<BucketSpec>,
    /// Loses packets for another reason than a full queue.
    pub loss: Option<LossSpec>,
    /// The wire's rate over time; `rate_bps` is then its mean, or that to which readings refer.
    pub rate_trace: Option<Arc<RateTrace>>,
    /// What arrives while the rate is 0 is dropped, instead of waiting.
    pub drops_while_down: bool,
    /// Delays packets behind the wire, by chance.
    pub jitter: Option<JitterSpec>,
    /// What the line adds to each packet: it counts at the wire's and the shaper's rate, and nowhere else.
    pub framing: Option<FramingSpec>,
}

impl LinkSpec {
    /// A wire of this rate with this queue, and nothing else.
    pub fn plain(rate_bps: f64, queue: QueueSpec) -> Self {
        Self {
            rate_bps,
            queue,
            transmit_ring: 0,
            pool: None,
            delay: 0,
            shaper: None,
            policer: None,
            loss: None,
            rate_trace: None,
            drops_while_down: false,
            jitter: None,
            framing: None,
        }
    }

    /// The bytes of a packet on the line.
    pub fn on_line(&self, bytes: u32) -> u32 {
        self.framing.map_or(bytes, |framing| framing.on_line(bytes))
    }

    /// This link, if it numbers traffic classes by their place in `traffic`.
    pub(crate) fn for_classes(&self, traffic: &[u16]) -> Self {
        match &self.queue {
            QueueSpec::Classes(params) => {
                Self { queue: QueueSpec::Classes(params.numbered(traffic)), ..self.clone() }
            }
            _ => self.clone(),
        }
    }

    /// The most that the wire sends at any time.
    pub(crate) fn peak_bps(&self) -> f64 {
        self.rate_trace.as_ref().map_or(self.rate_bps, |trace| trace.peak_bps())
    }

    /// Packets may overtake each other behind the wire.
    pub(crate) fn reorders(&self) -> bool {
        self.jitter.as_ref().is_some_and(|jitter| jitter.reorders)
    }

    /// The rate at which the queue is served: the shaper's, else the wire's.
    pub fn served_bps(&self) -> f64 {
        self.shaper.as_ref().map_or(self.rate_bps, |bucket| bucket.rate_bps)
    }
}

/// The links that a flow's data crosses one after the other, and those that its ACKs cross.
///
/// A return path without queues takes its propagation delay and no event.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// Indices into `Config::links`; at least one.
    pub forward: Vec<u32>,
    /// Links that ACKs cross, in order; may be empty.
    pub backward: Vec<u32>,
}

impl Route {
    /// Over one link forward, and back without a queue.
    pub fn has_one_link(&self) -> bool {
        self.forward.len() == 1 && self.backward.is_empty()
    }
}

/// One flow, as the workload drew it.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Index into `Config::profiles`, and into the readings by class.
    pub class: u16,
    /// Index into `Config::routes`.
    pub route: u32,
    /// Name of the congestion controller.
    pub congestion_control: &'static str,
    /// Two-way propagation delay, that of the links on the route included.
    pub rtt: Picos,
    /// When its first packet reaches the first queue, if its access link is idle.
    pub start: Picos,
    /// What it sends.
    pub source: Source,
    /// Size of a data packet on the link, headers included.
    pub packet_bytes: u32,
    /// Rate of the sender's own access link.
    pub access_bps: f64,
}

/// Readings over time; each costs what it reads.
#[derive(Clone, Debug, Default)]
pub struct TraceSpec {
    /// Between two samples; the first is taken when the measured window begins.
    pub step: Picos,
    /// Flows whose window, round-trip time and phase are sampled.
    pub flows: Vec<u32>,
    /// Sample the sum of all congestion windows, and how many flows are in congestion avoidance.
    pub window_sum: bool,
    /// Keep the mean and variance of every flow's window, and when it lost packets and reduced it.
    pub every_flow: bool,
    /// Read at every packet of every link what queue it finds, and busy and idle periods.
    pub link_details: bool,
}

/// A network and its traffic.
#[derive(Clone, Debug)]
pub struct Config {
    /// The links.
    pub links: Vec<LinkSpec>,
    /// Switch memories that links share, bytes each.
    pub pools: Vec<u64>,
    /// Seed of whatever the network itself leaves to chance.
    pub seed: u64,
    /// The routes over them.
    pub routes: Vec<Route>,
    /// One profile a traffic class.
    pub profiles: Vec<Profile>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// Packets of all open-loop sources.
    pub datagrams: Vec<Datagram>,
    /// Files of all users.
    pub files: Vec<File>,
    /// Which users wait for each other; in the order of their flows.
    pub barriers: Vec<Barrier>,
    /// Time before readings begin.
    pub warmup: Picos,
    /// Length of the measured window.
    pub window: Picos,
    /// Equal parts of the window, each read on its own.
    pub batches: u32,
    /// Readings over time, if any.
    pub trace: Option<TraceSpec>,
    /// Keep every packet of the measured window; for routes over one link alone.
    pub capture: bool,
    /// Keep a record of every flow.
    pub flow_records: bool,
    /// Log what becomes of each packet of the measured window at the first so many links.
    pub logged_links: u32,
    /// Congestion controllers from outside that flows may name.
    pub foreign: ForeignList,
}

impl Config {
    /// Propagation between the first and the last of `links`.
    pub fn interior_delay(&self, links: &[u32]) -> Picos {
        let before_last = links.len().saturating_sub(1);
        links[..before_last].iter().map(|&link| self.links[link as usize].delay).sum()
    }

    /// What a round trip's propagation has left of the links on the route: before the first, behind the
    /// last. Nothing of an open-loop source's, which is not acknowledged: it has no round trip.
    pub fn edge_delay(&self, flow: &FlowSpec) -> Picos {
        let route = &self.routes[flow.route as usize];
        let interior = self.interior_delay(&route.forward) + self.interior_delay(&route.backward);
        flow.rtt.saturating_sub(interior)
    }

    /// From who asks to the first queue of a flow that answers: what a round trip's propagation has left of the
    /// way to the receiver.
    pub fn request_delay(&self, flow: &FlowSpec) -> Picos {
        let edge = self.edge_delay(flow);
        edge - edge / 2
    }

    /// Whether a flow waits for others: it belongs to a barrier.
    pub(crate) fn waits_for_others(&self, flow: u32) -> bool {
        let index = self.barriers.partition_point(|barrier| barrier.flows.end <= flow);
        self.barriers.get(index).is_some_and(|barrier| barrier.flows.contains(&flow))
    }

    /// Whether data may overtake other data on a route.
    pub(crate) fn reorders(&self, route: &Route) -> bool {
        route.forward.iter().any(|&link| self.links[link as usize].reorders())
    }

    /// A wire of so many bit/s, for the queue in front of it: any packet of the run may cross it.
    pub fn wire(&self, rate_bps: f64) -> Wire {
        let flows = self.flows.iter().map(|flow| flow.packet_bytes);
        let acks = self.profiles.iter().map(|profile| profile.ack_bytes);
        let listed = self.datagrams.iter().map(|packet| packet.bytes);
        let sizes = flows.chain(acks).chain(listed);
        let ends = sizes.fold((u32::MAX, 0), |(low, high), size| (low.min(size), high.max(size)));
        let (smallest_packet, largest_packet) =
            if ends.1 == 0 { (1500, 1500) } else { (ends.0.max(1), ends.1) };
        Wire { rate_bps, largest_packet, smallest_packet, shaped: false, framing: None }
    }

    /// For each link the size of all packets that cross it, where they have one size.
    pub(crate) fn uniform_sizes(&self) -> Vec<Option<u32>> {
        let mut sizes = vec![(u32::MAX, 0); self.links.len()];
        let mut crosses = |link: u32, (least, most): (u32, u32)| {
            let seen = &mut sizes[link as usize];
            *seen = (seen.0.min(least), seen.1.max(most));
        };
        for flow in &self.flows {
            let route = &self.routes[flow.route as usize];
            let ack = self.profiles[flow.class as usize].ack_bytes;
            let data = match flow.source {
                Source::Datagrams(..) => (0, u32::MAX), // each has its own
                _ => (flow.packet_bytes, flow.packet_bytes),
            };
            route.forward.iter().for_each(|&link| crosses(link, data));
            route.backward.iter().for_each(|&link| crosses(link, (ack, ack)));
        }
        sizes.into_iter().map(|(least, most)| (least == most).then_some(most)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows of these sizes, each over the route of its number.
    fn config(routes: &[(&[u32], &[u32])], flows: &[(u32, Source)]) -> Config {
        let queue = QueueSpec::by_name("pfifo").expect("listed");
        let link = LinkSpec::plain(1e6, queue);
        let route = |(forward, backward): &(&[u32], &[u32])| Route {
            forward: forward.to_vec(),
            backward: backward.to_vec(),
        };
        let flow = |(&(packet_bytes, source), route): (&(u32, Source), u32)| FlowSpec {
            class: 0,
            route,
            congestion_control: "reno",
            rtt: 0,
            start: 0,
            source,
            packet_bytes,
            access_bps: 1e9,
        };
        Config {
            links: vec![link; 5],
            pools: vec![],
            seed: 0,
            routes: routes.iter().map(route).collect(),
            profiles: vec![Profile::ns2()],
            flows: flows.iter().zip(0..).map(flow).collect(),
            datagrams: vec![],
            files: vec![],
            barriers: vec![],
            warmup: 0,
            window: 1,
            batches: 1,
            trace: None,
            capture: false,
            flow_records: false,
            logged_links: 0,
            foreign: ForeignList::default(),
        }
    }

    #[test]
    fn a_link_has_one_size_of_packets_if_all_that_cross_it_have_it() {
        let ack = Profile::ns2().ack_bytes;
        let (segments, packets) = (Source::Segments(1), Source::Datagrams(0, 0));
        // Link 0 carries two sizes, 1 one of them, 2 ACKs too, 3 ACKs alone, and 4 nothing.
        let routes: &[(&[u32], &[u32])] = &[(&[0, 1], &[3]), (&[0, 2], &[]), (&[1], &[2, 3])];
        let flows = [(1500, segments), (600, segments), (1500, segments)];
        let sizes = config(routes, &flows).uniform_sizes();
        assert_eq!(sizes, [None, Some(1500), None, Some(ack), None]);
        let alone = config(&[(&[0], &[])], &[(1500, packets)]).uniform_sizes();
        assert_eq!(alone[0], None, "a list of packets may hold any size");
    }
}
