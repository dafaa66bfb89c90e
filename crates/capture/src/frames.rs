//! Frames of a pcap or pcapng stream, one after another, in a buffer of bounded size.

use crate::error::CaptureError;
use crate::source::{Bytes, Progress};
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};
use std::ops::ControlFlow;

/// Initial buffer for a block; it grows up to `LARGEST`.
const ROOM: usize = 1 << 20;
/// A record may be so long.
pub const LARGEST: usize = 1 << 24;
/// Maximum number of interfaces in a section; more mean a damaged file, or an attack.
const MOST_INTERFACES: usize = 4096;

/// Where a record's captured length is, and where a block's length.
const PCAP_LENGTH: usize = 8;
const PCAPNG_LENGTH: usize = 4;

/// A captured frame, truncated as in the capture.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970.
    pub at_ns: u64,
    /// Whether it was captured on the chosen interface; true if none was chosen.
    pub chosen: bool,
    /// Link type by tcpdump.org's numbers.
    pub link_type: i32,
    /// Length on the link, which may exceed that of `data`.
    pub original_bytes: u32,
    /// Captured bytes.
    pub data: &'a [u8],
}

/// An interface of a pcapng section; a pcap file has one without a name.
#[derive(Debug, Clone)]
pub struct Interface {
    /// Empty if the file has no name.
    pub name: String,
    /// Link type by tcpdump.org's numbers.
    pub link_type: i32,
    units_per_s: u64,
    offset_s: i64,
    chosen: bool,
}

/// The reason if reading ended before the end of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The last frame is incomplete: the writer was stopped.
    Cut,
    /// The rest is not valid.
    Damaged,
    /// The compressed stream, or the disk, failed, with this error.
    Failed(String),
}

/// A capture that is being read.
pub struct Frames {
    reader: Box<dyn PcapReaderIterator + Send>,
    progress: Progress,
    wanted: Option<String>,
    /// Interfaces of all sections so far.
    pub interfaces: Vec<Interface>,
    /// First interface of the current section.
    section: usize,
    /// Set at the end, with the reason if it is not the file's end.
    pub ended: Option<Option<Ending>>,
    /// Simple packet blocks, which have no time, and frames of undefined interfaces.
    pub unusable: u64,
    /// Where in a record its length is, and whether it begins with the high byte.
    length: (usize, bool),
}

enum Step {
    Consume(usize),
    Refill,
    Grow,
    End(Option<Ending>),
}

impl Frames {
    /// Begins to read; the header must be complete. Frames of an interface named `wanted` are
    /// chosen.
    pub fn new(
        bytes: Bytes,
        progress: &Progress,
        wanted: Option<String>,
    ) -> Result<Self, CaptureError> {
        let reader =
            create_reader(ROOM, bytes).map_err(|error| match (progress.failure(), error) {
                (Some(why), _) => CaptureError::Damaged(why),
                (None, PcapError::HeaderNotRecognized) => CaptureError::UnknownFormat,
                (None, PcapError::Eof | PcapError::Incomplete(_) | PcapError::UnexpectedEof) => {
                    CaptureError::Damaged("it ends within its header".into())
                }
                _ => CaptureError::Damaged("its header".into()),
            })?;
        let (interfaces, section) = (Vec::new(), 0);
        let progress = progress.clone();
        let (ended, unusable, length) = (None, 0, (0, false));
        Ok(Self { reader, progress, wanted, interfaces, section, ended, unusable, length })
    }

    /// Byte of the uncompressed stream at which the record begins that comes next.
    pub fn offset(&self) -> usize {
        self.reader.consumed()
    }

    /// The length that the record says that comes next, if so much of it can be read.
    pub fn stated_length(&self) -> Option<u32> {
        let (at, big_endian) = self.length;
        let bytes = self.reader.data().get(at..at + 4)?.try_into().ok()?;
        Some(if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// Passes frames to `take` until it breaks or the capture ends.
    pub fn read(&mut self, mut take: impl FnMut(&Frame<'_>) -> ControlFlow<()>) {
        let mut stop = false;
        while self.ended.is_none() && !stop {
            match self.step(&mut take, &mut stop) {
                Step::Consume(bytes) => self.reader.consume(bytes),
                Step::Refill => self.refill(),
                Step::Grow => self.grow(),
                Step::End(ending) => self.ended = Some(ending),
            }
        }
    }

    fn step(
        &mut self,
        take: &mut impl FnMut(&Frame<'_>) -> ControlFlow<()>,
        stop: &mut bool,
    ) -> Step {
        match self.reader.next() {
            Ok((bytes, block)) => {
                let mut context = Context {
                    wanted: self.wanted.as_deref(),
                    interfaces: &mut self.interfaces,
                    section: &mut self.section,
                    unusable: &mut self.unusable,
                    length: &mut self.length,
                };
                if let Some(frame) = context.frame(&block) {
                    *stop = take(&frame).is_break();
                }
                if bytes == 0 { Step::End(Some(Ending::Damaged)) } else { Step::Consume(bytes) }
            }
            Err(PcapError::Incomplete(_)) => Step::Refill,
            Err(PcapError::BufferTooSmall) => Step::Grow,
            Err(PcapError::Eof) => Step::End(self.progress.failure().map(Ending::Failed)),
            Err(PcapError::UnexpectedEof) => {
                Step::End(Some(self.progress.failure().map_or(Ending::Cut, Ending::Failed)))
            }
            Err(_) => Step::End(Some(Ending::Damaged)),
        }
    }

    fn refill(&mut self) {
        let before = self.reader.data().len();
        if self.reader.refill().is_err() {
            let why = self.progress.failure().unwrap_or_default();
            self.ended = Some(Some(Ending::Failed(why)));
        } else if self.reader.data().len() == before && !self.reader.reader_exhausted() {
            self.grow();
        }
    }

    /// Enlarges the buffer for a larger block, up to the maximum of a valid block.
    fn grow(&mut self) {
        if !self.reader.grow(LARGEST) || self.reader.data().len() >= LARGEST {
            self.ended = Some(Some(Ending::Damaged));
            return;
        }
        let before = self.reader.data().len();
        let refilled = self.reader.refill().is_ok();
        if !refilled || self.reader.data().len() == before {
            self.ended = Some(Some(Ending::Damaged));
        }
    }
}

struct Context<'s> {
    wanted: Option<&'s str>,
    interfaces: &'s mut Vec<Interface>,
    section: &'s mut usize,
    unusable: &'s mut u64,
    length: &'s mut (usize, bool),
}

impl Context<'_> {
    fn frame<'a>(&mut self, block: &'a PcapBlockOwned<'a>) -> Option<Frame<'a>> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let units =
                    if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
                self.add(String::new(), header.network.0, units, 0);
                *self.length = (PCAP_LENGTH, header.is_bigendian());
                None
            }
            PcapBlockOwned::Legacy(packet) => {
                let index = self.interfaces.len().checked_sub(1)?;
                let interface = &self.interfaces[index];
                let fraction_ns =
                    u64::from(packet.ts_usec) * (1_000_000_000 / interface.units_per_s);
                Some(Frame {
                    at_ns: u64::from(packet.ts_sec) * 1_000_000_000 + fraction_ns,
                    chosen: interface.chosen,
                    link_type: interface.link_type,
                    original_bytes: packet.origlen.max(packet.data.len() as u32),
                    data: packet.data,
                })
            }
            PcapBlockOwned::NG(block) => self.block(block),
        }
    }

    fn block<'a>(&mut self, block: &'a Block<'a>) -> Option<Frame<'a>> {
        match block {
            Block::SectionHeader(header) => {
                *self.section = self.interfaces.len();
                *self.length = (PCAPNG_LENGTH, header.big_endian());
            }
            Block::InterfaceDescription(told) => {
                let name = told.if_name().and_then(Result::ok).unwrap_or("").to_owned();
                let units = told.ts_resolution().filter(|&units| units > 0).unwrap_or(1_000_000);
                self.add(name, told.linktype.0, units, told.if_tsoffset);
            }
            Block::EnhancedPacket(packet) => {
                let index = (*self.section).checked_add(packet.if_id as usize)?;
                let Some(interface) = self.interfaces.get(index) else {
                    *self.unusable += 1;
                    return None;
                };
                let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let data = packet.packet_data();
                return Some(Frame {
                    at_ns: interface.nanoseconds(units),
                    chosen: interface.chosen,
                    link_type: interface.link_type,
                    original_bytes: packet.origlen.max(data.len() as u32),
                    data,
                });
            }
            Block::SimplePacket(_) => *self.unusable += 1,
            _ => {}
        }
        None
    }

    fn add(&mut self, name: String, link_type: i32, units_per_s: u64, offset_s: i64) {
        if self.interfaces.len() < MOST_INTERFACES {
            let chosen = self.wanted.is_none_or(|wanted| wanted == name);
            self.interfaces.push(Interface { name, link_type, units_per_s, offset_s, chosen });
        }
    }
}

impl Interface {
    fn nanoseconds(&self, units: u64) -> u64 {
        let ns = u128::from(units) * 1_000_000_000 / u128::from(self.units_per_s);
        let offset = i128::from(self.offset_s) * 1_000_000_000;
        u64::try_from(ns as i128 + offset).unwrap_or(0)
    }
}
