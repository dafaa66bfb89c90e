//! Packets first in, first out, with their bytes: what disciplines that hold packets are made of.

use super::QueuedPacket;
use super::codel::control_law::PacketQueue;
use std::collections::VecDeque;

/// Packets that wait, oldest first.
#[derive(Clone, Debug)]
pub(super) struct PacketFifo {
    packets: VecDeque<QueuedPacket>,
    bytes: u64,
}

impl PacketFifo {
    /// Empty, with room for `limit` or for the first thousands of them.
    pub fn new(limit: u32) -> Self {
        Self { packets: VecDeque::with_capacity(limit.min(4096) as usize), bytes: 0 }
    }

    /// Packets waiting.
    #[inline]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// The oldest.
    #[inline]
    pub fn oldest(&self) -> Option<&QueuedPacket> {
        self.packets.front()
    }

    /// Takes one in.
    #[inline]
    pub fn push(&mut self, packet: QueuedPacket) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }
}

impl PacketQueue for PacketFifo {
    #[inline]
    fn next(&mut self) -> Option<QueuedPacket> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
