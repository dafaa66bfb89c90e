//! What to play: the plan as Python writes it.

mod check;

use crate::failure::Failure;
use forebay_sim::time::Picos;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// A run; every span of time in picoseconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this form.
    pub schema: u32,
    /// Of whatever the router leaves to chance.
    pub seed: u64,
    /// Time before readings begin.
    pub warmup_ps: Picos,
    /// Length of the measured window.
    pub window_ps: Picos,
    /// Equal parts of the window, each read on its own.
    pub batches: u32,
    /// Where the readings go.
    pub result: PathBuf,
    /// The namespace on the left, whose packets cross routes forward.
    pub sender: Side,
    /// The one on the right.
    pub receiver: Side,
    /// Flow i has this address plus i on the left.
    pub first_sender: Ipv4Addr,
    /// Flow i has this address plus i on the right.
    pub first_receiver: Ipv4Addr,
    /// Links and the queues in front of them.
    pub links: Vec<Link>,
    /// Memory that links with an alpha share.
    pub memory_bytes: Option<u64>,
    /// Links that data crosses in turn, and those that ACKs cross.
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
    /// Between two samples of TCP_INFO.
    pub sample_ps: Picos,
    /// Readings over time, if asked for.
    pub trace: Option<Trace>,
    /// File for the packets that leave the links, if asked for.
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
    /// Its share of `memory_bytes`, if it shares.
    pub alpha: Option<f64>,
    /// Holds packets in the queue until they conform.
    #[serde(default)]
    pub shaper: Option<Bucket>,
    /// Drops packets that do not conform, before the queue.
    #[serde(default)]
    pub policer: Option<Bucket>,
    /// Its class queues, if it has several instead of the one above.
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
    /// At which tokens come.
    pub rate_bps: f64,
    /// Bc.
    pub burst_bytes: u64,
    /// Be.
    pub excess_bytes: u64,
    /// How they come.
    pub refill: Tokens,
}

/// How tokens come into a bucket, as a scenario names it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Tokens {
    /// All the time.
    Continuous,
    /// Bc of them once in Bc / rate.
    Interval,
    /// All the time, and none are kept.
    Deficit,
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
    /// The lower is served first.
    pub priority: u32,
    /// Its share of what is left to its priority.
    pub weight: f64,
    /// What it gets before the others of its priority share the rest.
    #[serde(default)]
    pub min_rate_bps: Option<f64>,
    /// What it is held to, bit/s, and the burst in bytes if that is set.
    #[serde(default)]
    pub max_rate: Option<(f64, Option<u64>)>,
}

/// What a class of flows does.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// TCP without end.
    Long,
    /// TCP, once.
    Short,
    /// TCP, file after file.
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
#[allow(dead_code)] // of a plan whole: the namespaces' own settings act on `ecn`
pub struct Class {
    /// What its flows do.
    pub kind: Kind,
    /// Its packets may be marked instead of dropped.
    pub ecn: bool,
    /// Most segments outstanding, if that is limited.
    pub max_window: Option<u32>,
    /// Its data goes from the right to the left.
    pub reverse: bool,
    /// The last link that its data crosses.
    pub last_link: u32,
}

/// One entry a flow in each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flows {
    /// Index into `Plan::classes`.
    pub class: Vec<u16>,
    /// Index into `Plan::routes`.
    pub route: Vec<u16>,
    /// Index into `Plan::congestion_controls`.
    pub congestion_control: Vec<u16>,
    /// Two-way propagation, that of the links on the route included.
    pub rtt_ps: Vec<Picos>,
    /// When it starts.
    pub start_ps: Vec<Picos>,
    /// Packets to send; 0 for a flow without end.
    pub segments: Vec<u64>,
    /// Size of a full packet, headers included.
    pub packet_bytes: Vec<u32>,
    /// Rate of its access link.
    pub access_bps: Vec<f64>,
    /// Flows of one number share one access link.
    pub access_group: Vec<u32>,
}

/// Packets of open-loop flows: flow i has those from `offsets[i]` to `offsets[i + 1]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packets {
    /// One more than there are flows.
    pub offsets: Vec<usize>,
    /// When each is sent.
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
    /// The pause after it.
    pub think_ps: Vec<Picos>,
}

/// Readings over time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Between two samples; the first is taken when the window begins.
    pub step_ps: Picos,
    /// Flows that are sampled one by one.
    pub flows: Vec<u32>,
}

impl Flows {
    /// How many there are.
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

    /// When the run ends.
    pub fn end_ps(&self) -> Picos {
        self.warmup_ps + self.window_ps
    }
}
