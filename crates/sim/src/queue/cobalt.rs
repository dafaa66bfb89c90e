//! COBALT, CoDel and BLUE side by side (Linux, `sch_cake.c`), on one queue: the law that [`cake`]
//! lays on each of its queues.
//!
//! [`cake`]: super::cake

pub(super) mod control_law;

use super::packet_fifo::{PacketFifo, Waiting};
use super::packets::Packets;
use super::parameters::{BadParameter, Parameters, Wire, within};
use super::{DequeueDiscipline, Limit};
use crate::rng::RandomStream;
use crate::time::{MILLISECOND, Picos, serialization};
use control_law::{ControlLaw, Setpoint};

/// Parameters of `cobalt`. The defaults are those of a queue of Linux's `cake` (tc-cake(8)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CobaltParams {
    /// `limit`, packets that may wait, from 1. Default 1000.
    pub limit: u32,
    /// `target`, the standing delay that is accepted, more than 0; on a slow wire one and a half
    /// times the largest packet's time at least. Default 5 ms.
    pub target: Picos,
    /// `interval`, for how long the delay must stay above the target, more than 0. Default 100 ms.
    pub interval: Picos,
    /// `ecn`: mark packets that can be marked. Default on.
    pub ecn: bool,
}

impl Default for CobaltParams {
    fn default() -> Self {
        Self { limit: 1000, target: 5 * MILLISECOND, interval: 100 * MILLISECOND, ecn: true }
    }
}

impl Parameters for CobaltParams {
    type Discipline = Cobalt;

    fn check(&self) -> Result<(), BadParameter> {
        within("limit", self.limit >= 1, "at least 1 packet")?;
        within("target", self.target > 0, "more than 0")?;
        within("interval", self.interval > 0, "more than 0")
    }

    fn sized(self, packets: u32, _packet_bytes: u32) -> Self {
        Self { limit: packets, ..self }
    }

    fn build(&self, wire: &Wire, seed: u64) -> Cobalt {
        let mtu_time = serialization(wire.largest_packet, wire.rate_bps);
        Cobalt {
            limit: self.limit as usize,
            rate_bps: wire.rate_bps,
            setpoint: Setpoint::scaled(self.target, self.interval, mtu_time, self.ecn),
            law: ControlLaw::default(),
            queue: PacketFifo::new(self.limit),
            wire_free_at: 0,
            random: RandomStream::new(seed),
        }
    }
}

/// COBALT on one first-in-first-out queue.
#[derive(Clone, Debug)]
pub struct Cobalt {
    limit: usize,
    rate_bps: f64,
    setpoint: Setpoint,
    law: ControlLaw,
    queue: PacketFifo,
    /// When the packet that was taken off last has been sent.
    wire_free_at: Picos,
    random: RandomStream,
}

impl DequeueDiscipline for Cobalt {
    /// On overflow the oldest is lost, as in `cake`, and BLUE hears of it.
    fn enqueue(&mut self, now: Picos, packet: u32, packets: &mut Packets) {
        if self.queue.len() == 0 && self.wire_free_at <= now {
            self.law.ran_empty(self.wire_free_at, &self.setpoint);
        }
        if self.queue.len() >= self.limit {
            self.queue.pop().into_iter().for_each(|oldest| packets.drop(oldest.number));
            self.law.overflowed(now, &self.setpoint);
        }
        self.queue.push(packet, packets);
    }

    fn dequeue(&mut self, now: Picos, packets: &mut Packets) -> Option<(u32, bool)> {
        while let Some(Waiting { bytes, number, .. }) = self.queue.pop() {
            let signal = self.law.judge(now, &self.setpoint, &packets[number], &mut self.random);
            if signal.drops && self.queue.len() > 0 {
                packets.drop(number);
                continue;
            }
            self.wire_free_at = now + serialization(bytes, self.rate_bps);
            return Some((number, signal.marks));
        }
        None
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
