//! Parameters of RED under their tc names, and what tc makes of those left out.

use super::Red;
use crate::queue::busy_until::BusyUntil;
use crate::queue::parameters::{BadParameter, Parameters, Wire, within};
use crate::rng::RandomStream;

/// Parameters of `red` (tc-red(8)). tc's `bandwidth` is the wire's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedParams {
    /// `limit`, bytes that may wait. tc has no default; here 1000 packets of 1500 bytes.
    pub limit: u64,
    /// `min`, bytes: below this average nothing is marked. Default a third of `max`.
    pub min: Option<u64>,
    /// `max`, bytes, more than `min`: at this average the probability is `probability`.
    /// Default three times `min` if that is given, else a quarter of `limit`, or without a `weight`
    /// of `SHORTEST` packets if that is more.
    pub max: Option<u64>,
    /// `avpkt`, bytes, from 1: the typical packet. tc has no default; here 1500.
    pub avpkt: u32,
    /// `burst`, packets that pass unmarked from an empty queue. Default (2 min + max)/(3 avpkt).
    pub burst: Option<u32>,
    /// w_q of the paper in (0, 1], instead of the one that tc finds from `burst`.
    pub weight: Option<f64>,
    /// `probability`, max_p of the paper, in (0, 1]. Default 0.02.
    pub probability: f64,
    /// `ecn`: mark packets that can be marked. Default off.
    pub ecn: bool,
    /// `harddrop`: beyond the thresholds drop also what could be marked. Default off.
    pub harddrop: bool,
    /// Let the probability rise to 1 between `max` and twice `max` instead of jumping there
    /// (Floyd's "gentle" of 2000; ns-2 `gentle_`; Linux has it not). Default off.
    pub gentle: bool,
}

impl Default for RedParams {
    fn default() -> Self {
        Self {
            limit: 1_500_000,
            min: None,
            max: None,
            avpkt: 1500,
            burst: None,
            weight: None,
            probability: 0.02,
            ecn: false,
            harddrop: false,
            gentle: false,
        }
    }
}

/// In packets of `avpkt`, the shortest queue for whose thresholds tc finds a weight.
const SHORTEST: u64 = 15;

/// What the algorithm works with, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    pub min: f64,
    pub max: f64,
    pub weight: f64,
}

impl RedParams {
    fn max(&self) -> u64 {
        let least = if self.weight.is_none() { SHORTEST * u64::from(self.avpkt) } else { 0 };
        self.max.or(self.min.map(|min| 3 * min)).unwrap_or(self.limit.max(least) / 4)
    }

    fn min(&self) -> u64 {
        self.min.unwrap_or(self.max() / 3)
    }

    fn burst(&self) -> u32 {
        let mean = (2 * self.min() + self.max()) / (3 * u64::from(self.avpkt));
        self.burst.unwrap_or(mean as u32)
    }

    /// L + 1 − min of section 6, equation 3, packets.
    fn burst_beyond_min(&self) -> f64 {
        f64::from(self.burst()) + 1.0 - self.min() as f64 / f64::from(self.avpkt)
    }

    /// The largest 2^-k, k from 1, for which `burst` packets that arrive back to back at an empty
    /// queue leave the average below `min`: section 6, equation 3, as tc solves it.
    fn weight_of_burst(&self) -> Option<f64> {
        let (burst, packets) = (self.burst(), self.burst_beyond_min());
        let rise = |weight: f64| (1.0 - super::power(1.0 - weight, burst.into())) / weight;
        (1..32).map(|k| 1.0 / f64::from(1_u32 << k)).find(|&weight| packets <= rise(weight))
    }
}

impl Parameters for RedParams {
    type Discipline = Red;

    fn check(&self) -> Result<(), BadParameter> {
        within("limit", self.limit >= 1, "at least 1 byte")?;
        within("avpkt", self.avpkt >= 1, "at least 1 byte")?;
        within("max", self.min() < self.max(), "more than min")?;
        let probability = self.probability > 0.0 && self.probability <= 1.0;
        within("probability", probability, "above 0 and at most 1")?;
        if let Some(weight) = self.weight {
            return within("weight", weight > 0.0 && weight <= 1.0, "above 0 and at most 1");
        }
        within("burst", self.burst_beyond_min() >= 1.0, "at least min / avpkt packets")?;
        within("min", self.weight_of_burst().is_some(), "more than avpkt")
    }

    fn sized(self, packets: u32, packet_bytes: u32) -> Self {
        Self { limit: u64::from(packets) * u64::from(packet_bytes), ..self }
    }

    fn build(&self, wire: &Wire, seed: u64) -> Red {
        let busy_until = BusyUntil::new(wire);
        let weight = self.weight.or_else(|| self.weight_of_burst());
        Red {
            params: *self,
            thresholds: Thresholds {
                min: self.min() as f64,
                max: self.max() as f64,
                weight: weight.expect("checked"),
            },
            capacity: wire.most_packets(self.limit),
            typical: busy_until.serialization(self.avpkt),
            average: 0.0,
            count: -1,
            draw: 0.0,
            random: RandomStream::new(seed),
            busy_until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux's table in red.h: with min of 32 packets, 2^-k lets pass a burst of 33, 35, 39, 46,
    /// 57, 75, 101, 135 packets for k from 1. The first three are rounded up: 33 packets at 1/2
    /// would want 2 ≤ 2 − 2^-32.
    #[test]
    fn weights_admit_the_bursts_of_linux_s_table() {
        let bursts = [32, 34, 38, 46, 57, 75, 101, 135];
        for (k, burst) in (1..).zip(bursts) {
            let params = RedParams {
                min: Some(32_000),
                max: Some(96_000),
                avpkt: 1000,
                burst: Some(burst),
                ..RedParams::default()
            };
            let weight = params.weight_of_burst().expect("long enough");
            assert_eq!(weight, 1.0 / f64::from(1 << k), "burst {burst}");
        }
    }

    #[test]
    fn what_is_left_out_is_tc_s() {
        let params = RedParams { limit: 400_000, avpkt: 1000, ..RedParams::default() };
        assert_eq!((params.max(), params.min(), params.burst()), (100_000, 33_333, 55));
        let from_min = RedParams { min: Some(30_000), ..params };
        assert_eq!((from_min.max(), from_min.min()), (90_000, 30_000));
    }

    #[test]
    fn impossible_parameters_are_refused_by_name() {
        let field = |params: RedParams| params.check().expect_err("impossible").field;
        let good = RedParams::default();
        assert_eq!(good.check(), Ok(()));
        assert_eq!(field(RedParams { min: Some(9000), max: Some(9000), ..good }), "max");
        assert_eq!(field(RedParams { probability: 0.0, ..good }), "probability");
        assert_eq!(field(RedParams { weight: Some(f64::NAN), ..good }), "weight");
        assert_eq!(field(RedParams { burst: Some(1), ..good }), "burst");
        assert_eq!(field(RedParams { avpkt: 0, ..good }), "avpkt");
        // tc, too, finds no weight for thresholds as low as that.
        let of = |packets: u64| RedParams { max: Some(packets * 1500 / 4), ..good };
        assert_eq!(field(of(10)), "min");
        assert_eq!(field(of(14)), "burst");
        assert_eq!(of(15).check(), Ok(()));
    }

    #[test]
    fn a_queue_of_any_size_has_thresholds() {
        for packets in 1..40 {
            let params = RedParams::default().sized(packets, 1500);
            assert_eq!(params.check(), Ok(()), "{packets}");
            assert_eq!(params.max(), u64::from(packets.max(15)) * 1500 / 4);
        }
        let weighed = RedParams { weight: Some(0.002), ..RedParams::default() };
        assert_eq!(weighed.sized(8, 1500).max(), 3000);
    }
}
