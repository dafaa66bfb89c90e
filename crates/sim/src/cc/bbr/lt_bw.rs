//! Detection of a token-bucket policer, as in Linux (Flach et al. 2016, "An Internet-Wide Analysis of
//! Traffic Policing"): two intervals in a row that lose a fifth and deliver at the same rate. That
//! rate is then used for 48 rounds. A drop-tail queue that many BBR flows overload looks the same.

use super::super::Ack;
use super::bandwidth::{bandwidth, whole};
use crate::time::MILLISECOND;
use std::hint::select_unpredictable;

const LEAST_ROUNDS: u32 = 4;
const USE_ROUNDS: u32 = 48;
/// Lost over delivered, in the kernel's 1/256.
const LOSSY: f64 = 50.0 / 256.0;
/// Rates that differ by less, relatively or in bytes a second (4 kbit/s), are the same.
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_RATE: f64 = 500.0;

/// Long-term bandwidth: the rate of a token-bucket policer, once one is detected (Linux, lt_bw).
pub struct LongTermBw {
    sampling: bool,
    rounds: u32,
    /// That of the last interval.
    rate: f64,
    /// 0 where none is in use.
    rate_in_use: f64,
    /// In the kernel's whole milliseconds.
    since: u64,
    delivered_before: u64,
    lost_before: u64,
    segment_bytes: f64,
}

impl Default for LongTermBw {
    fn default() -> Self {
        Self::of_segments(super::SEGMENT_BYTES)
    }
}

impl LongTermBw {
    fn of_segments(segment_bytes: f64) -> Self {
        Self {
            sampling: false,
            rounds: 0,
            rate: 0.0,
            rate_in_use: 0.0,
            since: 0,
            delivered_before: 0,
            lost_before: 0,
            segment_bytes,
        }
    }

    pub fn set_segment_bytes(&mut self, bytes: f64) {
        self.segment_bytes = bytes;
    }

    /// Begins anew.
    pub fn forget(&mut self) {
        *self = Self::of_segments(self.segment_bytes);
    }

    pub fn is_in_use(&self) -> bool {
        self.rate_in_use > 0.0
    }

    /// The policer's rate where one is in use, else `bw`.
    #[inline]
    pub fn rate_or(&self, bw: f64) -> f64 {
        // Compilers choose doubles without a branch by a comparison of doubles alone.
        if self.rate_in_use > 0.0 { self.rate_in_use } else { bw }
    }

    /// Gives whether a policer's rate stops being used. No branch asks whether one is: of many flows some have met a
    /// policer, and a processor cannot guess which.
    #[inline(always)]
    pub fn sample(&mut self, ack: &Ack, limited: bool, round_start: bool, in_cycle: bool) -> bool {
        let in_use = self.is_in_use();
        let counts = round_start & select_unpredictable(in_use, in_cycle, self.sampling);
        self.rounds += u32::from(counts);
        let lossy = ack.newly_lost > 0;
        let long = limited | (self.rounds > 4 * LEAST_ROUNDS);
        let ends = long | (lossy & (self.rounds >= LEAST_ROUNDS));
        let seeks = select_unpredictable(self.sampling, ends, lossy);
        let expires = counts & (self.rounds >= USE_ROUNDS);
        select_unpredictable(in_use, expires, seeks) && self.turn(ack, limited, round_start)
    }

    /// The use of a rate ends, or an interval begins or ends.
    #[inline(never)]
    fn turn(&mut self, ack: &Ack, limited: bool, round_start: bool) -> bool {
        let was_in_use = self.is_in_use();
        let begins = !was_in_use && !self.sampling;
        if begins {
            self.begin(ack);
            self.sampling = true;
            self.rounds = u32::from(round_start);
        }
        if was_in_use || limited || self.rounds > 4 * LEAST_ROUNDS {
            self.forget();
        } else if !begins {
            self.end_interval(ack);
        }
        was_in_use
    }

    fn begin(&mut self, ack: &Ack) {
        self.since = ack.now / MILLISECOND;
        self.delivered_before = ack.delivered_total;
        self.lost_before = ack.lost_total;
        self.rounds = 0;
    }

    fn end_interval(&mut self, ack: &Ack) {
        let delivered = (ack.delivered_total - self.delivered_before) as f64;
        let lost = (ack.lost_total - self.lost_before) as f64;
        let span = ack.now / MILLISECOND - self.since;
        if delivered == 0.0 || lost < LOSSY * delivered || span == 0 {
            return;
        }
        let rate = bandwidth(ack.delivered_total - self.delivered_before, span * MILLISECOND);
        let apart = (rate - self.rate).abs();
        if self.rate > 0.0
            && (apart <= SAME_RATIO * self.rate || apart <= SAME_RATE / self.segment_bytes)
        {
            self.rate = whole((rate + self.rate) / 2.0);
            self.rate_in_use = self.rate;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin(ack);
        }
    }
}
