//! The plan, as written by Python.

mod check;

use crate::failure::Failure;
use forebay_sim::config::RateTrace;
use forebay_sim::time::Picos;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// A run; all times are in picoseconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this format.
    pub schema: u32,
    /// Seed of the router's random numbers.
    pub seed: u64,
    /// Time before readings begin.
    pub warmup_ps: Picos,
    /// Length of the measured window.
    pub window_ps: Picos,
    /// Equal parts of the window, each with its own readings.
    pub batches: u32,
    /// File for the readings.
    pub result: PathBuf,
    /// The left namespace, whose packets take the forward routes.
    pub sender: Side,
    /// The right namespace.
    pub receiver: Side,
    /// Flow i has this address plus i on the left.
    pub first_sender: Ipv4Addr,
    /// Flow i has this address plus i on the right.
    pub first_receiver: Ipv4Addr,
    /// Links and the queues in front of them.
    pub links: Vec<Link>,
    /// Memory that links with an alpha share.
    pub memory_bytes: Option<u64>,
    /// For each route, the links that data crosses in order, and those that ACKs cross.
    pub routes: Vec<(Vec<u16>, Vec<u16>)>,
    /// Traffic classes.
    pub classes: Vec<Class>,
    /// The flows.
    pub flows: Flows,
    /// Kernel names of congestion controls.
    pub congestion_controls: Vec<String>,
    /// Packets of open-loop flows.
    pub packets: Option<Packets>,
    /// Files of users.
    pub sessions: Option<Sessions>,
    /// Time between two samples of TCP_INFO.
    pub sample_ps: Picos,
    /// Readings over time, if requested.
    pub trace: Option<Trace>,
    /// File for the packets that leave the links, if requested.
    pub capture: Option<PathBuf>,
}

/// A namespace and the TUN device in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Path that setns can open.
    pub netns: PathBuf,
    /// Name of the device.
    pub tun: String,
    /// Whether hosts there leave it to the device to cut segments into packets.
    #[serde(default)]
    pub offload: bool,
}

/// A link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name in the scenario.
    pub name: String,
    /// Rate of the wire.
    pub rate_bps: f64,
    /// Packets that may wait.
    pub buffer_packets: u32,
    /// Their size, for limits in bytes.
    pub packet_bytes: u32,
    /// Name as Linux's tc has it.
    pub discipline: String,
    /// Its parameters by name; a flag is 0 or 1.
    pub parameters: BTreeMap<String, f64>,
    /// Packets between queue and wire.
    pub transmit_ring: u32,
    /// Propagation to the next link.
    pub delay_ps: Picos,
    /// Its alpha for `memory_bytes`, if it uses shared memory.
    pub alpha: Option<f64>,
    /// Holds packets in the queue until they conform.
    #[serde(default)]
    pub shaper: Option<Bucket>,
    /// Drops packets that do not conform, before the queue.
    #[serde(default)]
    pub policer: Option<Bucket>,
    /// What the link itself loses.
    #[serde(default)]
    pub loss: Option<Loss>,
    /// The wire's rate over time, of which `rate_bps` is the mean.
    #[serde(default)]
    pub rate_trace: Option<Rates>,
    /// Whether what arrives while the rate is 0 is dropped.
    #[serde(default)]
    pub drops_while_down: bool,
    /// What delays packets behind the wire.
    #[serde(default)]
    pub jitter: Option<Jitter>,
    /// Its class queues, if it has several instead of the queue above.
    #[serde(default)]
    pub classes: Vec<ClassQueue>,
    /// For each class of flows the index of its class queue.
    #[serde(default)]
    pub class_of: Vec<u16>,
}

/// A token bucket.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bucket {
    /// Rate of the tokens.
    pub rate_bps: f64,
    /// Bc.
    pub burst_bytes: u64,
    /// Be.
    pub excess_bytes: u64,
    /// Kind of refill.
    pub refill: Tokens,
}

/// Kind of refill of a bucket, with the scenario's names.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Tokens {
    /// Continuously.
    Continuous,
    /// Bc of them in each interval of Bc / rate.
    Interval,
    /// Continuously, without storing tokens.
    Deficit,
}

/// Losses of a link: a channel with a good and a bad state.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// Probability of loss in the good state.
    pub in_good: f64,
    /// Probability of loss in the bad state.
    pub in_bad: f64,
    /// Probability that a packet finds the state changed from good to bad.
    pub good_to_bad: f64,
    /// The same from bad to good.
    pub bad_to_good: f64,
    /// Whether losses are of bytes, of packets otherwise.
    pub of_bytes: bool,
    /// Whether packets are lost before the queue, on the wire otherwise.
    pub before_queue: bool,
}

/// Rates of a wire in steps over a period.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// When each begins, and its bit/s.
    pub steps: Vec<(Picos, f64)>,
    /// Length of the period.
    pub period_ps: Picos,
    /// Whether it is repeated; the last rate stays otherwise.
    pub repeats: bool,
}

/// A delay that is drawn for each packet behind a wire; none overtakes another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// The longest delay.
    pub most_ps: Picos,
    /// Share of the packets that are delayed.
    pub share: f64,
}

/// A class queue of a link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassQueue {
    /// Name as Linux's tc has it.
    pub discipline: String,
    /// Its parameters by name; a flag is 0 or 1.
    pub parameters: BTreeMap<String, f64>,
    /// Packets that may wait.
    pub buffer_packets: u32,
    /// Their size, for limits in bytes.
    pub packet_bytes: u32,
    /// Lower numbers are served first.
    pub priority: u32,
    /// Its relative share of the capacity left to its priority.
    pub weight: f64,
    /// Its guaranteed rate; the others of its priority share the rest.
    #[serde(default)]
    pub min_rate_bps: Option<f64>,
    /// Its maximum rate, bit/s, and the burst in bytes if it is set.
    #[serde(default)]
    pub max_rate: Option<(f64, Option<u64>)>,
}

/// Kind of a traffic class.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Unlimited TCP flows.
    Long,
    /// TCP flows that end.
    Short,
    /// Users that fetch files over TCP.
    Session,
    /// Packets at constant rate or Poisson.
    Udp,
    /// Packets on and off.
    OnOff,
    /// Packets of a video.
    Video,
    /// Packets of a list.
    Replay,
}

/// A traffic class.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // the namespaces' own settings implement `ecn`
pub struct Class {
    /// Kind of its flows.
    pub kind: Kind,
    /// Whether its packets may be marked instead of dropped.
    pub ecn: bool,
    /// Maximum number of segments in flight, if limited.
    pub max_window: Option<u32>,
    /// Whether its data goes from the right to the left.
    pub reverse: bool,
    /// The last link that its data crosses.
    pub last_link: u32,
}

/// Arrays with one entry for each flow.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flows {
    /// Index into `Plan::classes`.
    pub class: Vec<u16>,
    /// Index into `Plan::routes`.
    pub route: Vec<u16>,
    /// Index into `Plan::congestion_controls`.
    pub congestion_control: Vec<u16>,
    /// Two-way propagation delay, including that of the links on the route.
    pub rtt_ps: Vec<Picos>,
    /// Start time.
    pub start_ps: Vec<Picos>,
    /// Packets to send; 0 for an unlimited flow.
    pub segments: Vec<u64>,
    /// Size of a full packet, headers included.
    pub packet_bytes: Vec<u32>,
    /// Rate of its access link.
    pub access_bps: Vec<f64>,
    /// Flows with the same number share one access link.
    pub access_group: Vec<u32>,
}

/// Packets of open-loop flows: flow i has those from `offsets[i]` to `offsets[i + 1]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packets {
    /// One more than there are flows.
    pub offsets: Vec<usize>,
    /// Sending time of each packet.
    pub at_ps: Vec<Picos>,
    /// Size, headers included.
    pub bytes: Vec<u32>,
}

/// Files of users: user i fetches those from `offsets[i]` to `offsets[i + 1]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    /// One more than there are flows.
    pub offsets: Vec<usize>,
    /// Packets of each file.
    pub segments: Vec<u64>,
    /// Think time after each file.
    pub think_ps: Vec<Picos>,
}

/// Readings over time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Time between two samples; the first is taken at the window's start.
    pub step_ps: Picos,
    /// Flows with samples of their own.
    pub flows: Vec<u32>,
}

impl Rates {
    /// As links have it; `None` if it is none.
    pub fn trace(&self) -> Option<RateTrace> {
        RateTrace::new(self.steps.clone(), self.period_ps, self.repeats)
    }
}

impl Flows {
    /// Number of flows.
    pub fn len(&self) -> usize {
        self.class.len()
    }
}

impl Plan {
    /// Reads and checks a plan.
    pub fn read(path: &str) -> Result<Self, Failure> {
        let refuse = |why: String| Failure::Plan(path.to_owned(), why);
        let text = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
        let plan: Self =
            serde_json::from_slice(&text).map_err(|error| refuse(error.to_string()))?;
        plan.check().map_err(refuse)?;
        Ok(plan)
    }

    /// End of the run.
    pub fn end_ps(&self) -> Picos {
        self.warmup_ps + self.window_ps
    }
}
