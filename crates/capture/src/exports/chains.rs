//! Joins the records of one flow, which an exporter divides: at its active timeout, or earlier
//! where its cache is full.

use super::FlowRecord;
use crate::histogram::LogHistogram;
use crate::packet::FlowKey;
use std::collections::HashMap;

/// Longest time between two records of one flow: with whole seconds they seem a second apart.
const GAP_MS: u64 = 2000;
/// Flows that are remembered, twice: after so many new ones those not seen since are forgotten.
const MOST: usize = 1 << 17;
/// A record ended early if it is shorter than this share of the active timeout, less the gap.
const EARLY: f64 = 0.9;
/// Share of the continued records that are no longer than the active timeout, if it is not known.
const LONGEST: f64 = 0.99;

/// A flow from its first record to its latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Its first packet.
    pub first_ms: u64,
    /// Its last one so far.
    pub last_ms: u64,
    /// All its packets so far.
    pub packets: u64,
    /// Length of its latest record.
    latest_ms: u64,
}

/// The flows of late, and what their records say of the exporter.
#[derive(Default)]
pub struct Chains {
    recent: HashMap<FlowKey, Chain>,
    older: HashMap<FlowKey, Chain>,
    /// Records that continue a flow of an earlier record.
    pub continued: u64,
    /// Flows that were forgotten, because there are too many.
    pub forgotten: u64,
    /// Lengths in ms of the records that another one continues.
    cut_ms: LogHistogram,
}

impl Chains {
    /// Adds a record: returns its flow so far, and that flow before the record if it continues one.
    pub fn take(&mut self, record: &FlowRecord) -> (Chain, Option<Chain>) {
        let before = self.recent.remove(&record.key).or_else(|| self.older.remove(&record.key));
        let before = before.filter(|chain| {
            let gap_ms = record.first_ms.saturating_sub(chain.last_ms);
            gap_ms <= GAP_MS && record.first_ms + GAP_MS >= chain.last_ms
        });
        let latest_ms = record.last_ms - record.first_ms;
        let mut flow = Chain {
            first_ms: record.first_ms,
            last_ms: record.last_ms,
            packets: record.packets,
            latest_ms,
        };
        if let Some(chain) = before {
            self.continued += 1;
            self.cut_ms.add(chain.latest_ms.max(1) as f64);
            flow.first_ms = chain.first_ms.min(flow.first_ms);
            flow.last_ms = chain.last_ms.max(flow.last_ms);
            flow.packets = flow.packets.saturating_add(chain.packets);
        }
        self.remember(record.key, flow);
        (flow, before)
    }

    fn remember(&mut self, key: FlowKey, flow: Chain) {
        if self.recent.len() >= MOST {
            self.forgotten += self.older.len() as u64;
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(key, flow);
    }

    /// Continued records that ended before the active timeout; if that is not exported, before the
    /// longest of them.
    pub fn cut_before(&self, active_s: Option<u64>) -> u64 {
        let (lengths, counts) = self.cut_ms.filled();
        let active_ms = active_s
            .map_or_else(|| self.longest_ms(&lengths, &counts), |seconds| seconds as f64 * 1000.0);
        let bound_ms = active_ms * EARLY - GAP_MS as f64;
        let early = lengths.iter().zip(&counts).filter(|(length, _)| **length < bound_ms);
        early.map(|(_, count)| *count).sum()
    }

    fn longest_ms(&self, lengths: &[f64], counts: &[u64]) -> f64 {
        let most = self.continued as f64 * LONGEST;
        let mut sum = 0.0;
        for (length, count) in lengths.iter().zip(counts) {
            sum += *count as f64;
            if sum >= most {
                return *length;
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(port: u16, first_ms: u64, last_ms: u64) -> FlowRecord {
        let key = FlowKey { from: [0; 16], to: [1; 16], from_port: port, to_port: 2, protocol: 6 };
        FlowRecord { key, first_ms, last_ms, bytes: 80, packets: 10 }
    }

    #[test]
    fn records_one_after_the_other_are_one_flow() {
        let mut chains = Chains::default();
        for (first, last) in [(0, 60_000), (60_100, 120_000), (120_010, 130_000)] {
            let (flow, _) = chains.take(&record(1, first, last));
            assert_eq!((flow.first_ms, flow.last_ms), (0, last));
        }
        assert_eq!(chains.take(&record(1, 130_100, 140_000)).0.packets, 40);
        let (later, before) = chains.take(&record(1, 150_000, 151_000));
        assert_eq!((later.first_ms, before), (150_000, None), "another flow of the same ports");
        assert_eq!((chains.continued, chains.cut_before(Some(60))), (3, 1));
        assert_eq!(chains.cut_before(None), 1, "as long as the longest, which the timeout ends");
    }

    #[test]
    fn memory_has_a_limit_and_what_is_forgotten_is_counted() {
        let mut chains = Chains::default();
        for flow in 0..3 * MOST {
            let mut each = record(1, 0, 1000);
            each.key.from[..8].copy_from_slice(&flow.to_le_bytes());
            chains.take(&each);
        }
        assert!(chains.recent.len() + chains.older.len() <= 2 * MOST);
        assert_eq!(chains.forgotten, MOST as u64);
    }
}
