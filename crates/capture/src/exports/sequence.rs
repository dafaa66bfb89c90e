//! Detects missing and reordered exports by sequence numbers.

use std::collections::HashMap;

/// Maximum number of exporters that are distinguished.
const MOST_SOURCES: usize = 4096;
/// A number that differs by more than this means that the exporter was restarted.
const RESTART: u32 = 1 << 16;

/// Exporter, version of the protocol, observation domain.
pub type Source = ([u8; 16], u16, u32);

/// Sequence numbers of all exporters.
#[derive(Default)]
pub struct Sequences {
    due: HashMap<Source, u32>,
    /// Units that arrived.
    pub arrived: u64,
    /// Units that are missing: records in v5 and IPFIX, datagrams in v9 and sFlow.
    pub lost: u64,
    /// Datagrams that arrived after a later one.
    pub reordered: u64,
}

impl Sequences {
    /// Adds a datagram with number `number` and this many units.
    pub fn take(&mut self, source: Source, number: u32, units: u32) {
        self.arrived += u64::from(units);
        let after = number.wrapping_add(units);
        if self.due.len() >= MOST_SOURCES && !self.due.contains_key(&source) {
            return;
        }
        let due = self.due.entry(source).or_insert(number);
        let ahead = number.wrapping_sub(*due);
        let behind = due.wrapping_sub(number);
        if ahead < RESTART {
            self.lost += u64::from(ahead);
            *due = after;
        } else if behind < RESTART {
            // It was counted as lost when the later one arrived.
            self.reordered += 1;
            self.lost = self.lost.saturating_sub(u64::from(units));
        } else {
            *due = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_losses_and_late_datagrams_are_not() {
        let (mut sequences, source) = (Sequences::default(), ([0; 16], 5, 0));
        for (number, units) in [(u32::MAX - 29, 30), (0, 30), (60, 30), (30, 30), (120, 10)] {
            sequences.take(source, number, units);
        }
        assert_eq!((sequences.lost, sequences.reordered), (30, 1));
        sequences.take(source, 1 << 30, 1);
        assert_eq!(sequences.lost, 30, "an exporter that began anew");
    }
}
