//! What is kept of every flow between two samples.

use super::trace::{EventCount, Trace};
use crate::flow::Flow;
use crate::time::Picos;

/// One flow: moments of its window, and how far its counters had come.
///
/// The sums are of differences from the first sample: a window's variance is often far below its
/// squared mean.
#[derive(Clone, Default)]
pub(crate) struct FlowMoments {
    samples: u64,
    first: f64,
    sum: f64,
    squares: f64,
    drops: u64,
    reductions: u64,
}

impl FlowMoments {
    /// Counters as they stand when the window begins.
    pub(crate) fn new(flow: &Flow) -> Self {
        Self {
            drops: flow.route.drops.into(),
            reductions: flow.counts().reductions,
            ..Self::default()
        }
    }

    /// A sample of the window at `now`; what happened since the last one goes to `trace`.
    pub(crate) fn sample(&mut self, now: Picos, flow: &Flow, cwnd: f64, trace: &mut Trace) {
        if self.samples == 0 {
            self.first = cwnd;
        }
        self.samples += 1;
        self.sum += cwnd - self.first;
        self.squares += (cwnd - self.first).powi(2);
        let incident = |count| EventCount { at: now, flow: flow.index(), count };
        let drops = u64::from(flow.route.drops);
        if drops != self.drops {
            trace.drops.push(incident((drops - self.drops) as u32));
            self.drops = drops;
        }
        let reductions = flow.counts().reductions;
        if reductions != self.reductions {
            trace.reductions.push(incident((reductions - self.reductions) as u32));
            self.reductions = reductions;
        }
    }

    /// Mean and variance of the samples (divided by their number).
    pub(crate) fn moments(&self) -> (f64, f64) {
        let n = self.samples.max(1) as f64;
        let shift = self.sum / n;
        (self.first + shift, (self.squares / n - shift * shift).max(0.0))
    }
}
