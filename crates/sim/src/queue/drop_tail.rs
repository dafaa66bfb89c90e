//! Drop-tail: a packet is lost when the queue already holds its limit (Linux `pfifo`, `bfifo`).

/// How much may wait. The packet on the wire does not count.
#[derive(Clone, Copy, Debug)]
pub enum DropTail {
    /// At most so many packets.
    Packets(u32),
}

impl DropTail {
    /// Whether a packet may join `waiting` packets that wait already.
    #[inline]
    pub fn admits(&self, waiting: usize) -> bool {
        match *self {
            Self::Packets(limit) => waiting < limit as usize,
        }
    }

    /// The most packets that can ever wait.
    pub fn capacity(&self) -> usize {
        match *self {
            Self::Packets(limit) => limit as usize,
        }
    }
}
