//! The run: flows, the network between them, and the loop that moves both through time.

use crate::ahead::{Ahead, Far, Near};
use crate::config::{Config, ConfigError};
use crate::events::{Event, Node};
use crate::flow::Flow;
use crate::network::{ACCESS, HELD, Network, PACE, TIMER, place};
use crate::parcel::Load;
use crate::readings::Readings;
use crate::report::Report;
use crate::time::{NEVER, Picos};
use crate::way::{Any, Linux, Ns2, Plain, Sack, Way, as_kind};
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
        let mut network = Network::new(config);
        let make = |(index, spec)| Flow::new(index, spec, config, &network.paths);
        let mut flows: Vec<Flow> = (0..).zip(&config.flows).map(make).collect();
        flows.iter_mut().for_each(|flow| network.wake_at(flow, flow.start(config)));
        Self { flows, network }
    }

    fn run(self, config: &Config, control: &Control) -> Option<Report> {
        match Far::of(&self.flows) {
            Some(far) => self.go_through(far, config, control),
            None => self.go_through(Near, config, control),
        }
    }

    /// All events, one after the other.
    fn go_through(
        mut self,
        mut ahead: impl Ahead,
        config: &Config,
        control: &Control,
    ) -> Option<Report> {
        let mut readings = Readings::new(config);
        let mut events = 0_u64;
        self.network.next_reading = readings.next_at;
        while let Some((event, second)) = self.network.wheel.pop() {
            let now = event.at;
            if now >= self.network.next_reading {
                if readings.take(&mut self, now) {
                    break;
                }
                self.network.next_reading = readings.next_at;
            }
            if events.is_multiple_of(WATCH_INTERVAL) && watch(control, now) {
                return None;
            }
            events += 1;
            ahead.look(&event, second, &self.network, &self.flows);
            self.handle(event);
        }
        // Where every flow has ended before the window did, the rest of it is silence.
        readings.take(&mut self, NEVER);
        Some(readings.finish(self, events))
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) {
        let Event { at, node, load, .. } = event;
        let (index, kind) = place(node);
        match self.flows.get_mut(index) {
            Some(flow) if kind == Ns2::HOME => self.network.on_home::<Ns2>(at, flow, load),
            Some(flow) if kind == Linux::HOME => self.network.on_home::<Linux>(at, flow, load),
            _ => self.handle_rarer(at, node, load),
        }
        self.network.settle(&mut self.flows);
    }

    /// All but the ACK that reaches a sender of a shipped profile.
    #[inline(never)]
    fn handle_rarer(&mut self, now: Picos, node: Node, load: Load) {
        let (index, kind) = place(node);
        let Some(flow) = self.flows.get_mut(index) else {
            let link = index - self.flows.len();
            return self.network.on_service(now, link, &mut self.flows);
        };
        match kind {
            Plain::HOME => self.network.on_home::<Plain>(now, flow, load),
            Sack::HOME => self.network.on_home::<Sack>(now, flow, load),
            Any::HOME => self.network.on_home::<Any>(now, flow, load),
            TIMER => as_kind!(flow.home(), W => self.network.on_timer::<W>(now, flow)),
            ACCESS => as_kind!(flow.home(), W => self.network.on_access::<W>(now, flow)),
            HELD => as_kind!(flow.home(), W => self.network.on_held::<W>(now, flow)),
            PACE => self.network.on_pace(now, flow),
            _ => self.network.on_hop(now, flow, load),
        }
    }
}

fn watch(control: &Control, now: Picos) -> bool {
    control.reached.store(now, Ordering::Relaxed);
    control.stop.load(Ordering::Relaxed)
}
