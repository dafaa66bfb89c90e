//! The run: flows, the network between them, and the loop that moves both through time.

use crate::ahead::Ahead;
use crate::config::{Config, ConfigError};
use crate::events::Node;
use crate::flow::Flow;
use crate::network::{ACCESS, HOME, Network, PACE, STAGES, TIMER};
use crate::readings::Readings;
use crate::report::Report;
use crate::time::{NEVER, Picos};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Lets another thread watch a run and stop it.
#[derive(Default)]
pub struct Control {
    /// Simulated time reached.
    pub reached: AtomicU64,
    /// Set to end the run early; it then gives no report.
    pub stop: AtomicBool,
}

/// Events between two looks at `Control`.
const WATCH_INTERVAL: u64 = 4096;

/// A run in progress.
pub(crate) struct Simulation<'a> {
    pub(crate) flows: Vec<Flow>,
    pub(crate) network: Network<'a>,
}

/// Runs `config` to its end. Gives `None` if `control` stopped it.
pub fn run(config: &Config, control: &Control) -> Result<Option<Report>, ConfigError> {
    config.check()?;
    Ok(Simulation::new(config).run(config, control))
}

impl<'a> Simulation<'a> {
    fn new(config: &'a Config) -> Self {
        let make = |(index, spec)| Flow::new(index, spec, config);
        let mut flows: Vec<Flow> = (0..).zip(&config.flows).map(make).collect();
        let mut network = Network::new(config);
        let begins = flows.iter_mut().filter(|flow| flow.start < NEVER);
        begins.for_each(|flow| network.wake_at(flow, flow.start));
        Self { flows, network }
    }

    fn run(mut self, config: &Config, control: &Control) -> Option<Report> {
        let mut readings = Readings::new(config);
        let mut events = 0_u64;
        let mut ahead = Ahead::of(&self.flows, self.network.node_bits);
        self.network.next_reading = readings.next_at;
        while let Some((now, node)) = self.network.wheel.pop() {
            if now >= self.network.next_reading {
                if readings.take(&mut self, now) {
                    break;
                }
                self.network.next_reading = readings.next_at;
            }
            if events % WATCH_INTERVAL == 0 && watch(control, now) {
                return None;
            }
            events += 1;
            if let Some(ahead) = &mut ahead {
                ahead.look(&self.network.wheel, &self.flows);
            }
            self.handle(now, node);
        }
        // Where every flow has ended before the window did, the rest of it is silence.
        readings.take(&mut self, NEVER);
        Some(readings.finish(self, events))
    }

    #[inline]
    fn handle(&mut self, now: Picos, node: Node) {
        match self.network.place(node) {
            (index, HOME) if index < self.flows.len() => {
                self.network.on_home(now, &mut self.flows[index]);
            }
            _ => self.handle_rarer(now, node),
        }
        self.network.settle(&mut self.flows);
    }

    /// All but the ACK that reaches a sender.
    #[inline(never)]
    fn handle_rarer(&mut self, now: Picos, node: Node) {
        if let Some(link) = self.network.link_of(node) {
            return self.network.on_service(now, link, &mut self.flows);
        }
        let (index, kind) = self.network.place(node);
        let flow = &mut self.flows[index];
        match kind {
            TIMER => self.network.on_timer(now, flow),
            ACCESS => self.network.on_access(now, flow),
            PACE => self.network.transmit(now, flow),
            stage => self.network.on_stage(now, flow, (stage - STAGES) as usize + 1),
        }
    }
}

fn watch(control: &Control, now: Picos) -> bool {
    control.reached.store(now, Ordering::Relaxed);
    control.stop.load(Ordering::Relaxed)
}
