//! Drop-tail: a packet that finds the queue full is lost (Linux `pfifo` and `bfifo`).

use super::parameters::{BadParameter, Parameters, Wire, within};
use super::{Backlog, EnqueueDecision, EnqueueDiscipline, Limit};
use crate::time::Picos;

/// Parameters of `pfifo`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PfifoParams {
    /// `limit`, packets that may wait, from 1. Default 1000, the `txqueuelen` of an Ethernet device.
    pub limit: u32,
}

/// Parameters of `bfifo`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BfifoParams {
    /// `limit`, bytes that may wait, from 1. Default 1 514 000: `txqueuelen` × (MTU 1500 + 14).
    pub limit: u64,
}

impl Default for PfifoParams {
    fn default() -> Self {
        Self { limit: 1000 }
    }
}

impl Default for BfifoParams {
    fn default() -> Self {
        Self { limit: 1_514_000 }
    }
}

/// At most so many packets wait.
#[derive(Clone, Debug)]
pub struct Pfifo {
    limit: usize,
}

/// At most so many bytes wait.
#[derive(Clone, Debug)]
pub struct Bfifo {
    limit: u64,
    capacity: usize,
}

impl Parameters for PfifoParams {
    type Discipline = Pfifo;

    fn check(&self) -> Result<(), BadParameter> {
        within("limit", self.limit >= 1, "at least 1 packet")
    }

    fn sized(self, packets: u32, _packet_bytes: u32) -> Self {
        Self { limit: packets }
    }

    fn build(&self, _wire: &Wire, _seed: u64) -> Pfifo {
        Pfifo { limit: self.limit as usize }
    }
}

impl Parameters for BfifoParams {
    type Discipline = Bfifo;

    fn check(&self) -> Result<(), BadParameter> {
        within("limit", self.limit >= 1, "at least 1 byte")
    }

    fn sized(self, packets: u32, packet_bytes: u32) -> Self {
        Self { limit: u64::from(packets) * u64::from(packet_bytes) }
    }

    fn build(&self, wire: &Wire, _seed: u64) -> Bfifo {
        Bfifo { limit: self.limit, capacity: wire.most_packets(self.limit) }
    }
}

impl EnqueueDiscipline for Pfifo {
    #[inline]
    fn on_enqueue(
        &mut self,
        _now: Picos,
        _bytes: u32,
        _ecn: bool,
        backlog: &Backlog,
    ) -> EnqueueDecision {
        admit_if(backlog.delay == 0 || backlog.packets < self.limit)
    }

    fn threshold(&self, _bytes: u32) -> Option<usize> {
        Some(self.limit)
    }

    fn capacity(&self) -> usize {
        self.limit
    }

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit as u64)
    }
}

impl EnqueueDiscipline for Bfifo {
    /// A packet that finds the wire idle never waits, however small the limit.
    #[inline]
    fn on_enqueue(
        &mut self,
        _now: Picos,
        bytes: u32,
        _ecn: bool,
        backlog: &Backlog,
    ) -> EnqueueDecision {
        admit_if(backlog.delay == 0 || backlog.bytes + u64::from(bytes) <= self.limit)
    }

    fn threshold(&self, bytes: u32) -> Option<usize> {
        Some((self.limit / u64::from(bytes)) as usize)
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn limit(&self) -> Limit {
        Limit::Bytes(self.limit)
    }
}

#[inline]
fn admit_if(room: bool) -> EnqueueDecision {
    if room { EnqueueDecision::Accept } else { EnqueueDecision::Drop }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testbench;

    fn backlog(packets: usize, bytes: u64) -> Backlog {
        Backlog { packets, bytes, delay: 1 }
    }

    #[test]
    fn pfifo_counts_packets() {
        let mut queue = PfifoParams { limit: 3 }.build(&testbench::WIRE, 0);
        assert_eq!(queue.on_enqueue(0, 1500, false, &backlog(2, 1 << 40)), EnqueueDecision::Accept);
        assert_eq!(queue.on_enqueue(0, 1500, false, &backlog(3, 0)), EnqueueDecision::Drop);
        assert_eq!(queue.capacity(), 3);
    }

    #[test]
    fn bfifo_counts_bytes_and_lets_a_small_packet_in_where_a_large_one_is_lost() {
        let mut queue = BfifoParams { limit: 4500 }.build(&testbench::WIRE, 0);
        assert_eq!(queue.on_enqueue(0, 1500, false, &backlog(2, 3000)), EnqueueDecision::Accept);
        assert_eq!(queue.on_enqueue(0, 1500, false, &backlog(2, 3001)), EnqueueDecision::Drop);
        assert_eq!(queue.on_enqueue(0, 40, false, &backlog(3, 4460)), EnqueueDecision::Accept);
        assert_eq!(queue.capacity(), 4500 / 40);
    }

    #[test]
    fn an_idle_wire_takes_a_packet_that_the_queue_could_not_hold() {
        let mut queue = BfifoParams { limit: 100 }.build(&testbench::WIRE, 0);
        assert_eq!(queue.on_enqueue(0, 1500, false, &Backlog::default()), EnqueueDecision::Accept);
    }
}
