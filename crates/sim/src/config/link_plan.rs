//! A link by names, as the simulator and the testbed's router are given it.

use super::{BucketSpec, FramingSpec, JitterSpec, LinkSpec, LossSpec, RateTrace};
use crate::queue::classes::{ClassParams, MaxRate};
use crate::queue::parse::NamingError;
use crate::queue::registry::QueueSpec;
use crate::time::Picos;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A link and the queue in front of it; times are in picoseconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// Its name in the scenario.
    #[serde(default)]
    pub name: String,
    /// Rate of the wire.
    pub rate_bps: f64,
    /// Packets that may wait.
    pub buffer_packets: u32,
    /// Their size, for limits in bytes.
    #[serde(default = "full_packet")]
    pub packet_bytes: u32,
    /// Name as Linux's tc has it.
    #[serde(default = "fifo")]
    pub discipline: String,
    /// Its parameters by name; a flag is 0 or 1.
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
    /// Packets between queue and wire.
    #[serde(default)]
    pub transmit_ring: u32,
    /// Propagation to the next link.
    #[serde(default)]
    pub delay_ps: Picos,
    /// Its alpha, if it shares the memory of a run.
    #[serde(default)]
    pub alpha: Option<f64>,
    /// Holds packets in the queue until they conform.
    #[serde(default)]
    pub shaper: Option<BucketSpec>,
    /// Drops packets that do not conform, before the queue.
    #[serde(default)]
    pub policer: Option<BucketSpec>,
    /// What the link itself loses.
    #[serde(default)]
    pub loss: Option<LossSpec>,
    /// The wire's rate over time, of which `rate_bps` is the mean.
    #[serde(default)]
    pub rate_trace: Option<RateTrace>,
    /// Whether what arrives while the rate is 0 is dropped.
    #[serde(default)]
    pub drops_while_down: bool,
    /// What delays packets behind the wire.
    #[serde(default)]
    pub jitter: Option<JitterSpec>,
    /// What the line adds to each packet.
    #[serde(default)]
    pub framing: Option<FramingSpec>,
    /// Its class queues, if it has several instead of the queue above.
    #[serde(default)]
    pub classes: Vec<ClassPlan>,
    /// For each class of flows the index of its class queue.
    #[serde(default)]
    pub class_of: Vec<u16>,
}

/// A class queue of a link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassPlan {
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
    /// Its maximum rate.
    #[serde(default)]
    pub max_rate: Option<MaxRate>,
}

impl LinkPlan {
    /// The link.
    pub fn spec(&self) -> Result<LinkSpec, NamingError> {
        Ok(LinkSpec {
            rate_bps: self.rate_bps,
            queue: self.queue()?,
            transmit_ring: self.transmit_ring,
            pool: self.alpha.map(|alpha| (0, alpha)),
            delay: self.delay_ps,
            shaper: self.shaper.clone(),
            policer: self.policer.clone(),
            loss: self.loss.clone(),
            rate_trace: self.rate_trace.clone().map(Arc::new),
            drops_while_down: self.drops_while_down,
            jitter: self.jitter.clone(),
            framing: self.framing.map(|line| FramingSpec { payload: line.payload.max(1), ..line }),
        })
    }

    fn queue(&self) -> Result<QueueSpec, NamingError> {
        if self.classes.is_empty() {
            let (packets, packet_bytes) = (self.buffer_packets, self.packet_bytes);
            return named(&self.discipline, packets, packet_bytes, &self.parameters);
        }
        let classes = self.classes.iter().map(ClassPlan::params).collect::<Result<_, _>>()?;
        QueueSpec::of_classes(classes, self.class_of.clone())
    }
}

impl ClassPlan {
    fn params(&self) -> Result<ClassParams, NamingError> {
        let (packets, packet_bytes) = (self.buffer_packets, self.packet_bytes);
        let queue = named(&self.discipline, packets, packet_bytes, &self.parameters)?;
        Ok(ClassParams {
            queue: queue.try_into()?,
            priority: self.priority,
            weight: self.weight,
            min_rate_bps: self.min_rate_bps,
            max_rate: self.max_rate,
        })
    }
}

fn named(
    name: &str,
    packets: u32,
    packet_bytes: u32,
    parameters: &BTreeMap<String, f64>,
) -> Result<QueueSpec, NamingError> {
    let parameters = parameters.iter().map(|(key, &value)| (key.as_str(), value));
    QueueSpec::named(name, packets, packet_bytes, parameters)
}

fn full_packet() -> u32 {
    1500
}

fn fifo() -> String {
    "pfifo".into()
}
