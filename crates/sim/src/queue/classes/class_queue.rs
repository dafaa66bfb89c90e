//! The queue of one class: first in, first out, with a limit that concerns no other class.

use super::LastSent;
use super::rate_meter::RateMeter;
use crate::queue::red::Red;
use crate::queue::{EnqueueDecision, Limit};
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
    /// The number of each, its size, and whether it was marked.
    packets: VecDeque<(u32, u32, bool)>,
    /// Bytes waiting.
    pub bytes: u64,
    /// What was last sent of this class.
    pub last_sent: LastSent,
    /// What it gets of its level before the others share the rest.
    pub min_rate: Option<RateMeter>,
    /// What it may not exceed.
    pub max_rate: Option<RateMeter>,
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
            min_rate: None,
            max_rate: None,
        }
    }

    #[inline]
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Before this its largest rate does not let it send.
    #[inline]
    pub fn held_until(&self) -> Picos {
        self.max_rate.as_ref().map_or(0, RateMeter::conforms_at)
    }

    /// Size of the packet that it would send.
    #[inline]
    pub fn next_bytes(&self) -> Option<u32> {
        self.packets.front().map(|&(_, bytes, _)| bytes)
    }

    /// Whether a packet that arrives may join.
    #[inline]
    pub fn judge(
        &mut self,
        now: Picos,
        bytes: u32,
        ecn: bool,
        wire_idle: bool,
        rate_bps: f64,
    ) -> EnqueueDecision {
        match &mut self.admission {
            Admission::TailDrop(limit) => {
                let fits = match *limit {
                    Limit::Packets(most) => (self.packets.len() as u64) < most,
                    Limit::Bytes(most) => self.bytes + u64::from(bytes) <= most,
                };
                if fits || wire_idle { EnqueueDecision::Accept } else { EnqueueDecision::Drop }
            }
            Admission::Red(red) => {
                // Idle is a class that has none waiting and none on the wire.
                let ended = self.last_sent.ends(rate_bps);
                let idle = (self.packets.is_empty() && ended <= now).then(|| now - ended);
                red.judge(bytes, ecn, self.bytes, idle)
            }
        }
    }

    #[inline]
    pub fn push(&mut self, packet: u32, bytes: u32, marked: bool) {
        self.packets.push_back((packet, bytes, marked));
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(u32, bool)> {
        self.packets.pop_front().map(|(packet, _, marked)| (packet, marked))
    }
}
