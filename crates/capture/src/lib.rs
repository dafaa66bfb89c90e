//! What crosses a link, read from captures and flow records as a stream.
//!
//! `source` opens files and unpacks them, `frames` finds frames in pcap and pcapng, `packet` decodes
//! one. A `meter` keeps what estimates need of all packets in memory that does not grow with the
//! file: a bounded table of flows, series whose bins widen, histograms. No input may panic.

pub mod error;
pub mod exports;
pub mod flows;
pub mod frames;
pub mod histogram;
pub mod meter;
pub mod packet;
pub mod reading;
pub mod series;
pub mod source;
