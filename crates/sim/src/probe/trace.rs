//! Readings over time.

use crate::cc::Phase;
use crate::time::Picos;

/// One flow's samples, one at each instant of `Trace::at`.
#[derive(Clone, Debug, Default)]
pub struct FlowTrace {
    /// Congestion window, segments.
    pub cwnd: Vec<f64>,
    /// Smoothed round-trip time.
    pub srtt: Vec<Picos>,
    /// Where the sender stands with its losses.
    pub phase: Vec<Phase>,
}

/// Samples at equal steps through the measured window.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The instants.
    pub at: Vec<Picos>,
    /// Packets waiting, for each link.
    pub queue: Vec<Vec<u32>>,
    /// Sum of the congestion windows of the flows that have begun, segments; empty if not asked.
    pub window_sum: Vec<f64>,
    /// Flows in congestion avoidance (paper A, section 5.1.4); empty if not asked with `window_sum`.
    pub in_avoidance: Vec<u32>,
    /// The flows asked for, in that order.
    pub flows: Vec<FlowTrace>,
}
