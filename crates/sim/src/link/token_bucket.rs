//! Token buckets: how many bytes may pass, and when.

use crate::config::{BucketSpec, Refill};
use crate::time::{BEYOND, Picos, serialization};

/// A bucket of tokens, a byte each. It begins full.
pub(super) struct TokenBucket {
    rate_bps: f64,
    /// The size asked for last and its time at the bucket's rate.
    last: (u32, Picos),
    tokens: Tokens,
}

enum Tokens {
    /// They come all the time: full but for what was taken, which is made up at `full_at`; the bucket
    /// holds what comes in `depth`.
    Continuous {
        depth: Picos,
        full_at: Picos,
    },
    /// `burst` come at each multiple of `interval`, the last that were counted at that of `ticks`.
    /// None are kept: what has passed is paid for at `paid_at`.
    Deficit {
        paid_at: Picos,
    },
    EachInterval {
        bytes: u64,
        depth: u64,
        burst: u64,
        interval: Picos,
        ticks: u64,
    },
}

impl TokenBucket {
    /// A full bucket. The specification has been checked.
    pub(super) fn new(spec: &BucketSpec) -> Self {
        let depth = spec.burst_bytes + spec.excess_bytes;
        let tokens = match spec.refill {
            Refill::Continuous => Tokens::Continuous { depth: spec.time_of(depth), full_at: 0 },
            Refill::Deficit => Tokens::Deficit { paid_at: 0 },
            Refill::Interval => Tokens::EachInterval {
                bytes: depth,
                depth,
                burst: spec.burst_bytes,
                interval: spec.interval(),
                ticks: 0,
            },
        };
        Self { rate_bps: spec.rate_bps, last: (0, 0), tokens }
    }

    /// The time that so many bytes take at the bucket's rate.
    pub(super) fn time_of(&mut self, bytes: u32) -> Picos {
        if self.last.0 != bytes {
            self.last = (bytes, serialization(bytes, self.rate_bps));
        }
        self.last.1
    }

    /// When the bucket holds so many bytes, from `now` on; not before they were last taken.
    pub(super) fn conforms_at(&mut self, now: Picos, bytes: u32) -> Picos {
        let work = self.time_of(bytes);
        let at = match &self.tokens {
            Tokens::Continuous { depth, full_at } => (full_at + work).saturating_sub(*depth),
            Tokens::Deficit { paid_at } => *paid_at,
            Tokens::EachInterval { bytes: held, burst, interval, ticks, .. } => {
                let lacking = u64::from(bytes).saturating_sub(*held);
                match lacking.div_ceil(*burst) {
                    0 => 0,
                    more => (ticks + more).saturating_mul(*interval),
                }
            }
        };
        at.clamp(now, BEYOND.max(now))
    }

    /// When a packet may pass whatever its size, where that is known.
    pub(super) fn ready_at(&self) -> Picos {
        match self.tokens {
            Tokens::Deficit { paid_at } => paid_at,
            _ => 0,
        }
    }

    /// Takes so many bytes at a time at which the bucket holds them; never before the last time.
    pub(super) fn take(&mut self, at: Picos, bytes: u32) {
        let work = self.time_of(bytes);
        match &mut self.tokens {
            Tokens::Continuous { full_at, .. } => *full_at = (*full_at).max(at) + work,
            Tokens::Deficit { paid_at } => *paid_at = (*paid_at).max(at) + work,
            Tokens::EachInterval { bytes: held, depth, burst, interval, ticks } => {
                let come = (at / *interval - *ticks).saturating_mul(*burst);
                *ticks = at / *interval;
                *held = held.saturating_add(come).min(*depth).saturating_sub(u64::from(bytes));
            }
        }
    }

    /// Takes so many bytes at `now`, if the bucket holds them.
    pub(super) fn try_take(&mut self, now: Picos, bytes: u32) -> bool {
        let conforms = self.conforms_at(now, bytes) == now;
        if conforms {
            self.take(now, bytes);
        }
        conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{MILLISECOND, SECOND};
    use proptest::prelude::*;

    fn spec(burst_bytes: u64, excess_bytes: u64, refill: Refill) -> BucketSpec {
        BucketSpec { rate_bps: 8e6, burst_bytes, excess_bytes, refill } // A byte a microsecond.
    }

    /// Departures of packets that are all there from the beginning.
    fn departures(spec: &BucketSpec, sizes: &[u32]) -> Vec<Picos> {
        let (mut bucket, mut now) = (TokenBucket::new(spec), 0);
        let mut send = |&bytes: &u32| {
            now = bucket.conforms_at(now, bytes);
            bucket.take(now, bytes);
            now
        };
        sizes.iter().map(&mut send).collect()
    }

    #[test]
    fn tokens_that_come_all_the_time_let_a_burst_pass_and_then_the_rate() {
        let got = departures(&spec(3000, 500, Refill::Continuous), &[1000; 6]);
        let ms = |tenths: u64| tenths * MILLISECOND / 10;
        assert_eq!(got, [0, 0, 0, ms(5), ms(15), ms(25)]);
    }

    #[test]
    fn tokens_once_an_interval_let_a_burst_pass_at_each() {
        // Bc of 2000 B at 8 Mbit/s: Tc is 2 ms.
        let got = departures(&spec(2000, 0, Refill::Interval), &[1000; 6]);
        let ms = |whole: u64| whole * MILLISECOND;
        assert_eq!(got, [0, 0, ms(2), ms(2), ms(4), ms(4)]);
        let first = departures(&spec(2000, 1000, Refill::Interval), &[1000; 6]);
        assert_eq!(first, [0, 0, 0, ms(2), ms(2), ms(4)]); // Be is there once
    }

    #[test]
    fn what_a_full_bucket_is_given_is_lost() {
        let mut bucket = TokenBucket::new(&spec(2000, 0, Refill::Interval));
        bucket.take(0, 2000);
        assert!(bucket.try_take(7 * MILLISECOND, 2000)); // three intervals have filled it once
        assert!(!bucket.try_take(7 * MILLISECOND, 1));
        assert!(bucket.try_take(8 * MILLISECOND, 2000));
    }

    #[test]
    fn a_policer_lets_its_rate_of_a_constant_stream_pass() {
        for refill in [Refill::Continuous, Refill::Interval] {
            let mut bucket = TokenBucket::new(&spec(10_000, 0, refill));
            // 1000 B each 0.8 ms are 10 Mbit/s, of which 8 pass: loss is a fifth.
            let passed = (0..100_000_u64)
                .filter(|n| bucket.try_take(n * 8 * MILLISECOND / 10, 1000))
                .count();
            assert!((80_000..=80_020).contains(&passed), "{passed}");
        }
    }

    proptest! {
        /// No interval sees more than rate x length + Bc + Be, and another Bc where tokens come at once.
        #[test]
        fn no_interval_sees_more_than_its_rate_and_the_bucket(
            burst in 1500_u64..20_000,
            excess in 0_u64..20_000,
            each_interval in any::<bool>(),
            packets in prop::collection::vec((0_u64..3 * MILLISECOND, 40_u32..1500), 2..120),
        ) {
            let refill = if each_interval { Refill::Interval } else { Refill::Continuous };
            let spec = spec(burst, excess, refill);
            let (mut bucket, mut now, mut sent) = (TokenBucket::new(&spec), 0, Vec::new());
            for (gap, bytes) in packets {
                now = bucket.conforms_at(now + gap, bytes);
                prop_assert!(bucket.try_take(now, bytes));
                sent.push((now, u64::from(bytes)));
            }
            let depth = burst + excess + if each_interval { burst } else { 0 };
            for (first, &(from, _)) in sent.iter().enumerate() {
                let mut total = 0;
                for &(to, bytes) in &sent[first..] {
                    total += bytes;
                    let most = depth as f64 + (to - from) as f64 * 1e6 / SECOND as f64;
                    prop_assert!(total as f64 <= most + 0.01, "{total} of {most}");
                }
            }
        }

        /// A queue that is never empty is served at the bucket's rate.
        #[test]
        fn the_long_run_rate_is_the_buckets(
            packets_in_burst in 1_u64..40,
            excess in 0_u64..20_000,
            each_interval in any::<bool>(),
        ) {
            let refill = if each_interval { Refill::Interval } else { Refill::Continuous };
            let got = departures(&spec(1000 * packets_in_burst, excess, refill), &[1000; 4000]);
            let rate = 4_000_000.0 / (*got.last().expect("some") as f64 / SECOND as f64);
            let bucket = (1000 * packets_in_burst + excess) as f64;
            prop_assert!((1e6..=1e6 * (1.0 + 1.1 * bucket / 4e6 + 0.02)).contains(&rate), "{rate}");
        }
    }
}
