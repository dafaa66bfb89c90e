//! Errors of a file.

use std::fmt;

/// Why a capture cannot be read. Damage after its first packet is not an error but a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureError {
    /// The operating system's error.
    Unreadable(String),
    /// Neither pcap nor pcapng, nor either in gzip or zstd.
    UnknownFormat,
    /// The file's header, or its compressed stream, is damaged.
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
