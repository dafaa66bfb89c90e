//! What tc lets one choose of `cake`.

use super::flow_queues::{FlowQueues, QUEUES};
use super::lists::Lists;
use super::{Cake, FlowQueue};
use crate::queue::cobalt::control_law::Setpoint;
use crate::queue::fq_codel::store::Store;
use crate::queue::parameters::{BadParameter, Parameters, Wire, within};
use crate::rng::RandomStream;
use crate::time::{MILLISECOND, Picos, SECOND, serialization};

/// Packets of the largest size that no memory limit of Linux's own making exceeds (`sch->limit`).
const MOST_PACKETS: u64 = 10_240;

/// Parameters of `cake` (tc-cake(8); Linux, `cake_set_rate` and `cake_reconfigure`). The defaults are
/// Linux's with `besteffort flows`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CakeParams {
    /// Packets that may wait in all queues together, from 1; Linux counts memory alone. Default 10240.
    pub limit: u32,
    /// `rtt`, the round trip that it is tuned to, more than 0: for so long a delay must stay above the
    /// target. Default 100 ms.
    pub rtt: Picos,
    /// `target`, the standing delay that each queue accepts, more than 0. Default a twentieth of `rtt`.
    pub target: Option<Picos>,
    /// `memlimit`, bytes of memory, each packet counted with 576 bytes of Linux's book-keeping. Default:
    /// what comes at the shaper's rate in four times `rtt`, at least 4 MiB and at most 10240 of the
    /// largest packets; without a shaper these.
    pub memlimit: Option<u64>,
}

impl Default for CakeParams {
    fn default() -> Self {
        Self { limit: 10_240, rtt: 100 * MILLISECOND, target: None, memlimit: None }
    }
}

impl CakeParams {
    fn memory_limit(&self, wire: &Wire) -> u64 {
        let most = MOST_PACKETS * u64::from(wire.largest_packet);
        let of_rate = wire.rate_bps / 8.0 * 4.0 * self.rtt as f64 / SECOND as f64;
        let tuned = if wire.shaped { (of_rate as u64).max(4 << 20) } else { most };
        self.memlimit.unwrap_or(tuned.min(most))
    }

    /// Without a shaper it does not know the rate.
    fn setpoint(&self, wire: &Wire) -> Setpoint {
        let known = serialization(wire.largest_packet, wire.rate_bps);
        let mtu_time = if wire.shaped { known } else { 0 };
        Setpoint::scaled(self.target.unwrap_or((self.rtt / 20).max(1)), self.rtt, mtu_time, true)
    }
}

impl Parameters for CakeParams {
    type Discipline = Cake;

    fn check(&self) -> Result<(), BadParameter> {
        within("limit", self.limit >= 1, "at least 1 packet")?;
        within("rtt", self.rtt > 0, "more than 0")?;
        within("target", self.target != Some(0), "more than 0")?;
        within("memlimit", self.memlimit != Some(0), "at least 1 byte")
    }

    fn sized(self, packets: u32, _packet_bytes: u32) -> Self {
        Self { limit: packets, ..self }
    }

    fn build(&self, wire: &Wire, seed: u64) -> Cake {
        let quantum = (wire.rate_bps / 8.0 / 4096.0) as i64;
        Cake {
            limit: self.limit as usize,
            memory_limit: self.memory_limit(wire),
            setpoint: self.setpoint(wire),
            quantum: if wire.shaped { quantum.clamp(300, 1514) } else { 1514 },
            queues: vec![FlowQueue::default(); QUEUES].into(),
            flow_queues: FlowQueues::new(seed),
            lists: Lists::new(),
            store: Store::new(QUEUES),
            random: RandomStream::new(seed),
        }
    }
}
