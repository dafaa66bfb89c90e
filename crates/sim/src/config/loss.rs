//! Loss of a link for other reasons than its queue, such as the errors of a radio.

use serde::Deserialize;

/// Where packets are lost.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum LossPlace {
    /// Before the queue, which never sees them.
    BeforeQueue,
    /// On the wire: they have waited, and take their time of it.
    AfterQueue,
}

/// What the probabilities of loss are of.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum LossUnit {
    /// A packet, whatever its size.
    Packet,
    /// A byte; a packet is lost with any of its bytes.
    Byte,
}

/// A channel of two states (Gilbert 1960, Elliott 1963), which may change at every packet. It begins in its steady
/// state. Where the state never leaves the good one, losses are independent (Bernoulli).
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LossSpec {
    /// Probability of loss in the good state.
    pub in_good: f64,
    /// Probability of loss in the bad state.
    pub in_bad: f64,
    /// Probability that a packet finds the state changed from good to bad.
    pub good_to_bad: f64,
    /// The same from bad to good.
    pub bad_to_good: f64,
    /// What `in_good` and `in_bad` are of.
    pub unit: LossUnit,
    /// Where it happens.
    pub place: LossPlace,
}

impl LossSpec {
    /// Independent losses of packets on the wire.
    pub fn bernoulli(probability: f64) -> Self {
        Self {
            in_good: probability,
            in_bad: probability,
            good_to_bad: 0.0,
            bad_to_good: 1.0,
            unit: LossUnit::Packet,
            place: LossPlace::AfterQueue,
        }
    }

    /// Share of packets that find the bad state.
    pub fn share_bad(&self) -> f64 {
        let sum = self.good_to_bad + self.bad_to_good;
        if sum > 0.0 { self.good_to_bad / sum } else { 0.0 }
    }
}
