//! Parameters of PIE under their tc names.

use super::{MAX_BURST, Pie};
use crate::queue::busy_until::BusyUntil;
use crate::queue::parameters::{BadParameter, Parameters, Wire, within};
use crate::rng::RandomStream;
use crate::time::{MILLISECOND, Picos};

/// Parameters of `pie` (tc-pie(8); RFC 8033, section 6). The defaults are Linux's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieParams {
    /// `limit`, packets that may wait, from 1. Default 1000.
    pub limit: u32,
    /// `target`, the delay aimed at. Default 15 ms.
    pub target: Picos,
    /// `tupdate`, time between steps of the probability, more than 0. Default 15 ms.
    pub tupdate: Picos,
    /// `alpha`, weight of the distance from the target, in 1/16 Hz, 0 to 32. Default 2.
    pub alpha: u32,
    /// `beta`, weight of the delay's change, in 1/16 Hz, 0 to 32. Default 20.
    pub beta: u32,
    /// `ecn`: mark packets that can be marked, up to a probability of 10 %. Default off.
    pub ecn: bool,
    /// `bytemode`: small packets are dropped in proportion to their size. Default off.
    pub bytemode: bool,
}

impl Default for PieParams {
    fn default() -> Self {
        Self {
            limit: 1000,
            target: 15 * MILLISECOND,
            tupdate: 15 * MILLISECOND,
            alpha: 2,
            beta: 20,
            ecn: false,
            bytemode: false,
        }
    }
}

impl PieParams {
    pub(super) fn alpha_hz(&self) -> f64 {
        f64::from(self.alpha) / 16.0
    }

    pub(super) fn beta_hz(&self) -> f64 {
        f64::from(self.beta) / 16.0
    }
}

impl Parameters for PieParams {
    type Discipline = Pie;

    fn check(&self) -> Result<(), BadParameter> {
        within("limit", self.limit >= 1, "at least 1 packet")?;
        within("target", self.target > 0, "more than 0")?;
        within("tupdate", self.tupdate > 0, "more than 0")?;
        within("alpha", self.alpha <= 32, "at most 32")?;
        within("beta", self.beta <= 32, "at most 32")
    }

    fn sized(self, packets: u32, _packet_bytes: u32) -> Self {
        Self { limit: packets, ..self }
    }

    fn build(&self, wire: &Wire, seed: u64) -> Pie {
        Pie {
            params: *self,
            largest_packet: wire.largest_packet,
            probability: 0.0,
            accumulated: 0.0,
            delay: 0,
            burst_allowance: MAX_BURST,
            next_update: self.tupdate,
            random: RandomStream::new(seed),
            busy_until: BusyUntil::new(wire),
        }
    }
}
