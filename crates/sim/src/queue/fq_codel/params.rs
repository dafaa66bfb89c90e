//! Parameters of FQ-CoDel under their tc names.

use super::store::Store;
use super::{DrrList, FlowQueue, FqCodel};
use crate::queue::codel::control_law::Setpoint;
use crate::queue::parameters::{BadParameter, Parameters, Wire, within};
use crate::time::{MILLISECOND, Picos};

/// Parameters of `fq_codel` (tc-fq_codel(8); RFC 8290, section 5.2). The defaults are Linux's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCodelParams {
    /// `limit`, packets that may wait in all queues together, from 1. Default 10240.
    pub limit: u32,
    /// `flows`, queues that flows are hashed to, 1 to 65536. Default 1024.
    pub flows: u32,
    /// `quantum`, bytes that a queue may send in a turn, from 256 as in Linux.
    /// Default 1514: an Ethernet frame.
    pub quantum: u32,
    /// `target`, the standing delay that each queue accepts. Default 5 ms.
    pub target: Picos,
    /// `interval`, for how long the delay must stay above the target, more than 0. Default 100 ms.
    pub interval: Picos,
    /// `ecn`: mark packets that can be marked. Default on.
    pub ecn: bool,
    /// `ce_threshold`: besides, mark whatever waited longer than this. Default none.
    pub ce_threshold: Option<Picos>,
    /// `drop_batch`, most packets that an overflow takes from the fattest queue, from 1. Default 64.
    pub drop_batch: u32,
    /// `memory_limit`, bytes of memory, each packet counted with 576 bytes of Linux's book-keeping.
    /// Default 32 MiB.
    pub memory_limit: u64,
}

impl Default for FqCodelParams {
    fn default() -> Self {
        Self {
            limit: 10_240,
            flows: 1024,
            quantum: 1514,
            target: 5 * MILLISECOND,
            interval: 100 * MILLISECOND,
            ecn: true,
            ce_threshold: None,
            drop_batch: 64,
            memory_limit: 32 << 20,
        }
    }
}

impl Parameters for FqCodelParams {
    type Discipline = FqCodel;

    fn check(&self) -> Result<(), BadParameter> {
        within("limit", self.limit >= 1, "at least 1 packet")?;
        within("flows", (1..=65_536).contains(&self.flows), "from 1 to 65536")?;
        within("quantum", self.quantum >= 256, "at least 256 bytes")?;
        within("interval", self.interval > 0, "more than 0")?;
        within("drop_batch", self.drop_batch >= 1, "at least 1 packet")?;
        within("memory_limit", self.memory_limit >= 1, "at least 1 byte")
    }

    fn sized(self, packets: u32, _packet_bytes: u32) -> Self {
        Self { limit: packets, ..self }
    }

    fn build(&self, wire: &Wire, seed: u64) -> FqCodel {
        let queues = self.flows as usize;
        FqCodel {
            params: *self,
            setpoint: Setpoint {
                target: self.target,
                interval: self.interval,
                ecn: self.ecn,
                ce_threshold: self.ce_threshold,
                largest_packet: wire.largest_packet,
            },
            perturbation: seed,
            known: Vec::new(),
            queues: vec![FlowQueue::default(); queues],
            store: Store::new(queues),
            new: DrrList::EMPTY,
            old: DrrList::EMPTY,
        }
    }
}
