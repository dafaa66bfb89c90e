//! Readings over time.

use crate::time::Picos;

/// What a flow is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has not begun, or all its data is acknowledged.
    Idle,
    /// Below ssthresh, and no loss is being repaired.
    SlowStart,
    /// Congestion avoidance.
    Avoidance,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

impl State {
    /// Whether it makes the flow a long one (paper A, section 5.1.4, footnote 9): beyond slow
    /// start. Fast recovery is a pause between two stretches of congestion avoidance; ns-2, on
    /// which the authors counted, keeps the window at ssthresh in it.
    pub fn in_avoidance(self) -> bool {
        matches!(self, Self::Avoidance | Self::Recovery)
    }
}

/// One flow's samples, one at each instant of `Trace::at`.
#[derive(Clone, Debug, Default)]
pub struct FlowTrace {
    /// Congestion window, segments.
    pub cwnd: Vec<f64>,
    /// Smoothed round-trip time; 0 before the first measurement.
    pub srtt: Vec<Picos>,
    /// What it does.
    pub state: Vec<State>,
}

/// Something that happened to a flow since the sample before the one at `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCount {
    /// The sample's instant.
    pub at: Picos,
    /// The flow.
    pub flow: u32,
    /// How often it happened.
    pub count: u32,
}

/// Samples at equal steps through the measured window, its end excluded.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The instants.
    pub at: Vec<Picos>,
    /// Packets waiting, for each link.
    pub queue: Vec<Vec<u32>>,
    /// Sum of the congestion windows of the flows that are not idle, segments; empty if not asked.
    pub window_sum: Vec<f64>,
    /// Flows in congestion avoidance (`State::in_avoidance`); empty if not asked with `window_sum`.
    pub in_avoidance: Vec<u32>,
    /// The flows asked for, in that order.
    pub flows: Vec<FlowTrace>,
    /// Mean and variance of each flow's window, 0 while it is idle, over the samples; empty if
    /// not asked.
    pub windows: Vec<(f64, f64)>,
    /// Data packets that queues dropped; empty if not asked.
    pub drops: Vec<EventCount>,
    /// Reductions of congestion windows; empty if not asked.
    pub reductions: Vec<EventCount>,
}
