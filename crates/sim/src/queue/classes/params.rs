//! Parameters of class queues.

use super::class_queue::{Admission, ClassQueue};
use super::rate_meter::RateMeter;
use super::round_robin::RoundRobin;
use super::{Classes, LastSent};
use crate::queue::Limit;
use crate::queue::fifo::{BfifoParams, PfifoParams};
use crate::queue::parameters::{BadParameter, Parameters, Wire, within};
use crate::queue::red::RedParams;
use serde::Deserialize;

/// What a class queue drops by: a discipline that decides on arrival by its own queue alone.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassDiscipline {
    /// `pfifo`.
    Pfifo(PfifoParams),
    /// `bfifo`.
    Bfifo(BfifoParams),
    /// `red`.
    Red(RedParams),
}

impl ClassDiscipline {
    fn check(&self) -> Result<(), BadParameter> {
        match self {
            Self::Pfifo(params) => params.check(),
            Self::Bfifo(params) => params.check(),
            Self::Red(params) => params.check(),
        }
    }

    fn sized(self, packets: u32, packet_bytes: u32) -> Self {
        match self {
            Self::Pfifo(params) => Self::Pfifo(params.sized(packets, packet_bytes)),
            Self::Bfifo(params) => Self::Bfifo(params.sized(packets, packet_bytes)),
            Self::Red(params) => Self::Red(params.sized(packets, packet_bytes)),
        }
    }
}

/// One class queue.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassParams {
    /// Its limit and what it drops by. Default `pfifo`'s.
    pub queue: ClassDiscipline,
    /// Classes of a lower number are served first, always. Default 0.
    pub priority: u32,
    /// Its share of what is left to its priority, in bytes, relative to the others' there; more
    /// than 0. Default 1.
    pub weight: f64,
    /// What it gets, bit/s, before the classes of its priority share the rest by weight; more than 0.
    /// Default none (Linux, htb: rate).
    pub min_rate_bps: Option<f64>,
    /// What it is held to. Default none.
    pub max_rate: Option<MaxRate>,
}

/// What a class is held to (Linux, htb: ceil and cburst).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MaxRate {
    /// More than 0, and no less than `min_rate_bps`.
    pub rate_bps: f64,
    /// Bytes that it may send beyond the rate to make up for time in which it was not served. Default
    /// one more of the largest packets than there are classes: nobody waits longer for his turn's first.
    pub burst_bytes: Option<u64>,
}

impl Default for ClassParams {
    fn default() -> Self {
        Self {
            queue: ClassDiscipline::Pfifo(PfifoParams::default()),
            priority: 0,
            weight: 1.0,
            min_rate_bps: None,
            max_rate: None,
        }
    }
}

impl ClassParams {
    fn check_rates(&self) -> Result<(), BadParameter> {
        let positive = |rate: f64| rate > 0.0 && rate.is_finite();
        let least = self.min_rate_bps;
        within("min_rate", least.is_none_or(positive), "more than 0")?;
        let Some(most) = self.max_rate else { return Ok(()) };
        within("max_rate", positive(most.rate_bps), "more than 0")?;
        let in_order = least.is_none_or(|least| least <= most.rate_bps);
        within("max_rate", in_order, "no less than min_rate")
    }
}

/// Parameters of `classes`.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassesParams {
    /// The class queues, 1 to 1000. Default one.
    pub classes: Vec<ClassParams>,
    /// For each traffic class the index of its queue. Traffic classes beyond its end take the first.
    pub of_traffic: Vec<u16>,
}

impl Default for ClassesParams {
    fn default() -> Self {
        Self { classes: vec![ClassParams::default()], of_traffic: Vec::new() }
    }
}

const MOST_CLASSES: usize = 1000;
/// Largest ratio of two weights of a priority: a turn is a packet of the lighter one long.
const MOST_UNEVEN: f64 = 1e6;

impl ClassesParams {
    /// These parameters for a link that numbers traffic classes by their place in `traffic`.
    pub(crate) fn numbered(&self, traffic: &[u16]) -> Self {
        let queue = |&class: &u16| self.of_traffic.get(usize::from(class)).copied().unwrap_or(0);
        Self { classes: self.classes.clone(), of_traffic: traffic.iter().map(queue).collect() }
    }

    /// An empty level.
    fn level(&self, priority: u32) -> RoundRobin {
        let guaranteed = |class: &&ClassParams| class.min_rate_bps.is_some();
        let mut alike = self.classes.iter().filter(|class| class.priority == priority);
        RoundRobin::new(self.classes.len(), alike.any(|class| guaranteed(&class)))
    }

    /// The smallest weight of a priority.
    fn lightest(&self, priority: u32) -> f64 {
        let alike = self.classes.iter().filter(|class| class.priority == priority);
        alike.map(|class| class.weight).fold(f64::INFINITY, f64::min)
    }

    /// Meters of the rate that a class gets, and of that which it is held to.
    fn meters(&self, class: &ClassParams, wire: &Wire) -> (Option<RateMeter>, Option<RateMeter>) {
        let packets = self.classes.len() as u64 + 1;
        let burst = packets * u64::from(wire.largest_packet);
        let least = class.min_rate_bps.map(|rate| RateMeter::new(rate, burst));
        let most = class
            .max_rate
            .map(|max| RateMeter::new(max.rate_bps, max.burst_bytes.unwrap_or(burst)));
        (least, most)
    }

    /// Bytes a turn: the largest packet for the lightest class of a priority, so that whoever has its
    /// turn sends a packet, and the work of a packet does not grow with the number of classes.
    fn quantum(&self, class: &ClassParams, wire: &Wire) -> u64 {
        let ratio = class.weight / self.lightest(class.priority);
        (ratio * f64::from(wire.largest_packet.max(1))).round() as u64
    }
}

impl Parameters for ClassesParams {
    type Discipline = Classes;

    fn check(&self) -> Result<(), BadParameter> {
        within("classes", !self.classes.is_empty(), "at least one")?;
        within("classes", self.classes.len() <= MOST_CLASSES, "1000 at most")?;
        let known = |&queue: &u16| usize::from(queue) < self.classes.len();
        within("of_traffic", self.of_traffic.iter().all(known), "indices of classes")?;
        for class in &self.classes {
            class.queue.check()?;
            within("weight", class.weight > 0.0 && class.weight.is_finite(), "more than 0")?;
            let ratio = class.weight / self.lightest(class.priority);
            within("weight", ratio <= MOST_UNEVEN, "at most 1000000 times another's")?;
            class.check_rates()?;
        }
        Ok(())
    }

    /// Each class queue.
    fn sized(self, packets: u32, packet_bytes: u32) -> Self {
        let resize = |class: ClassParams| ClassParams {
            queue: class.queue.sized(packets, packet_bytes),
            ..class
        };
        Self { classes: self.classes.into_iter().map(resize).collect(), ..self }
    }

    fn build(&self, wire: &Wire, seed: u64) -> Classes {
        let mut priorities: Vec<u32> = self.classes.iter().map(|class| class.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let level =
            |class: &ClassParams| priorities.binary_search(&class.priority).expect("one of them");
        let queue = |(class, number): (&ClassParams, u64)| {
            let (admission, capacity) = admission(&class.queue, wire, seed ^ number << 32);
            let quantum = self.quantum(class, wire);
            let mut queue = ClassQueue::new(level(class), quantum, admission, capacity);
            (queue.min_rate, queue.max_rate) = self.meters(class, wire);
            (queue, capacity)
        };
        let built = self.classes.iter().zip(0..).map(queue);
        let (queues, capacities): (Vec<_>, Vec<_>) = built.unzip();
        Classes {
            queues,
            has_max_rates: self.classes.iter().any(|class| class.max_rate.is_some()),
            levels: priorities.iter().map(|&priority| self.level(priority)).collect(),
            of_traffic: self.of_traffic.clone(),
            packets: 0,
            bytes: 0,
            capacity: capacities.iter().sum(),
            rate_bps: wire.rate_bps,
            last_sent: LastSent::default(),
        }
    }
}

/// What a class queue drops by, and the most packets that can ever wait in it. An idle wire takes a
/// packet that its limit in bytes would not.
fn admission(spec: &ClassDiscipline, wire: &Wire, seed: u64) -> (Admission, usize) {
    let tail_drop = |limit| Admission::TailDrop(limit);
    let (admission, bytes) = match spec {
        ClassDiscipline::Red(red) => (Admission::Red(Box::new(red.build(wire, seed))), red.limit),
        ClassDiscipline::Bfifo(bfifo) => (tail_drop(Limit::Bytes(bfifo.limit)), bfifo.limit),
        ClassDiscipline::Pfifo(pfifo) => {
            let limit = u64::from(pfifo.limit);
            return (tail_drop(Limit::Packets(limit)), limit as usize);
        }
    };
    (admission, wire.most_packets(bytes).max(1))
}
