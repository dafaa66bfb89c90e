//! Reads captures one after another into a meter.

use crate::error::CaptureError;
use crate::exports::collector::Collector;
use crate::frames::{Ending, Frames, LARGEST};
use crate::link_header::{is_read, not_ip};
use crate::meter::Meter;
use crate::packet::{datagram, decode};
use crate::source::{Bytes, Progress, open};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

/// A capture that is being read.
pub struct Reading {
    frames: Frames,
    /// Bytes of the file that have been read.
    pub progress: Progress,
    /// Frames so far.
    pub read: u64,
    /// Frames without a readable IP packet, and their bytes on the link.
    pub other: (u64, u64),
    /// What those are of them whose kind is known.
    pub other_kinds: BTreeMap<&'static str, u64>,
    /// Frames that were captured too short for the TCP header.
    pub cut_short: u64,
}

impl Reading {
    /// Opens a file. Frames of the interface with this name are of the link; None: all are.
    pub fn open(path: &Path, interface: Option<String>) -> Result<Self, CaptureError> {
        let progress = Progress::default();
        let bytes = open(path, &progress)?;
        Self::new(bytes, progress, interface)
    }

    /// Reads from anything.
    pub fn new(
        bytes: Bytes,
        progress: Progress,
        interface: Option<String>,
    ) -> Result<Self, CaptureError> {
        let frames = Frames::new(bytes, &progress, interface)?;
        Ok(Self {
            frames,
            progress,
            read: 0,
            other: (0, 0),
            other_kinds: BTreeMap::new(),
            cut_short: 0,
        })
    }

    /// Reads up to `most` frames; returns whether there may be more.
    pub fn advance(&mut self, most: u64, meter: &mut Meter) -> bool {
        let until = self.read + most;
        let (read, other, cut_short) = (&mut self.read, &mut self.other, &mut self.cut_short);
        let kinds = &mut self.other_kinds;
        self.frames.read(|frame| {
            *read += 1;
            match decode(frame) {
                Some(packet) => {
                    *cut_short += u64::from(packet.tcp.is_none() && packet.key.protocol == 6);
                    meter.packet(&packet);
                }
                None => {
                    *other = (other.0 + 1, other.1 + u64::from(frame.original_bytes));
                    if let Some(kind) = not_ip(frame.link_type, frame.data) {
                        *kinds.entry(kind).or_default() += 1;
                    }
                }
            }
            if *read < until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.frames.ended.is_none()
    }

    /// Reads up to `most` frames of exported flow records; returns whether there may be more.
    pub fn collect(&mut self, most: u64, collector: &mut Collector) -> bool {
        let until = self.read + most;
        let (read, other) = (&mut self.read, &mut self.other);
        self.frames.read(|frame| {
            *read += 1;
            match datagram(frame) {
                Some((key, data)) => collector.datagram(key.from, frame.at_ns, data),
                None => *other = (other.0 + 1, other.1 + u64::from(frame.original_bytes)),
            }
            if *read < until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.frames.ended.is_none()
    }

    /// Why it ended before the end of the file, if it did.
    pub fn ending(&self) -> Option<&Ending> {
        self.frames.ended.as_ref().and_then(Option::as_ref)
    }

    /// Why it ended before the end of the file, if it did, in words: which record, and what it says.
    pub fn ending_in_words(&self) -> Option<String> {
        let why = match self.ending()? {
            Ending::Failed(why) => return Some(format!("reading failed: {why}")),
            Ending::Cut => "its last frame is cut",
            Ending::Damaged => "what follows is damaged",
        };
        let (record, offset) = (self.read + 1, self.frames.offset());
        let said = match self.frames.stated_length() {
            Some(length) if length as usize > LARGEST => {
                format!(" and says that it has {length} B, where {LARGEST} B are the most")
            }
            Some(length) => format!(" and says that it has {length} B"),
            None => String::new(),
        };
        Some(format!("{why}: record {record} begins at byte {offset}{said}"))
    }

    /// Names of the file's interfaces.
    pub fn interfaces(&self) -> Vec<&str> {
        self.frames.interfaces.iter().map(|interface| interface.name.as_str()).collect()
    }

    /// Link types of its interfaces whose frames are not read.
    pub fn unread_link_types(&self) -> Vec<i32> {
        let types = self.frames.interfaces.iter().map(|interface| interface.link_type);
        types.filter(|&link_type| !is_read(link_type)).collect()
    }

    /// Simple packet blocks, which have no time, and frames of undefined interfaces.
    pub fn unusable(&self) -> u64 {
        self.frames.unusable
    }
}
