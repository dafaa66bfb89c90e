//! What makes a configuration impossible to simulate.

use super::{BucketSpec, Config, FlowSpec, JitterSpec, LinkSpec, LossSpec, Refill, Route, Source};
use crate::cc::Cc;
use crate::queue::parameters::BadParameter;
use crate::tcp::profile::Profile;
use crate::time::{Picos, serialization};
use std::ops::Range;

/// What makes a configuration impossible to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// There is no flow, no class, no batch or no window.
    Empty(&'static str),
    /// More flows than events can tell apart.
    TooManyFlows(usize),
    /// More links than events can tell apart, or than a flow can name beside so many classes.
    TooManyLinks(usize, usize),
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
    /// Flows that wait for each other are none, overlap, or differ in their files.
    Barrier(usize),
    /// A flow's round trip is shorter than the propagation on its route.
    ShortRoundTrip(usize),
    /// A queue's parameter is out of its range.
    Queue(BadParameter),
    /// A token bucket holds less than the largest packet, of so many bytes.
    SmallBucket(u64, u32),
    /// A transmit ring behind a shaper, where it would never hold a packet.
    RingBehindShaper,
    /// A shaper before a wire whose rate varies.
    ShaperOfVaryingWire,
    /// A transmit ring of a link that loses packets, whose rate varies, or which has jitter.
    RingOfLossyLink,
    /// A link that reorders packets is the last on a route: a receiver is handed packets when they are enqueued there.
    ReordersBeforeReceiver,
    /// A number that must be a probability is not.
    NotAProbability(&'static str),
    /// The run would outlast the clock (about 13 days).
    TooLong,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty(what) => write!(f, "nothing to simulate: no {what}"),
            Self::TooManyFlows(n) => write!(f, "{n} flows: at most {MAX_FLOWS} fit"),
            Self::TooManyLinks(links, classes) => {
                write!(f, "{links} links and {classes} traffic classes: too many to be numbered")
            }
            Self::RouteTooLong(n) => write!(f, "a route over {n} links: at most {MAX_HOPS} fit"),
            Self::UnknownCongestionControl(name) => {
                write!(f, "unknown congestion control {name:?}")
            }
            Self::Unknown(kind, index) => write!(f, "there is no {kind} number {index}"),
            Self::NotPositive(what) => write!(f, "{what} must be positive"),
            Self::TooLarge(what) => write!(f, "{what} is too long for the clock"),
            Self::CaptureOfRoutes => write!(f, "a capture of routes over several links"),
            Self::Barrier(index) => {
                write!(f, "flows of barrier {index} do not fetch as many files each")
            }
            Self::ShortRoundTrip(flow) => {
                write!(f, "the round trip of flow {flow} is shorter than its route's propagation")
            }
            Self::Queue(bad) => write!(f, "queue: {bad}"),
            Self::SmallBucket(burst, packet) => {
                write!(f, "a burst of {burst} B holds no packet of {packet} B")
            }
            Self::RingBehindShaper => write!(f, "a transmit ring behind a shaper"),
            Self::RingOfLossyLink => {
                write!(f, "a transmit ring of a link with loss, jitter or a varying rate")
            }
            Self::ShaperOfVaryingWire => write!(f, "a shaper before a wire of varying rate"),
            Self::ReordersBeforeReceiver => write!(f, "a route whose last link reorders packets"),
            Self::NotAProbability(what) => write!(f, "{what} must be a probability"),
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
        let (links, classes) = (self.links.len(), self.profiles.len());
        if links > MAX_FLOWS || bits_of(links) + bits_of(classes) > u32::BITS {
            return Err(ConfigError::TooManyLinks(links, classes));
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
        self.check_barriers()?;
        self.datagrams.iter().try_for_each(|packet| {
            positive(f64::from(packet.bytes), "packet size")?;
            short(packet.at, LAST_INSTANT, "time of a packet")
        })?;
        self.flows.iter().enumerate().try_for_each(|(index, flow)| self.check_flow(index, flow))
    }

    /// Whether some flow's controller paces.
    pub(crate) fn paces(&self) -> bool {
        self.flows.iter().any(|flow| {
            let name = flow.congestion_control;
            let foreign = || self.foreign.find(name).is_some_and(|it| it.wants().paces);
            Cc::by_name(name).map_or_else(foreign, |cc| cc.paced())
        })
    }

    fn check_barriers(&self) -> Result<(), ConfigError> {
        let mut from = 0;
        for (index, barrier) in self.barriers.iter().enumerate() {
            let Range { start, end } = barrier.flows;
            let requests = barrier.thinks.len() as u32 + 1;
            let flows = self.flows.get(start as usize..end as usize).unwrap_or(&[]);
            let fetches = |flow: &FlowSpec| matches!(flow.source, Source::Files(a, b) if b.checked_sub(a) == Some(requests));
            if start < from || flows.is_empty() || !flows.iter().all(fetches) {
                return Err(ConfigError::Barrier(index));
            }
            let pauses = barrier.thinks.iter().chain([&barrier.asked]);
            for &pause in pauses {
                short(pause, LONGEST_SPAN, "pause after a request")?;
            }
            from = end;
        }
        Ok(())
    }

    fn check_link(&self, link: &LinkSpec, largest: u32) -> Result<(), ConfigError> {
        positive(link.rate_bps, "link rate")?;
        let line = link.on_line(largest);
        let transmission = serialization(line, link.rate_bps);
        short(transmission, LONGEST_TRANSMISSION, "a packet's time on a link")?;
        short(link.delay, LONGEST_SPAN, "delay of a link")?;
        link.queue.check().map_err(ConfigError::Queue)?;
        link.shaper.iter().try_for_each(|bucket| check_bucket(bucket, line))?;
        link.policer.iter().try_for_each(|bucket| check_bucket(bucket, largest))?;
        if link.shaper.is_some() && link.transmit_ring > 0 {
            return Err(ConfigError::RingBehindShaper);
        }
        link.loss.iter().try_for_each(check_loss)?;
        link.jitter.iter().try_for_each(check_jitter)?;
        let varies = link.rate_trace.is_some();
        if varies && link.shaper.is_some() {
            return Err(ConfigError::ShaperOfVaryingWire);
        }
        let conditioned = varies || link.loss.is_some() || link.jitter.is_some();
        if conditioned && link.transmit_ring > 0 {
            return Err(ConfigError::RingOfLossyLink);
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
            None if route
                .forward
                .last()
                .is_some_and(|&link| self.links[link as usize].reorders()) =>
            {
                Err(ConfigError::ReordersBeforeReceiver)
            }
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
            return Err(ConfigError::Unknown("route", flow.route as usize));
        };
        let control = flow.congestion_control;
        if !crate::cc::NAMES.contains(&control) && self.foreign.find(control).is_none() {
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
            Source::Files(from, to) | Source::FilesUntil(from, to, _)
                if from >= to || to as usize > self.files.len() =>
            {
                return Err(ConfigError::Unknown("file", to as usize));
            }
            Source::Until(stop) | Source::FilesUntil(_, _, stop) => {
                short(stop, LAST_INSTANT, "stop of a flow")?
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

/// Bits of a number below `count`.
pub(crate) fn bits_of(count: usize) -> u32 {
    count.max(1).next_power_of_two().ilog2()
}

fn check_bucket(bucket: &BucketSpec, largest: u32) -> Result<(), ConfigError> {
    positive(bucket.rate_bps, "rate of a token bucket")?;
    let transmission = serialization(largest, bucket.rate_bps);
    short(transmission, LONGEST_TRANSMISSION, "a packet's time at a token bucket's rate")?;
    if bucket.refill == Refill::Deficit {
        return Ok(());
    }
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

fn check_jitter(jitter: &JitterSpec) -> Result<(), ConfigError> {
    short(jitter.most, LONGEST_SPAN, "jitter of a link")?;
    let valid = (0.0..=1.0).contains(&jitter.share);
    if valid { Ok(()) } else { Err(ConfigError::NotAProbability("share of jitter")) }
}

fn check_loss(loss: &LossSpec) -> Result<(), ConfigError> {
    let all = [loss.in_good, loss.in_bad, loss.good_to_bad, loss.bad_to_good];
    let valid = all.iter().all(|share| (0.0..=1.0).contains(share));
    if valid { Ok(()) } else { Err(ConfigError::NotAProbability("loss of a link")) }
}
