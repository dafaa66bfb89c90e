//! A wire whose rate changes at given times.

use crate::time::{BEYOND, Picos, SECOND};
use serde::Deserialize;

/// Rates in steps over a period, which is repeated, or after which the last rate stays.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(try_from = "Written")]
pub struct RateTrace {
    /// When each begins, ascending from 0, and its bit/s; it may be 0.
    steps: Vec<(Picos, f64)>,
    /// Bits that the steps before each send.
    bits_before: Vec<f64>,
    period: Picos,
    repeats: bool,
}

/// A trace as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    steps: Vec<(Picos, f64)>,
    period_ps: Picos,
    repeats: bool,
}

impl TryFrom<Written> for RateTrace {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        Self::new(written.steps, written.period_ps, written.repeats)
            .ok_or("rates that are no trace")
    }
}

impl RateTrace {
    /// `None` where times do not ascend from 0 to below the period, a rate is no rate, or nothing is ever sent again.
    pub fn new(steps: Vec<(Picos, f64)>, period: Picos, repeats: bool) -> Option<Self> {
        let starts = steps.first()?.0 == 0;
        let ascend = steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let rates = steps.iter().all(|&(_, rate)| rate >= 0.0 && rate.is_finite());
        let last = *steps.last()?;
        let goes_on = if repeats { steps.iter().any(|step| step.1 > 0.0) } else { last.1 > 0.0 };
        if !(starts && ascend && rates && goes_on && last.0 < period) {
            return None;
        }
        let mut sum = 0.0;
        let ends = steps.iter().skip(1).map(|step| step.0).chain([period]);
        let mut bits_before = Vec::with_capacity(steps.len() + 1);
        for (&(start, rate), end) in steps.iter().zip(ends) {
            bits_before.push(sum);
            sum += rate * seconds(end - start);
        }
        bits_before.push(sum);
        Some(Self { steps, bits_before, period, repeats })
    }

    /// Mean rate over the period, bit/s.
    pub fn mean_bps(&self) -> f64 {
        self.period_bits() / seconds(self.period)
    }

    /// The highest rate, bit/s.
    pub fn peak_bps(&self) -> f64 {
        self.steps.iter().map(|step| step.1).fold(0.0, f64::max)
    }

    /// The rate at a time, bit/s.
    pub fn rate_at(&self, at: Picos) -> f64 {
        let (_, within) = self.split(at);
        self.steps[self.steps.partition_point(|step| step.0 <= within) - 1].1
    }

    /// When so many bytes that start at `start` have been sent.
    pub fn ends_at(&self, start: Picos, bytes: u32) -> Picos {
        let (first, within) = self.split(start);
        let sum = self.bits_at(within) + f64::from(bytes) * 8.0;
        let more =
            if self.repeats { (sum / self.period_bits()).ceil().max(1.0) - 1.0 } else { 0.0 };
        let rest = sum - more * self.period_bits();
        // A wire that sends a bit a day may need longer than the clock has.
        let cycles = first.saturating_add(self.period.saturating_mul(more as Picos));
        cycles.saturating_add(self.time_of(rest)).clamp(start + 1, BEYOND.max(start + 1))
    }

    /// Bits that the wire can send from `start` to `end`.
    pub fn bits_between(&self, start: Picos, end: Picos) -> f64 {
        let ((first, from), (last, to)) = (self.split(start), self.split(end));
        if first == last {
            return self.bits_at(to) - self.bits_at(from);
        }
        // Rests of periods by themselves: in a pause at a period's end nothing may seem to be sent.
        let between = (last - first) / self.period - 1;
        self.period_bits() - self.bits_at(from)
            + between as f64 * self.period_bits()
            + self.bits_at(to)
    }

    /// The start of the period that holds a time, and the time since then.
    fn split(&self, at: Picos) -> (Picos, Picos) {
        let within = if self.repeats { at % self.period } else { at };
        (at - within, within)
    }

    fn period_bits(&self) -> f64 {
        self.bits_before[self.steps.len()]
    }

    /// Bits up to a time within a period.
    fn bits_at(&self, within: Picos) -> f64 {
        let step = self.steps.partition_point(|step| step.0 <= within) - 1;
        let (start, rate) = self.steps[step];
        self.bits_before[step] + rate * seconds(within - start)
    }

    /// When, within a period, so many bits have been sent: before a pause, not after it.
    fn time_of(&self, bits: f64) -> Picos {
        let before = &self.bits_before[..self.steps.len()];
        let step = before.partition_point(|&sum| sum < bits).max(1) - 1;
        let (start, rate) = self.steps[step];
        let rest = bits - self.bits_before[step];
        // Up, so that no packet is sent faster than the rates allow; but the sums' own rounding is no picosecond.
        let took = rest / rate * SECOND as f64 - 0.01;
        start + if took > 0.0 { took.ceil() as Picos } else { 0 }
    }
}

fn seconds(span: Picos) -> f64 {
    span as f64 / SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 Mbit/s for 1 s, nothing for 1 s, 6 Mbit/s for 1 s.
    fn paused(repeats: bool) -> RateTrace {
        let steps = vec![(0, 12e6), (SECOND, 0.0), (2 * SECOND, 6e6)];
        RateTrace::new(steps, 3 * SECOND, repeats).expect("valid")
    }

    #[test]
    fn a_packet_waits_out_a_pause_on_the_wire() {
        let trace = paused(true);
        assert_eq!(trace.mean_bps(), 6e6);
        assert_eq!(trace.ends_at(0, 1500), SECOND / 1000);
        assert_eq!(trace.ends_at(SECOND - SECOND / 1000, 1500), SECOND);
        // A third of it goes before the pause, the rest behind it at half the rate.
        let start = SECOND - SECOND / 3000;
        assert!(trace.ends_at(start, 1500).abs_diff(2 * SECOND + SECOND * 2 / 1500) < 10);
        assert_eq!(trace.ends_at(SECOND * 3 / 2, 1500), 2 * SECOND + SECOND / 500);
    }

    #[test]
    fn a_trace_repeats_or_its_last_rate_stays() {
        let last = SECOND / 1000;
        assert_eq!(paused(true).ends_at(30 * SECOND, 1500), 30 * SECOND + last);
        assert_eq!(paused(false).ends_at(30 * SECOND, 1500), 30 * SECOND + 2 * last);
        assert_eq!(
            paused(true).bits_between(SECOND / 2, 31 * SECOND),
            6e6 + 9.0 * 18e6 + 6e6 + 12e6
        );
        assert_eq!(paused(false).bits_between(0, 5 * SECOND), 30e6);
        let rates = |at: Picos| (paused(true).rate_at(at), paused(false).rate_at(at));
        assert_eq!(rates(SECOND - 1), (12e6, 12e6));
        assert_eq!((rates(SECOND), rates(4 * SECOND)), ((0.0, 0.0), (0.0, 6e6)));
        assert_eq!(paused(true).peak_bps(), 12e6);
    }

    #[test]
    fn an_end_is_when_its_bits_have_been_sent() {
        for repeats in [true, false] {
            for at in (0..7000).map(|n| n * SECOND / 1000 + n) {
                let ends = paused(repeats).ends_at(at, 9000);
                assert!((paused(repeats).bits_between(at, ends) - 72_000.0).abs() < 1e-3, "{at}");
            }
        }
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        let refused =
            |steps: &[(Picos, f64)], repeats| RateTrace::new(steps.to_vec(), 10, repeats).is_none();
        assert!(refused(&[], true) && refused(&[(1, 1.0)], true) && refused(&[(0, 0.0)], true));
        assert!(refused(&[(0, 1.0), (5, 0.0)], false) && refused(&[(0, 1.0), (10, 1.0)], true));
        assert!(refused(&[(0, -1.0)], true) && refused(&[(0, 1.0), (0, 2.0)], true));
    }
}
