//! The queue of one class: first in, first out, with a limit that concerns no other class.

use super::LastSent;
use crate::queue::red::Red;
use crate::queue::{EnqueueDecision, Limit, QueuedPacket};
use crate::time::Picos;
use std::collections::VecDeque;

/// What decides whether a packet may join.
#[derive(Clone, Debug)]
pub(super) enum Admission {
    /// One that would bring the queue above its limit is lost.
    TailDrop(Limit),
    /// RED, which looks at this class alone.
    Red(Box<Red>),
}

/// A class queue, and its place in the schedule.
#[derive(Clone, Debug)]
pub(super) struct ClassQueue {
    pub level: usize,
    /// Bytes that it is allowed with each turn.
    pub quantum: u64,
    /// Bytes that are left of its turns.
    pub deficit: u64,
    admission: Admission,
    /// Each with whether it was marked.
    packets: VecDeque<(QueuedPacket, bool)>,
    bytes: u64,
    last_sent: LastSent,
}

impl ClassQueue {
    /// An empty queue that `capacity` packets may wait in.
    pub fn new(level: usize, quantum: u64, admission: Admission, capacity: usize) -> Self {
        Self {
            level,
            quantum,
            deficit: 0,
            admission,
            packets: VecDeque::with_capacity(capacity.min(1024)),
            bytes: 0,
            last_sent: LastSent::default(),
        }
    }

    #[inline]
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Size of the packet that it would send.
    #[inline]
    pub fn next_bytes(&self) -> Option<u64> {
        self.packets.front().map(|(packet, _)| packet.bytes.into())
    }

    /// Takes a packet in, if there is room for it.
    #[inline]
    pub fn enqueue(
        &mut self,
        now: Picos,
        packet: QueuedPacket,
        wire_idle: bool,
        rate_bps: f64,
    ) -> bool {
        let fate = match &mut self.admission {
            Admission::TailDrop(limit) => {
                let fits = match *limit {
                    Limit::Packets(most) => (self.packets.len() as u64) < most,
                    Limit::Bytes(most) => self.bytes + u64::from(packet.bytes) <= most,
                };
                if fits || wire_idle { EnqueueDecision::Accept } else { EnqueueDecision::Drop }
            }
            Admission::Red(red) => {
                // Idle is a class that has none waiting and none on the wire.
                let ended = self.last_sent.ends(rate_bps);
                let idle = (self.packets.is_empty() && ended <= now).then(|| now - ended);
                red.judge(packet.bytes, packet.ecn_capable, self.bytes, idle)
            }
        };
        if fate == EnqueueDecision::Drop {
            return false;
        }
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back((packet, fate == EnqueueDecision::Mark));
        true
    }

    #[inline]
    pub fn dequeue(&mut self, now: Picos) -> Option<(QueuedPacket, bool)> {
        let sent = self.packets.pop_front()?;
        self.bytes -= u64::from(sent.0.bytes);
        self.last_sent = LastSent { at: now, bytes: sent.0.bytes };
        Some(sent)
    }
}
