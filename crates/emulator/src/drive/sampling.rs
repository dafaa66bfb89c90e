//! Samples of TCP_INFO in the measured window, on one side.

use super::drive_plan::DrivePlan;
use super::tcp_info::TcpInfo;
use forebay_sim::meters::trace::{EventCount, FlowTrace, State, Trace};
use forebay_sim::time::Picos;

const PICOS_PER_MICRO: Picos = 1_000_000;

/// Samples of every connection's TCP_INFO.
pub(super) struct Sampler {
    /// `finish` makes `windows`; `queue` and `drops` are the router's.
    trace: Trace,
    /// By flow: sums of its windows and of their squares; empty without a trace.
    sums: Vec<(f64, f64)>,
    /// By flow: its index in the trace, if any; empty if no flow has one.
    places: Vec<Option<u32>>,
}

impl Sampler {
    pub(super) fn new(drive_plan: &DrivePlan) -> Self {
        let flows = drive_plan.flows.len();
        let mut places = vec![None; if drive_plan.traced.is_empty() { 0 } else { flows }];
        for (place, &flow) in (0..).zip(&drive_plan.traced) {
            if let Some(entry) = places.get_mut(flow as usize) {
                *entry = Some(place);
            }
        }
        Self {
            trace: Trace {
                flows: vec![FlowTrace::default(); drive_plan.traced.len()],
                ..Trace::default()
            },
            sums: vec![(0.0, 0.0); if drive_plan.traces { flows } else { 0 }],
            places,
        }
    }

    /// A sample begins.
    pub(super) fn begin(&mut self, at: Picos) {
        self.trace.at.push(at);
        self.trace.window_sum.push(0.0);
        self.trace.in_avoidance.push(0);
        for flow in &mut self.trace.flows {
            flow.cwnd.push(0.0);
            flow.srtt.push(0);
            flow.state.push(State::Idle);
        }
    }

    /// Adds one connection to the current sample.
    pub(super) fn take(&mut self, flow: u32, before: &TcpInfo, now: &TcpInfo) {
        let (window, state) = (now.window(), now.state());
        if let (Some(sum), Some(avoiding)) =
            (self.trace.window_sum.last_mut(), self.trace.in_avoidance.last_mut())
        {
            *sum += window;
            *avoiding += u32::from(state.in_avoidance());
        }
        if let Some(sums) = self.sums.get_mut(flow as usize) {
            *sums = (sums.0 + window, sums.1 + window * window);
            if now.backed_off_since(before) {
                let at = self.trace.at.last().copied().unwrap_or(0);
                self.trace.reductions.push(EventCount { at, flow, count: 1 });
            }
        }
        let place = self.places.get(flow as usize).copied().flatten();
        if let Some(samples) = place.and_then(|place| self.trace.flows.get_mut(place as usize)) {
            replace_last(&mut samples.cwnd, window);
            replace_last(&mut samples.srtt, Picos::from(now.rtt) * PICOS_PER_MICRO);
            replace_last(&mut samples.state, state);
        }
    }

    /// Returns the samples.
    pub(super) fn finish(mut self) -> Trace {
        let n = self.trace.at.len().max(1) as f64;
        let moments = |&(sum, squares): &(f64, f64)| {
            let mean = sum / n;
            (mean, (squares / n - mean * mean).max(0.0))
        };
        self.trace.windows = self.sums.iter().map(moments).collect();
        self.trace
    }
}

fn replace_last<T>(values: &mut [T], value: T) {
    if let Some(last) = values.last_mut() {
        *last = value;
    }
}
