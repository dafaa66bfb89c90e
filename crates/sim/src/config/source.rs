//! What flows send: segments, datagrams, files, and which of them wait for each other.

use crate::time::Picos;
use std::ops::Range;

/// What a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// So many segments over TCP, once; `u64::MAX` for a flow that never ends.
    Segments(u64),
    /// As many segments over TCP as it may until then; what it has sent by then is still sent again where it is lost.
    Until(Picos),
    /// Those of `Config::packets` from the first index to before the second, at their times,
    /// whatever becomes of them.
    Datagrams(u32, u32),
    /// Those of `Config::files` from the first index to before the second, each over a TCP
    /// connection of its own, with a pause after each, or after the request of its barrier.
    Files(u32, u32),
    /// The same, of which none begins at that time or later.
    FilesUntil(u32, u32, Picos),
}

impl Source {
    /// Index of its first datagram or file; 0 without any.
    pub(crate) fn first(&self) -> usize {
        match *self {
            Self::Datagrams(first, _) | Self::Files(first, _) | Self::FilesUntil(first, ..) => {
                first as usize
            }
            Self::Segments(_) | Self::Until(_) => 0,
        }
    }
}

/// A packet of an open-loop source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// When the source hands it to its access link; not before the one before it.
    pub at: Picos,
    /// Size on the link, headers included.
    pub bytes: u32,
}

/// A file that a user fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its length.
    pub segments: u64,
    /// The pause after it.
    pub think: Picos,
}

/// Flows that answer each request together, with a file each: the next one is asked a pause after the last
/// answer has arrived. The pause after a file of such a flow is the time between the next request and the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Which flows; all have as many files.
    pub flows: Range<u32>,
    /// When the first request is asked.
    pub asked: Picos,
    /// The pause after each request but the last.
    pub thinks: Vec<Picos>,
}

impl Barrier {
    /// Of one request.
    pub fn once(flows: Range<u32>, asked: Picos) -> Self {
        Self { flows, asked, thinks: Vec::new() }
    }
}
