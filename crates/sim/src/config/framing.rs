//! What a line adds to a packet.

use serde::Deserialize;

/// A packet's bytes on the line: an overhead, at least so many bytes, and `extra` for each block of `payload`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct FramingSpec {
    /// Bytes before blocks.
    pub overhead: u32,
    /// A packet and its overhead take at least so many.
    pub least: u32,
    /// Bytes of a block, at least 1.
    pub payload: u32,
    /// Bytes that each block, also one begun, has besides.
    pub extra: u32,
    /// The last block is filled up, as a cell is.
    pub padded: bool,
}

impl FramingSpec {
    /// The bytes of a packet on the line.
    pub fn on_line(&self, bytes: u32) -> u32 {
        let framed = bytes.saturating_add(self.overhead).max(self.least);
        let blocks = framed.div_ceil(self.payload);
        let filled = if self.padded { blocks.saturating_mul(self.payload) } else { framed };
        filled.saturating_add(blocks.saturating_mul(self.extra))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_blocks_and_frames() {
        let atm = FramingSpec { overhead: 40, least: 0, payload: 48, extra: 5, padded: true };
        assert_eq!([1500, 1496, 40, 8].map(|bytes| atm.on_line(bytes)), [1749, 1696, 106, 53]);
        let ptm = FramingSpec { overhead: 30, least: 0, payload: 64, extra: 1, padded: false };
        assert_eq!([1500, 34, 35].map(|bytes| ptm.on_line(bytes)), [1554, 65, 67]);
        let ethernet = FramingSpec { overhead: 38, least: 84, payload: 1, extra: 0, padded: false };
        assert_eq!([1500, 40].map(|bytes| ethernet.on_line(bytes)), [1538, 84]);
    }
}
