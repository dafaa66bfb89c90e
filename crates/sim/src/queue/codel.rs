//! CoDel, controlled delay (RFC 8289; Linux `codel`): one queue under the law of `law`.

pub(super) mod control_law;

use super::packet_fifo::PacketFifo;
use super::packets::Packets;
use super::parameters::{BadParameter, Parameters, Wire, within};
use super::{DequeueDiscipline, Limit};
use crate::time::{MILLISECOND, Picos};
use control_law::{ControlLaw, Setpoint};

/// Parameters of `codel` (tc-codel(8); RFC 8289, section 4). The defaults are Linux's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelParams {
    /// `limit`, packets that may wait, from 1. Default 1000.
    pub limit: u32,
    /// `target`, the standing delay that is accepted. Default 5 ms.
    pub target: Picos,
    /// `interval`, for how long the delay must stay above the target, more than 0. Default 100 ms.
    pub interval: Picos,
    /// `ecn`: mark packets that can be marked. Default off.
    pub ecn: bool,
    /// `ce_threshold`: besides, mark whatever waited longer than this. Default none.
    pub ce_threshold: Option<Picos>,
}

impl Default for CodelParams {
    fn default() -> Self {
        Self {
            limit: 1000,
            target: 5 * MILLISECOND,
            interval: 100 * MILLISECOND,
            ecn: false,
            ce_threshold: None,
        }
    }
}

impl Parameters for CodelParams {
    type Discipline = Codel;

    fn check(&self) -> Result<(), BadParameter> {
        within("limit", self.limit >= 1, "at least 1 packet")?;
        within("interval", self.interval > 0, "more than 0")
    }

    fn sized(self, packets: u32, _packet_bytes: u32) -> Self {
        Self { limit: packets, ..self }
    }

    fn build(&self, wire: &Wire, _seed: u64) -> Codel {
        Codel {
            limit: self.limit as usize,
            setpoint: Setpoint {
                target: self.target,
                interval: self.interval,
                ecn: self.ecn,
                ce_threshold: self.ce_threshold,
                largest_packet: wire.largest_packet,
            },
            law: ControlLaw::default(),
            queue: PacketFifo::new(self.limit),
        }
    }
}

/// CoDel on one first-in-first-out queue.
#[derive(Clone, Debug)]
pub struct Codel {
    limit: usize,
    setpoint: Setpoint,
    law: ControlLaw,
    queue: PacketFifo,
}

impl DequeueDiscipline for Codel {
    #[inline]
    fn enqueue(&mut self, _now: Picos, packet: u32, packets: &mut Packets) {
        if self.queue.len() >= self.limit {
            return packets.drop(packet);
        }
        self.queue.push(packet, packets);
    }

    #[inline]
    fn dequeue(&mut self, now: Picos, packets: &mut Packets) -> Option<(u32, bool)> {
        let sent = self.law.dequeue(now, &self.setpoint, &mut self.queue, packets);
        sent.map(|(packet, marked)| (packet.number, marked))
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn capacity(&self) -> usize {
        self.limit
    }

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit as u64)
    }
}

#[cfg(test)]
mod tests;
