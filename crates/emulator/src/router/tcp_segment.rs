//! The fields of a TCP segment that tell what was sent, received and received twice.

const TCP: u8 = 6;
/// Begins a connection.
pub const SYN: u8 = 2;
/// Ends one at once.
pub const RST: u8 = 4;
/// TCP's options: those without a length, selective acknowledgements (RFC 2018) and timestamps (RFC 7323).
const END: u8 = 0;
pub const NOTHING: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Address and port of an end.
pub type Key = (u32, u16);
/// Sequence numbers, the second one past the last.
pub type Range = (u32, u32);

/// Header fields of a segment.
pub struct Segment<'a> {
    /// Its sender.
    pub from: Key,
    /// Its receiver.
    pub to: Key,
    /// `SYN`, `RST` and others.
    pub flags: u8,
    /// Acknowledgement number.
    pub ack: u32,
    /// Sequence numbers of its payload.
    pub data: Range,
    options: &'a [u8],
}

impl<'a> Segment<'a> {
    /// `None` if it is not a complete TCP segment of IPv4.
    pub fn read(packet: &'a [u8]) -> Option<Self> {
        let header = usize::from(packet.first()? & 0xf) * 4;
        let bytes = usize::from(u16::from_be_bytes(part(packet, 2)?));
        let tcp = packet.get(header..bytes)?;
        let offset = usize::from(tcp.get(12)? >> 4) * 4;
        let end = |address, port| Some((word(packet, address)?, half(tcp, port)?));
        let data = word(tcp, 4)?;
        let payload = tcp.len().checked_sub(offset)? as u32;
        (packet[9] == TCP).then_some(())?;
        Some(Self {
            from: end(12, 0)?,
            to: end(16, 2)?,
            flags: *tcp.get(13)?,
            ack: word(tcp, 8)?,
            data: (data, data.wrapping_add(payload)),
            options: tcp.get(20..offset)?,
        })
    }

    /// The duplicate range: a first block below the acknowledgement, or inside the second (RFC 2883,
    /// section 4).
    pub fn dsack(&self) -> Option<Range> {
        let blocks = self.sack_blocks()?;
        let block = |at: usize| Some((word(blocks, at)?, word(blocks, at + 4)?));
        let first: Range = block(0)?;
        let acknowledged = !before(self.ack, first.1) && self.flags & RST == 0;
        let inside = |outer: Range| !before(first.0, outer.0) && !before(outer.1, first.1);
        (acknowledged || block(8).is_some_and(inside)).then_some(first)
    }

    /// Ranges that the receiver has beyond a hole; the first may be a duplicate (`dsack`).
    pub fn sacked(&self) -> impl Iterator<Item = Range> {
        let blocks = self.sack_blocks().unwrap_or_default().chunks_exact(8);
        blocks.filter_map(|block| Some((word(block, 0)?, word(block, 4)?)))
    }

    /// Whether it echoes a timestamp (RFC 7323).
    pub fn echoes(&self) -> bool {
        self.option(TIMESTAMPS).is_some()
    }

    fn sack_blocks(&self) -> Option<&'a [u8]> {
        self.option(SACK)
    }

    /// What an option has after its kind and length.
    fn option(&self, wanted: u8) -> Option<&'a [u8]> {
        let mut rest = self.options;
        loop {
            let (&kind, after) = rest.split_first()?;
            if kind == END {
                return None;
            }
            if kind == NOTHING {
                rest = after;
                continue;
            }
            let length = usize::from(*after.first()?);
            if kind == wanted {
                return rest.get(2..length);
            }
            rest = rest.get(length.max(2)..)?;
        }
    }
}

/// Compares sequence numbers, which wrap around (RFC 9293, section 3.4).
pub fn before(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    part(bytes, at).map(u32::from_be_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    part(bytes, at).map(u16::from_be_bytes)
}

#[cfg(test)]
pub mod tests {
    pub use super::NOTHING;
    use super::*;

    pub const SENDER: [u8; 6] = [10, 64, 0, 1, 0x80, 1];
    pub const RECEIVER: [u8; 6] = [10, 128, 0, 1, 0x13, 0x89];

    /// A segment with this sequence and acknowledgement number.
    pub fn packet(
        from: [u8; 6],
        to: [u8; 6],
        words: [u32; 2],
        options: &[u8],
        payload: u16,
    ) -> Vec<u8> {
        let offset = 20 + options.len();
        let bytes = 20 + offset as u16 + payload;
        let mut packet = vec![0; usize::from(bytes)];
        (packet[0], packet[9], packet[32]) = (0x45, TCP, ((offset / 4) << 4) as u8);
        packet[2..4].copy_from_slice(&bytes.to_be_bytes());
        packet[12..16].copy_from_slice(&from[..4]);
        packet[16..20].copy_from_slice(&to[..4]);
        packet[20..22].copy_from_slice(&from[4..]);
        packet[22..24].copy_from_slice(&to[4..]);
        packet[24..28].copy_from_slice(&words[0].to_be_bytes());
        packet[28..32].copy_from_slice(&words[1].to_be_bytes());
        packet[40..40 + options.len()].copy_from_slice(options);
        packet
    }

    /// Options with these blocks.
    pub fn sack(blocks: &[Range]) -> Vec<u8> {
        let mut options = vec![NOTHING; 14];
        options.extend([SACK, 2 + 8 * blocks.len() as u8]);
        for &(from, to) in blocks {
            options.extend(from.to_be_bytes());
            options.extend(to.to_be_bytes());
        }
        options
    }
}
