//! Detection of a token-bucket policer, as in Linux (Flach et al. 2016, "An Internet-Wide Analysis of
//! Traffic Policing"): two intervals in a row that lose a fifth and deliver at the same rate. That
//! rate is then used for 48 rounds. A drop-tail queue that many BBR flows overload looks the same.

use super::super::Ack;
use crate::time::{MILLISECOND, Picos, SECOND};
use std::hint::select_unpredictable;

const LEAST_ROUNDS: u32 = 4;
const USE_ROUNDS: u32 = 48;
/// Lost over delivered, in the kernel's 1/256.
const LOSSY: f64 = 50.0 / 256.0;
/// Rates that differ by less, relatively or in segments a second (4 kbit/s), are the same.
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_RATE: f64 = 500.0 / super::SEGMENT_BYTES;

/// Long-term bandwidth: the rate of a token-bucket policer, once one is detected (Linux, lt_bw).
#[derive(Default)]
pub struct LongTermBw {
    in_use: bool,
    sampling: bool,
    rounds: u32,
    rate: f64,
    since: Picos,
    delivered_before: u64,
    lost_before: u64,
}

impl LongTermBw {
    pub fn is_in_use(&self) -> bool {
        self.in_use
    }

    /// The policer's rate where one is in use, else `bw`. Chosen without a branch: of many flows some have
    /// met a policer.
    #[inline]
    pub fn rate_or(&self, bw: f64) -> f64 {
        select_unpredictable(self.in_use, self.rate, bw)
    }

    /// Gives whether a policer's rate stops being used.
    #[inline(always)]
    pub fn sample(&mut self, ack: &Ack, limited: bool, round_start: bool, in_cycle: bool) -> bool {
        if self.in_use {
            return in_cycle && round_start && self.count_use();
        }
        if self.sampling || ack.newly_lost > 0 {
            self.seek_policer(ack, limited, round_start);
        }
        false
    }

    #[inline(never)]
    fn seek_policer(&mut self, ack: &Ack, limited: bool, round_start: bool) {
        if !self.sampling {
            self.begin(ack);
            self.sampling = true;
        }
        self.rounds += u32::from(round_start);
        if limited || self.rounds > 4 * LEAST_ROUNDS {
            *self = Self::default();
        } else if self.rounds >= LEAST_ROUNDS && ack.newly_lost > 0 {
            self.end_interval(ack);
        }
    }

    #[inline(never)]
    fn count_use(&mut self) -> bool {
        self.rounds += 1;
        if self.rounds >= USE_ROUNDS {
            *self = Self::default();
        }
        !self.in_use
    }

    fn begin(&mut self, ack: &Ack) {
        self.since = ack.now;
        self.delivered_before = ack.delivered_total;
        self.lost_before = ack.lost_total;
        self.rounds = 0;
    }

    fn end_interval(&mut self, ack: &Ack) {
        let delivered = (ack.delivered_total - self.delivered_before) as f64;
        let lost = (ack.lost_total - self.lost_before) as f64;
        let span = ack.now - self.since;
        if delivered == 0.0 || lost < LOSSY * delivered || span < MILLISECOND {
            return;
        }
        let rate = delivered * SECOND as f64 / span as f64;
        let apart = (rate - self.rate).abs();
        if self.rate > 0.0 && (apart <= SAME_RATIO * self.rate || apart <= SAME_RATE) {
            self.rate = (rate + self.rate) / 2.0;
            self.in_use = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin(ack);
        }
    }
}
