//! Packets in the router: buffers of one size, reused without allocation.

/// Number of a buffer.
pub type Slot = u32;

/// Memory limit of packets in the router: a second of 2 Gbit/s.
const LIMIT: usize = 256 << 20;
/// Buffers that are added at a time.
const CHUNK: usize = 1024;

/// The router's data about a packet.
#[derive(Clone, Copy, Default, Debug)]
pub struct PacketMeta {
    /// Its flow.
    pub flow: u32,
    /// Its length.
    pub bytes: u32,
    /// Number of the next queue on its route.
    pub hop: u8,
    /// Whether it has the direction of its flow's data.
    pub forward: bool,
    /// Whether it is data: in that direction, and with payload.
    pub data: bool,
    /// Its ECN codepoint.
    pub ecn: forebay_sim::packet::EcnCodepoint,
}

/// A pool of packet buffers of one size.
pub struct Slab {
    buffer_bytes: usize,
    buffers: Vec<Box<[u8]>>,
    meta: Vec<PacketMeta>,
    free: Vec<Slot>,
}

impl Slab {
    /// For packets of at most `buffer_bytes`.
    pub fn new(buffer_bytes: usize) -> Self {
        Self { buffer_bytes, buffers: Vec::new(), meta: Vec::new(), free: Vec::new() }
    }

    /// Returns a buffer, or, above the memory limit, the limit in bytes.
    #[inline]
    pub fn take(&mut self) -> Result<Slot, usize> {
        match self.free.pop() {
            Some(slot) => Ok(slot),
            None => self.grow(),
        }
    }

    /// Frees a buffer.
    #[inline]
    pub fn give(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// The whole buffer.
    #[inline]
    pub fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.buffers[slot as usize]
    }

    /// Lends a buffer with its packet to another thread; its number stays in use.
    #[inline]
    pub fn lend(&mut self, slot: Slot) -> Box<[u8]> {
        std::mem::take(&mut self.buffers[slot as usize])
    }

    /// Takes back a buffer that was lent.
    #[inline]
    pub fn restore(&mut self, slot: Slot, buffer: Box<[u8]>) {
        self.buffers[slot as usize] = buffer;
    }

    /// The packet in it.
    #[inline]
    pub fn packet(&mut self, slot: Slot) -> &mut [u8] {
        let bytes = self.meta[slot as usize].bytes as usize;
        &mut self.buffer(slot)[..bytes]
    }

    /// Its data.
    #[inline]
    pub fn meta_of(&mut self, slot: Slot) -> &mut PacketMeta {
        &mut self.meta[slot as usize]
    }

    #[cold]
    fn grow(&mut self) -> Result<Slot, usize> {
        let first = self.meta.len();
        if (first + CHUNK) * self.buffer_bytes > LIMIT {
            return Err(LIMIT);
        }
        self.buffers.extend((0..CHUNK).map(|_| vec![0; self.buffer_bytes].into_boxed_slice()));
        self.meta.resize(first + CHUNK, PacketMeta::default());
        self.free.extend((first as Slot..(first + CHUNK) as Slot).rev());
        self.free.pop().ok_or(LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_do_not_overlap_and_memory_ends() {
        let mut slab = Slab::new(64 << 10);
        let taken: Vec<Slot> = std::iter::from_fn(|| slab.take().ok()).collect();
        assert_eq!(taken.len(), LIMIT / (64 << 10));
        assert_eq!(slab.take(), Err(LIMIT));
        for &slot in &taken {
            slab.buffer(slot)[..4].copy_from_slice(&slot.to_le_bytes());
        }
        assert!(taken.iter().all(|&slot| slab.buffer(slot)[..4] == slot.to_le_bytes()));
        slab.give(7);
        assert_eq!(slab.take(), Ok(7));
    }
}
