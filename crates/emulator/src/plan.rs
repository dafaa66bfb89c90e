//! The plan, as written by Python.

mod check;

use crate::failure::Failure;
use forebay_sim::config::LinkPlan;
use forebay_sim::time::Picos;
use serde::Deserialize;
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
    pub links: Vec<LinkPlan>,
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
