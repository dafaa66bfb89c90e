//! Takes the samples of the trace.

use crate::cc::{Controller, Phase};
use crate::config::{Config, TraceSpec};
use crate::flow::Flow;
use crate::flow::flows::Flows;
use crate::meters::flow_moments::FlowMoments;
use crate::meters::trace::{FlowTrace, State, Trace};
use crate::network::Network;
use crate::time::{NEVER, Picos};

pub(crate) struct Sampler<'a> {
    spec: Option<&'a TraceSpec>,
    /// When the next sample is due.
    pub(crate) next_at: Picos,
    trace: Trace,
    flow_moments: Vec<FlowMoments>,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        let spec = config.trace.as_ref();
        let flows = spec.map_or(0, |spec| spec.flows.len());
        let trace = Trace {
            queue: vec![Vec::new(); config.links.len()],
            flows: vec![FlowTrace::default(); flows],
            ..Trace::default()
        };
        let next_at = if spec.is_some() { config.warmup } else { NEVER };
        Self { spec, next_at, trace, flow_moments: Vec::new() }
    }

    /// Whether links are to read what costs time at every packet.
    pub(crate) fn details_links(&self) -> bool {
        self.spec.is_some_and(|spec| spec.link_details)
    }

    /// The measured window begins.
    pub(crate) fn begin(&mut self, flows: &Flows) {
        if self.spec.is_some_and(|spec| spec.every_flow) {
            self.flow_moments = flows.iter().map(FlowMoments::new).collect();
        }
    }

    pub(crate) fn sample(&mut self, network: &mut Network, flows: &Flows) {
        let Some(spec) = self.spec else { return };
        let now = self.next_at;
        self.trace.at.push(now);
        for (samples, link) in self.trace.queue.iter_mut().zip(network.links.iter_mut()) {
            samples.push(link.waiting(now) as u32);
        }
        if spec.window_sum {
            self.sum_windows(flows);
        }
        for (watch, flow) in self.flow_moments.iter_mut().zip(flows.iter()) {
            watch.sample(now, flow, window(flow), &mut self.trace);
        }
        for (samples, &index) in self.trace.flows.iter_mut().zip(&spec.flows) {
            let Some(flow) = flows.get(index as usize) else { continue };
            samples.cwnd.push(window(flow));
            samples.srtt.push(flow.sender.rtt.srtt);
            samples.state.push(state(flow));
        }
        self.next_at = now.saturating_add(spec.step);
    }

    fn sum_windows(&mut self, flows: &Flows) {
        self.trace.window_sum.push(flows.iter().map(window).sum());
        let avoiding = flows.iter().filter(|flow| state(flow).in_avoidance()).count();
        self.trace.in_avoidance.push(avoiding as u32);
    }

    pub(crate) fn finish(mut self) -> Option<Trace> {
        self.spec?;
        self.trace.windows = self.flow_moments.iter().map(FlowMoments::moments).collect();
        Some(self.trace)
    }
}

/// Segments that the flow may have outstanding as its controller sees it; none while idle.
fn window(flow: &Flow) -> f64 {
    if is_idle(flow) { 0.0 } else { flow.sender.window.cwnd }
}

fn is_idle(flow: &Flow) -> bool {
    flow.sender.snd_max == 0 || flow.sender.snd_una >= flow.sender.app_limit
}

fn state(flow: &Flow) -> State {
    let sender = &flow.sender;
    match sender.phase {
        _ if is_idle(flow) => State::Idle,
        Phase::Recovery => State::Recovery,
        Phase::Loss => State::Loss,
        Phase::Open if sender.cc.in_startup(&sender.window) => State::SlowStart,
        Phase::Open => State::Avoidance,
    }
}
