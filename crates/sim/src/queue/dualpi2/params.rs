//! What tc lets one choose of `dualpi2`.

use super::DualPi2;
use crate::queue::parameters::{BadParameter, Parameters, Wire, within};
use crate::time::{MILLISECOND, Picos};

/// Parameters of `dualpi2` (tc-dualpi2(8); RFC 9332, appendix A). The defaults are Linux's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Params {
    /// `limit`, packets that may wait in both queues together, from 1. Default 10 000.
    pub limit: u32,
    /// `target`, the delay aimed at in the C queue, more than 0. Default 15 ms.
    pub target: Picos,
    /// `tupdate`, between two steps of the probability, more than 0. Default 16 ms.
    pub tupdate: Picos,
    /// `alpha`, weight of the distance from the target, Hz. Default 0.16.
    pub alpha: f64,
    /// `beta`, weight of the delay's change, Hz. Default 3.2.
    pub beta: f64,
    /// `coupling_factor`, k of RFC 9332, from 1 to 255. Default 2.
    pub coupling_factor: u32,
    /// `step_thresh`, delay in the L queue beyond which all is marked. Default 1 ms.
    pub step_thresh: Picos,
    /// `classic_protection`, weight of the C queue in percent while both wait, at most 100. Default 10.
    pub classic_protection: u32,
    /// `drop_on_overload`; else `overflow`: L packets are only marked, and the queue fills. Default on.
    pub drop_on_overload: bool,
    /// `any_ect`: ECT(0) goes to the L queue too. Default off (`l4s_ect`).
    pub any_ect: bool,
}

impl Default for DualPi2Params {
    fn default() -> Self {
        Self {
            limit: 10_000,
            target: 15 * MILLISECOND,
            tupdate: 16 * MILLISECOND,
            alpha: 0.16,
            beta: 3.2,
            coupling_factor: 2,
            step_thresh: MILLISECOND,
            classic_protection: 10,
            drop_on_overload: true,
            any_ect: false,
        }
    }
}

impl Parameters for DualPi2Params {
    type Discipline = DualPi2;

    fn check(&self) -> Result<(), BadParameter> {
        let gain = |hz: f64| hz > 0.0 && hz <= 1e6;
        within("limit", self.limit >= 1, "at least 1 packet")?;
        within("target", self.target > 0, "more than 0")?;
        within("tupdate", self.tupdate > 0, "more than 0")?;
        within("alpha", gain(self.alpha), "above 0 Hz, at most 1 MHz")?;
        within("beta", gain(self.beta), "above 0 Hz, at most 1 MHz")?;
        within("coupling_factor", (1..=255).contains(&self.coupling_factor), "1 to 255")?;
        within("classic_protection", self.classic_protection <= 100, "at most 100 percent")
    }

    fn sized(self, packets: u32, _packet_bytes: u32) -> Self {
        Self { limit: packets, ..self }
    }

    fn build(&self, wire: &Wire, seed: u64) -> DualPi2 {
        DualPi2::new(*self, wire.largest_packet, seed)
    }
}
