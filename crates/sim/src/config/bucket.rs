//! Token buckets of shapers and policers.

use crate::time::{Picos, SECOND};
use serde::Deserialize;

/// How tokens come into a bucket.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Refill {
    /// All the time.
    Continuous,
    /// Bc of them at each multiple of Tc = Bc / rate.
    Interval,
    /// All the time, and none are kept: a packet goes when all before it have been paid for at the
    /// rate (Linux `cake`). Bc and Be are 0.
    Deficit,
}

/// A token bucket, which begins full; it holds Bc + Be.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct BucketSpec {
    /// At which tokens come.
    pub rate_bps: f64,
    /// Bc, committed burst.
    pub burst_bytes: u64,
    /// Be, excess burst.
    pub excess_bytes: u64,
    /// How they come.
    pub refill: Refill,
}

impl BucketSpec {
    /// Time in which so many tokens come.
    pub fn time_of(&self, bytes: u64) -> Picos {
        (bytes as f64 * 8.0 * SECOND as f64 / self.rate_bps).round() as Picos
    }

    /// Tc.
    pub fn interval(&self) -> Picos {
        self.time_of(self.burst_bytes).max(1)
    }
}
