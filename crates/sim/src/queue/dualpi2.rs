//! DualPI2, the dual-queue coupled AQM with PI2 (RFC 9332, appendix A; Linux `dualpi2`).
//!
//! L4S packets, ECT(1) or CE, wait in the L queue and all others in the C queue. One probability p' steers
//! both: a C packet is signalled with p'², an L packet with k p', so that a window that goes as 1/√p and
//! one that goes as 1/p come out alike.
//!
//! p' is due every `tupdate`. It is brought up to date before the queue next changes: between two
//! changes the oldest packets stay the same, so that their delay at each step is known.

mod params;

pub use params::DualPi2Params;

use super::packet_fifo::PacketFifo;
use super::packets::Packets;
use super::{DequeueDiscipline, Limit, QueuedPacket};
use crate::rng::RandomStream;
use crate::time::{Picos, SECOND};

/// DualPI2: two queues before one wire.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    params: DualPi2Params,
    largest_packet: u32,
    classic: PacketFifo,
    l4s: PacketFifo,
    /// p' of RFC 9332.
    probability: f64,
    /// The longer of both queues' delays at the last step.
    delay: Picos,
    next_update: Picos,
    /// Percent bytes by which the C queue is ahead in its share: the L queue's turn while not positive.
    credit: i64,
    random: RandomStream,
}

/// What becomes of a packet that has come to the head of its queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signal {
    None,
    Mark,
    Drop,
}

impl DualPi2 {
    fn new(params: DualPi2Params, largest_packet: u32, seed: u64) -> Self {
        let mut new = Self {
            params,
            largest_packet,
            classic: PacketFifo::new(params.limit),
            l4s: PacketFifo::new(params.limit),
            probability: 0.0,
            delay: 0,
            next_update: params.tupdate,
            credit: 0,
            random: RandomStream::new(seed),
        };
        new.reset_credit();
        new
    }

    /// p' of the last step (RFC 9332): C packets are signalled with its square, L packets
    /// with `coupling_factor` times as much.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    fn packets(&self) -> usize {
        self.classic.len() + self.l4s.len()
    }

    /// Linux, dualpi2_calculate_c_protection: a largest packet's lead for the heavier queue.
    fn reset_credit(&mut self) {
        let classic = i64::from(self.params.classic_protection);
        self.credit = i64::from(self.largest_packet) * (2 * classic - 100);
    }

    /// The steps that are due. None changes anything once an empty queue's probability is 0.
    fn catch_up(&mut self, now: Picos) {
        while self.next_update <= now {
            if self.packets() == 0 && self.probability == 0.0 && self.delay == 0 {
                self.next_update +=
                    ((now - self.next_update) / self.params.tupdate + 1) * self.params.tupdate;
                return;
            }
            self.step(self.next_update);
            self.next_update += self.params.tupdate;
        }
    }

    /// Linux, calculate_probability: p' gains alpha (d - target) + beta (d - d_old), d the longer of both
    /// queues' delays.
    #[inline(never)]
    fn step(&mut self, at: Picos) {
        let waited = |queue: &PacketFifo| {
            queue.oldest().map_or(0, |oldest| at.saturating_sub(oldest.arrived))
        };
        let delay = waited(&self.classic).max(waited(&self.l4s));
        let seconds =
            |later: Picos, earlier: Picos| (later as f64 - earlier as f64) / SECOND as f64;
        let DualPi2Params { alpha, beta, target, .. } = self.params;
        let gain = alpha * seconds(delay, target) + beta * seconds(delay, self.delay);
        self.probability = (self.probability + gain).clamp(0.0, self.most());
        self.delay = delay;
    }

    /// Without drops on overload k p' ends at 1 (Linux, calculate_probability).
    fn most(&self) -> f64 {
        if self.params.drop_on_overload {
            1.0
        } else {
            1.0 / f64::from(self.params.coupling_factor)
        }
    }

    /// The head of the queue whose turn it is, whether that is the L queue, and what sending it takes off
    /// its credit (Linux, dequeue_packet: weighted round robin while both wait).
    fn next(&mut self) -> Option<(u32, bool, i64)> {
        let (classic, l4s) = (self.classic.len() > 0, self.l4s.len() > 0);
        let weight = i64::from(self.params.classic_protection);
        if l4s && (!classic || self.credit <= 0) {
            let packet = self.l4s.pop()?;
            let cost = if classic { weight * i64::from(packet.bytes) } else { 0 };
            return Some((packet.number, true, cost));
        }
        let packet = self.classic.pop()?;
        let cost = if l4s { (weight - 100) * i64::from(packet.bytes) } else { 0 };
        Some((packet.number, false, cost))
    }

    /// Nothing is signalled while fewer bytes than two of the largest packets wait behind (Linux, must_drop).
    fn judge(&mut self, packet: &QueuedPacket, l4s: bool) -> Signal {
        if self.bytes() < 2 * u64::from(self.largest_packet) {
            return Signal::None;
        }
        let coupled = self.probability * f64::from(self.params.coupling_factor);
        let overload = coupled > 1.0;
        match (l4s, overload) {
            (false, _) if !self.strikes_twice() => Signal::None,
            (false, _) if overload || !packet.is_ecn_capable() => Signal::Drop,
            (true, true) if self.params.drop_on_overload && self.strikes_twice() => Signal::Drop,
            (true, false) if self.random.uniform() >= coupled => Signal::None,
            _ => Signal::Mark,
        }
    }

    /// With p'².
    fn strikes_twice(&mut self) -> bool {
        self.random.uniform() < self.probability && self.random.uniform() < self.probability
    }

    /// The L queue's own AQM: all that waited longer than `step_thresh` is marked.
    fn is_beyond_step(&self, now: Picos, packet: &QueuedPacket) -> bool {
        now - packet.arrived > self.params.step_thresh
    }
}

impl DequeueDiscipline for DualPi2 {
    fn enqueue(&mut self, now: Picos, packet: u32, packets: &mut Packets) {
        self.catch_up(now);
        if self.packets() == 0 {
            self.reset_credit();
        }
        if self.packets() >= self.params.limit as usize {
            return packets.drop(packet);
        }
        let waits = &packets[packet];
        if waits.is_l4s() || (self.params.any_ect && waits.is_ecn_capable()) {
            self.l4s.push(packet, packets);
        } else {
            self.classic.push(packet, packets);
        }
    }

    fn dequeue(&mut self, now: Picos, packets: &mut Packets) -> Option<(u32, bool)> {
        self.catch_up(now);
        while let Some((packet, l4s, cost)) = self.next() {
            let signal = self.judge(&packets[packet], l4s);
            if signal == Signal::Drop {
                packets.drop(packet);
                continue;
            }
            self.credit += cost;
            let marked =
                signal == Signal::Mark || (l4s && self.is_beyond_step(now, &packets[packet]));
            return Some((packet, marked));
        }
        None
    }

    fn bytes(&self) -> u64 {
        self.classic.bytes() + self.l4s.bytes()
    }

    fn capacity(&self) -> usize {
        self.params.limit as usize
    }

    fn limit(&self) -> Limit {
        Limit::Packets(self.params.limit.into())
    }
}

#[cfg(test)]
mod tests;
