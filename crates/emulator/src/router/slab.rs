//! Packets under way: buffers of one size, taken and given back without allocating.

/// Number of a buffer.
pub type Slot = u32;

/// Bytes that packets under way may take: a second of 2 Gbit/s.
const LIMIT: usize = 256 << 20;
/// Buffers that are added at a time.
const CHUNK: usize = 1024;

/// What the router knows of a packet under way.
#[derive(Clone, Copy, Default, Debug)]
pub struct PacketMeta {
    /// Its flow.
    pub flow: u32,
    /// Its length.
    pub bytes: u32,
    /// Number of the next queue on its way.
    pub hop: u8,
    /// It goes as its flow's data goes.
    pub forward: bool,
    /// It is data: on its way onward, and more than headers.
    pub data: bool,
    /// It may be marked.
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

    /// A buffer, or, beyond the memory allowed, that limit in bytes.
    #[inline]
    pub fn take(&mut self) -> Result<Slot, usize> {
        match self.free.pop() {
            Some(slot) => Ok(slot),
            None => self.grow(),
        }
    }

    /// Gives a buffer back.
    #[inline]
    pub fn give(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// The whole buffer.
    #[inline]
    pub fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.buffers[slot as usize]
    }

    /// Lends a buffer, in which the packet is, to another thread; its number stays taken.
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

    /// What is known of it.
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
