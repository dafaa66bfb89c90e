//! Packets first in, first out, with their bytes: what disciplines that hold packets are made of.

use super::packets::Packets;
use crate::time::Picos;
use std::collections::VecDeque;

/// A packet that waits, and what one asks of it most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub arrived: Picos,
    pub bytes: u32,
    pub number: u32,
}

/// Packets that wait, oldest first.
#[derive(Clone, Debug)]
pub(super) struct PacketFifo {
    packets: VecDeque<Waiting>,
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
    pub fn oldest(&self) -> Option<&Waiting> {
        self.packets.front()
    }

    /// Takes one in.
    #[inline]
    pub fn push(&mut self, packet: u32, packets: &Packets) {
        let waits = &packets[packet];
        let waiting = Waiting { arrived: waits.arrived, bytes: waits.bytes, number: packet };
        self.bytes += u64::from(waiting.bytes);
        self.packets.push_back(waiting);
    }

    /// Takes the oldest off.
    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Bytes waiting.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
