//! What can be wrong with a file.

use std::fmt;

/// Why a capture cannot be read. What is wrong after its first packet is no error but a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureError {
    /// The operating system refused: its own words.
    Unreadable(String),
    /// Neither pcap nor pcapng, nor either in gzip or zstd.
    UnknownFormat,
    /// The file's header, or the packed stream around it, is damaged.
    Damaged(String),
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "cannot be read ({why})"),
            Self::UnknownFormat => write!(f, "is neither pcap nor pcapng"),
            Self::Damaged(why) => write!(f, "is damaged at its beginning ({why})"),
        }
    }
}

impl std::error::Error for CaptureError {}
