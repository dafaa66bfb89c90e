//! What the parameters of every discipline have in common, and what a queue must know of its wire.

use crate::config::FramingSpec;
use crate::time::{Picos, serialization};
use std::fmt;

/// The wire that a queue stands in front of.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Its rate.
    pub rate_bps: f64,
    /// The largest packet that it carries, bytes: Linux takes the device's MTU.
    pub largest_packet: u32,
    /// The smallest packet that it carries, bytes; at least 1.
    pub smallest_packet: u32,
    /// Its rate is that of a shaper before a faster one.
    pub shaped: bool,
    /// What the line adds to each packet.
    pub framing: Option<FramingSpec>,
}

impl Wire {
    /// The time that it takes to send a packet, with what the line adds.
    pub fn serialization(&self, bytes: u32) -> Picos {
        let line = self.framing.map_or(bytes, |framing| framing.on_line(bytes));
        serialization(line, self.rate_bps)
    }

    /// How many packets could ever wait in so many bytes.
    pub fn most_packets(&self, bytes: u64) -> usize {
        (bytes / u64::from(self.smallest_packet)) as usize
    }
}

/// A parameter out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadParameter {
    /// Its name in Linux's tc.
    pub field: &'static str,
    /// What it must be instead.
    pub must_be: &'static str,
}

impl fmt::Display for BadParameter {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} must be {}", self.field, self.must_be)
    }
}

impl std::error::Error for BadParameter {}

/// `Ok` if `holds`, else the refusal of the parameter `field` with what it must be.
pub(super) fn within(
    field: &'static str,
    holds: bool,
    must_be: &'static str,
) -> Result<(), BadParameter> {
    if holds { Ok(()) } else { Err(BadParameter { field, must_be }) }
}

/// Parameters of a discipline. Their default is what Linux ships.
pub trait Parameters: Default {
    /// The discipline that they make.
    type Discipline;
    /// Refuses what is out of range.
    fn check(&self) -> Result<(), BadParameter>;
    /// With a limit of so many packets of this size; a limit in bytes holds as many.
    fn sized(self, packets: u32, packet_bytes: u32) -> Self;
    /// An empty queue. `seed` feeds whatever it leaves to chance. Parameters passed `check`.
    fn build(&self, wire: &Wire, seed: u64) -> Self::Discipline;
}
