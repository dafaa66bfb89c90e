//! Readings of a link's traffic from captures and flow records, as a stream.
//!
//! `source` opens and decompresses files, `frames` finds frames in pcap and pcapng, `link_header` and
//! `packet` decode one. A `meter` collects what estimates need, in memory that does not grow with the
//! file: a bounded table of flows, series whose bins widen, histograms. No input may panic.

pub mod error;
pub mod exports;
pub mod flows;
pub mod frames;
pub mod histogram;
pub mod link_header;
pub mod meter;
pub mod packet;
pub mod reading;
pub mod series;
pub mod source;
