//! What to simulate.

use crate::queue::registry::{BadParameter, QueueSpec, Wire};
use crate::tcp::profile::Profile;
use crate::time::{Picos, SECOND, serialization};

/// A link and the queue in front of it.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Rate of the wire.
    pub rate_bps: f64,
    /// What may wait for it.
    pub queue: QueueSpec,
    /// Packets that the line card holds between queue and wire; the queue does not count them
    /// (paper A, section 5.2.2).
    pub transmit_ring: u32,
    /// Memory shared with other links: an index into `Config::pools`, and this port's alpha.
    pub pool: Option<(u16, f64)>,
    /// Propagation to the next link of a route; part of a flow's round trip, not on top of it.
    pub delay: Picos,
    /// Holds packets in the queue until they conform.
    pub shaper: Option<BucketSpec>,
    /// Drops packets that do not conform, before they reach the queue.
    pub policer: Option<BucketSpec>,
}

impl LinkSpec {
    /// The same for a link that numbers traffic classes by their place in `traffic`.
    pub(crate) fn for_classes(&self, traffic: &[u16]) -> Self {
        match &self.queue {
            QueueSpec::Classes(params) => {
                Self { queue: QueueSpec::Classes(params.numbered(traffic)), ..self.clone() }
            }
            _ => self.clone(),
        }
    }

    /// The rate at which the queue is served: the shaper's, else the wire's.
    pub fn served_bps(&self) -> f64 {
        self.shaper.as_ref().map_or(self.rate_bps, |bucket| bucket.rate_bps)
    }
}

/// How tokens come into a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refill {
    /// All the time.
    Continuous,
    /// Bc of them at each multiple of Tc = Bc / rate.
    Interval,
}

/// A token bucket, which begins full; it holds Bc + Be.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketSpec {
    /// At which tokens come.
    pub rate_bps: f64,
    /// Bc, committed burst.
    pub burst_bytes: u64,
    /// Be, excess burst.
    pub excess_bytes: u64,
    /// How they come.
    pub refill: Refill,
}

impl BucketSpec {
    /// Time in which so many tokens come.
    pub fn time_of(&self, bytes: u64) -> Picos {
        (bytes as f64 * 8.0 * SECOND as f64 / self.rate_bps).round() as Picos
    }

    /// Tc.
    pub fn interval(&self) -> Picos {
        self.time_of(self.burst_bytes).max(1)
    }
}

/// The links that a flow's data crosses in turn, and those that its ACKs cross.
///
/// A way back without queues takes its time and no event.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// Indices into `Config::links`; at least one.
    pub forward: Vec<u16>,
    /// The same for the ACKs; may be empty.
    pub backward: Vec<u16>,
}

impl Route {
    /// Over one link forward, and back without a queue.
    pub fn has_one_link(&self) -> bool {
        self.forward.len() == 1 && self.backward.is_empty()
    }
}

/// What a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// So many segments over TCP, once; `u64::MAX` for a flow that never ends.
    Segments(u64),
    /// Those of `Config::packets` from the first index to before the second, at their times,
    /// whatever becomes of them.
    Datagrams(u32, u32),
    /// Those of `Config::files` from the first index to before the second, each over a TCP
    /// connection of its own, with a pause after each.
    Files(u32, u32),
}

/// A packet of an open-loop source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// When the source hands it to its access link; not before the one before it.
    pub at: Picos,
    /// Size on the link, headers included.
    pub bytes: u32,
}

/// A file that a user fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its length.
    pub segments: u64,
    /// The pause after it.
    pub think: Picos,
}

/// One flow, as the workload drew it.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Index into `Config::profiles`, and into the readings by class.
    pub class: u16,
    /// Index into `Config::routes`.
    pub route: u16,
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
    /// Keep the mean and variance of every flow's window, and when it lost packets and backed off.
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
}

/// What makes a configuration impossible to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// There is no flow, no class, no batch or no window.
    Empty(&'static str),
    /// More flows than events can tell apart.
    TooManyFlows(usize),
    /// A route is longer than a packet's stage can count.
    RouteTooLong(usize),
    /// A flow names a congestion controller that does not exist.
    UnknownCongestionControl(String),
    /// An index (of the kind named) points nowhere.
    Unknown(&'static str, usize),
    /// A rate, size or time that must be positive is not.
    NotPositive(&'static str),
    /// A time is too long for the clock, or a rate so low that a packet's is.
    TooLarge(&'static str),
    /// A capture of routes over several links.
    CaptureOfRoutes,
    /// A flow's round trip is shorter than the propagation on its route.
    ShortRoundTrip(usize),
    /// A queue's parameter is out of its range.
    Queue(BadParameter),
    /// A token bucket holds less than the largest packet, of so many bytes.
    SmallBucket(u64, u32),
    /// A transmit ring behind a shaper, where it would never hold a packet.
    RingBehindShaper,
    /// The run would outlast the clock (about 13 days).
    TooLong,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty(what) => write!(f, "nothing to simulate: no {what}"),
            Self::TooManyFlows(n) => write!(f, "{n} flows: at most {MAX_FLOWS} fit"),
            Self::RouteTooLong(n) => write!(f, "a route over {n} links: at most {MAX_HOPS} fit"),
            Self::UnknownCongestionControl(name) => {
                write!(f, "unknown congestion control {name:?}")
            }
            Self::Unknown(kind, index) => write!(f, "there is no {kind} number {index}"),
            Self::NotPositive(what) => write!(f, "{what} must be positive"),
            Self::TooLarge(what) => write!(f, "{what} is too long for the clock"),
            Self::CaptureOfRoutes => write!(f, "a capture of routes over several links"),
            Self::ShortRoundTrip(flow) => {
                write!(f, "the round trip of flow {flow} is shorter than its route's propagation")
            }
            Self::Queue(bad) => write!(f, "queue: {bad}"),
            Self::SmallBucket(burst, packet) => {
                write!(f, "a burst of {burst} B holds no packet of {packet} B")
            }
            Self::RingBehindShaper => write!(f, "a transmit ring behind a shaper"),
            Self::TooLong => write!(f, "the run is longer than the clock's 13 days"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Flows that events can tell apart, and as many links.
pub const MAX_FLOWS: usize = 1 << 26;
/// Links on a route, both ways together: thirty each, twice as many as most ways through the Internet.
pub const MAX_HOPS: usize = 60;
/// Segment records keep their time in 60 bits.
const LAST_INSTANT: Picos = 1 << 60;
/// Longest span between two events, three days: a few of them on top of the last instant still fit.
const LONGEST_SPAN: Picos = 1 << 58;
/// Longest time that a packet may spend on a wire, 18 minutes: 65535 B at 466 bit/s.
const LONGEST_TRANSMISSION: Picos = 1 << 50;

impl Config {
    /// Refuses what cannot be simulated.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (missing, what) in [
            (self.profiles.is_empty(), "traffic class"),
            (self.links.is_empty(), "link"),
            (self.batches == 0, "batch"),
            (self.window < u64::from(self.batches), "measured window"),
        ] {
            if missing {
                return Err(ConfigError::Empty(what));
            }
        }
        if self.flows.len() > MAX_FLOWS {
            return Err(ConfigError::TooManyFlows(self.flows.len()));
        }
        if self.warmup.saturating_add(self.window) > LAST_INSTANT {
            return Err(ConfigError::TooLong);
        }
        self.profiles.iter().try_for_each(check_profile)?;
        let wire = self.wire(1.0);
        self.links.iter().try_for_each(|link| self.check_link(link, wire.largest_packet))?;
        self.routes.iter().try_for_each(|route| self.check_route(route))?;
        if self.capture && self.routes.iter().any(|route| !route.has_one_link()) {
            return Err(ConfigError::CaptureOfRoutes);
        }
        self.check_trace()?;
        self.files.iter().try_for_each(|file| {
            positive(file.segments as f64, "file length")?;
            short(file.think, LONGEST_SPAN, "pause after a file")
        })?;
        self.datagrams.iter().try_for_each(|packet| {
            positive(f64::from(packet.bytes), "packet size")?;
            short(packet.at, LAST_INSTANT, "time of a packet")
        })?;
        self.flows.iter().enumerate().try_for_each(|(index, flow)| self.check_flow(index, flow))
    }

    /// Propagation on a route between its first and last link, each way.
    pub fn interior_delay(&self, way: &[u16]) -> Picos {
        let before_last = way.len().saturating_sub(1);
        way[..before_last].iter().map(|&link| self.links[link as usize].delay).sum()
    }

    /// A wire of so many bit/s, for the queue in front of it: any packet of the run may cross it.
    pub fn wire(&self, rate_bps: f64) -> Wire {
        let flows = self.flows.iter().map(|flow| flow.packet_bytes);
        let acks = self.profiles.iter().map(|profile| profile.ack_bytes);
        let listed = self.datagrams.iter().map(|packet| packet.bytes);
        let sizes = flows.chain(acks).chain(listed);
        let ends =
            sizes.fold((u32::MAX, 0), |(least, most), size| (least.min(size), most.max(size)));
        let (smallest_packet, largest_packet) = if ends.1 == 0 { (1500, 1500) } else { ends };
        Wire { rate_bps, largest_packet, smallest_packet: smallest_packet.max(1) }
    }

    /// For each link the size of all packets that cross it, where they have one size.
    pub(crate) fn uniform_sizes(&self) -> Vec<Option<u32>> {
        let mut sizes = vec![(u32::MAX, 0); self.links.len()];
        let mut crosses = |link: u16, (least, most): (u32, u32)| {
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

    fn check_link(&self, link: &LinkSpec, largest: u32) -> Result<(), ConfigError> {
        positive(link.rate_bps, "link rate")?;
        let transmission = serialization(largest, link.rate_bps);
        short(transmission, LONGEST_TRANSMISSION, "a packet's time on a link")?;
        short(link.delay, LONGEST_SPAN, "delay of a link")?;
        link.queue.check().map_err(ConfigError::Queue)?;
        for bucket in [&link.shaper, &link.policer].into_iter().flatten() {
            check_bucket(bucket, largest)?;
        }
        if link.shaper.is_some() && link.transmit_ring > 0 {
            return Err(ConfigError::RingBehindShaper);
        }
        match link.pool {
            Some((pool, _)) if pool as usize >= self.pools.len() => {
                Err(ConfigError::Unknown("shared memory", pool.into()))
            }
            Some((_, alpha)) => positive(alpha, "alpha"),
            None => Ok(()),
        }
    }

    fn check_route(&self, route: &Route) -> Result<(), ConfigError> {
        if route.forward.is_empty() {
            return Err(ConfigError::Empty("link on a route"));
        }
        let hops = route.forward.len() + route.backward.len();
        if hops > MAX_HOPS {
            return Err(ConfigError::RouteTooLong(hops));
        }
        let mut links = route.forward.iter().chain(&route.backward).map(|&link| link as usize);
        match links.find(|&link| link >= self.links.len()) {
            Some(link) => Err(ConfigError::Unknown("link", link)),
            None => Ok(()),
        }
    }

    fn check_trace(&self) -> Result<(), ConfigError> {
        let Some(trace) = &self.trace else { return Ok(()) };
        positive(trace.step as f64, "trace step")?;
        match trace.flows.iter().find(|&&flow| flow as usize >= self.flows.len()) {
            Some(&flow) => Err(ConfigError::Unknown("flow", flow as usize)),
            None => Ok(()),
        }
    }

    fn check_flow(&self, index: usize, flow: &FlowSpec) -> Result<(), ConfigError> {
        if flow.class as usize >= self.profiles.len() {
            return Err(ConfigError::Unknown("traffic class", flow.class.into()));
        }
        let Some(route) = self.routes.get(flow.route as usize) else {
            return Err(ConfigError::Unknown("route", flow.route.into()));
        };
        if !crate::cc::NAMES.contains(&flow.congestion_control) {
            return Err(ConfigError::UnknownCongestionControl(flow.congestion_control.into()));
        }
        let interior = self.interior_delay(&route.forward) + self.interior_delay(&route.backward);
        let answered = !matches!(flow.source, Source::Datagrams(..));
        if answered && flow.rtt < interior {
            return Err(ConfigError::ShortRoundTrip(index));
        }
        short(flow.rtt, LONGEST_SPAN, "round trip")?;
        short(flow.start, LAST_INSTANT, "start of a flow")?;
        match flow.source {
            Source::Datagrams(from, to) if from > to || to as usize > self.datagrams.len() => {
                return Err(ConfigError::Unknown("packet", to as usize));
            }
            Source::Files(from, to) if from >= to || to as usize > self.files.len() => {
                return Err(ConfigError::Unknown("file", to as usize));
            }
            Source::Segments(0) => return Err(ConfigError::NotPositive("flow length")),
            _ => {}
        }
        positive(flow.access_bps, "access rate")?;
        positive(f64::from(flow.packet_bytes), "packet size")?;
        let transmission = serialization(flow.packet_bytes, flow.access_bps);
        short(transmission, LONGEST_TRANSMISSION, "a packet's time on an access link")
    }
}

fn check_bucket(bucket: &BucketSpec, largest: u32) -> Result<(), ConfigError> {
    positive(bucket.rate_bps, "rate of a token bucket")?;
    let transmission = serialization(largest, bucket.rate_bps);
    short(transmission, LONGEST_TRANSMISSION, "a packet's time at a token bucket's rate")?;
    if bucket.burst_bytes < u64::from(largest) {
        return Err(ConfigError::SmallBucket(bucket.burst_bytes, largest));
    }
    let depth = bucket.burst_bytes.saturating_add(bucket.excess_bytes);
    short(bucket.time_of(depth), LONGEST_SPAN, "time in which a token bucket fills")
}

fn check_profile(profile: &Profile) -> Result<(), ConfigError> {
    for (value, what) in [
        (profile.ack_bytes, "size of an ACK"),
        (profile.initial_window, "initial window"),
        (profile.max_window, "largest window"),
    ] {
        positive(f64::from(value), what)?;
    }
    for (span, what) in [
        (profile.delayed_ack.unwrap_or(0), "delay of an ACK"),
        (profile.sack_compression.unwrap_or(0), "compression of ACKs"),
        (profile.min_rto, "least retransmission timeout"),
        (profile.jitter, "jitter"),
        (profile.timer_tick, "timer tick"),
    ] {
        short(span, LONGEST_SPAN, what)?;
    }
    Ok(())
}

fn short(span: Picos, longest: Picos, what: &'static str) -> Result<(), ConfigError> {
    if span <= longest { Ok(()) } else { Err(ConfigError::TooLarge(what)) }
}

fn positive(value: f64, what: &'static str) -> Result<(), ConfigError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(ConfigError::NotPositive(what)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows of these sizes, each over the route of its number.
    fn config(routes: &[(&[u16], &[u16])], flows: &[(u32, Source)]) -> Config {
        let queue = QueueSpec::by_name("pfifo").expect("listed");
        let link = LinkSpec {
            rate_bps: 1e6,
            queue,
            transmit_ring: 0,
            pool: None,
            delay: 0,
            shaper: None,
            policer: None,
        };
        let route = |(forward, backward): &(&[u16], &[u16])| Route {
            forward: forward.to_vec(),
            backward: backward.to_vec(),
        };
        let flow = |(&(packet_bytes, source), route): (&(u32, Source), u16)| FlowSpec {
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
            warmup: 0,
            window: 1,
            batches: 1,
            trace: None,
            capture: false,
        }
    }

    #[test]
    fn a_link_has_one_size_of_packets_if_all_that_cross_it_have_it() {
        let ack = Profile::ns2().ack_bytes;
        let (segments, packets) = (Source::Segments(1), Source::Datagrams(0, 0));
        // Link 0 carries two sizes, 1 one of them, 2 ACKs too, 3 ACKs alone, and 4 nothing.
        let routes: &[(&[u16], &[u16])] = &[(&[0, 1], &[3]), (&[0, 2], &[]), (&[1], &[2, 3])];
        let flows = [(1500, segments), (600, segments), (1500, segments)];
        let sizes = config(routes, &flows).uniform_sizes();
        assert_eq!(sizes, [None, Some(1500), None, Some(ack), None]);
        let alone = config(&[(&[0], &[])], &[(1500, packets)]).uniform_sizes();
        assert_eq!(alone[0], None, "a list of packets may hold any size");
    }
}
