//! The run: flows, the network between them, and the loop that moves both through time.

use crate::config::{Config, ConfigError};
use crate::event_key::{ACCESS, DELACK, PACE, TIMER, decode, decode_link};
use crate::events::{Event, EventKey};
use crate::flow::Flow;
use crate::flow_kind::{
    FlowKind, GeneralKind, LinuxKind, NewRenoKind, Ns2Kind, PacedKind, SackKind, dispatch_kind,
};
use crate::network::Network;
use crate::packet::Payload;
use crate::prefetch::{DeepPrefetch, NetworkPrefetch, NextEventPrefetch, Prefetcher, pays};
use crate::readings::Readings;
use crate::report::Report;
use crate::time::Picos;
use std::ops::ControlFlow;
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
struct Simulation<'a> {
    flows: Vec<Flow>,
    network: Network<'a>,
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
        flows.iter_mut().for_each(|flow| network.arm_timer(flow, flow.start(config)));
        Self { flows, network }
    }

    fn run(self, config: &Config, control: &Control) -> Option<Report> {
        if self.network.wheel.is_sorted() {
            self.event_loop(NetworkPrefetch, config, control)
        } else if pays(self.flows.len()) {
            self.event_loop(DeepPrefetch::default(), config, control)
        } else if self.flows.iter().all(|flow| flow.sender.scoreboard.is_none()) {
            self.event_loop(NextEventPrefetch::<false>, config, control)
        } else {
            self.event_loop(NextEventPrefetch::<true>, config, control)
        }
    }

    /// All events, one after the other.
    fn event_loop(
        mut self,
        mut prefetcher: impl Prefetcher,
        config: &Config,
        control: &Control,
    ) -> Option<Report> {
        let mut readings = Readings::new(config);
        let mut events = 0_u64;
        let mut unwatched = WATCH_INTERVAL;
        self.network.schedule_reading(readings.next_at);
        loop {
            let limit = self.network.event_limit;
            let Some((event, next_event_key)) =
                prefetcher.pop_before(&mut self.network.wheel, limit)
            else {
                match self.on_event_limit(&mut readings) {
                    ControlFlow::Continue(dequeues) => events += dequeues,
                    ControlFlow::Break(()) => break,
                }
                continue;
            };
            unwatched -= 1;
            if unwatched == 0 {
                if watch(control, event.at) {
                    return None;
                }
                events += WATCH_INTERVAL;
                unwatched = WATCH_INTERVAL;
            }
            prefetcher.prefetch(&event, next_event_key, &self.network, &self.flows);
            self.handle(event);
        }
        events += WATCH_INTERVAL - unwatched;
        Some(readings.finish(self.network, &self.flows, events))
    }

    /// No event comes before the next reading, or before the one link that needs no event for it takes packets off
    /// its queue. Gives how often that has happened; ends with the last reading.
    #[cold]
    #[inline(never)]
    fn on_event_limit(&mut self, readings: &mut Readings) -> ControlFlow<(), u64> {
        let Some(at) = self.network.reading_due() else {
            self.on_sole_dequeue();
            return ControlFlow::Continue(1);
        };
        if readings.take(&mut self.network, &self.flows, at) {
            return ControlFlow::Break(());
        }
        self.network.schedule_reading(readings.next_at);
        ControlFlow::Continue(0)
    }

    /// The one link that needs no event for it takes packets off its queue.
    #[inline(never)]
    fn on_sole_dequeue(&mut self) {
        if let Some((link, now)) = self.network.fire_sole_dequeue() {
            self.network.on_dequeue_event(now, link, &mut self.flows);
            self.network.account_side_drops(&mut self.flows);
        }
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) {
        let Event { at, key, payload, .. } = event;
        let (index, kind) = decode(key);
        match self.flows.get_mut(index) {
            Some(flow) if kind == Ns2Kind::ACK_EVENT => {
                self.network.on_ack_arrival::<Ns2Kind>(at, flow, payload)
            }
            Some(flow) if kind == LinuxKind::ACK_EVENT => {
                self.network.on_ack_arrival::<LinuxKind>(at, flow, payload)
            }
            _ => self.handle_slow_path(at, key, payload),
        }
        self.network.account_side_drops(&mut self.flows);
    }

    /// All but the ACK that reaches a sender of a shipped profile.
    #[inline(never)]
    fn handle_slow_path(&mut self, now: Picos, key: EventKey, payload: Payload) {
        let (index, kind) = decode(key);
        match self.flows.get_mut(index) {
            Some(flow) if kind == PACE => self.network.on_pacing_timer(now, flow),
            Some(flow) if kind == PacedKind::ACK_EVENT => {
                self.network.on_paced_ack_arrival(now, flow, payload)
            }
            _ => self.handle_rare(now, key, payload),
        }
    }

    /// What is rare in most runs.
    #[inline(never)]
    fn handle_rare(&mut self, now: Picos, key: EventKey, payload: Payload) {
        let (index, kind) = decode(key);
        let Some(flow) = self.flows.get_mut(index) else {
            return self.network.on_dequeue_event(now, decode_link(key), &mut self.flows);
        };
        match kind {
            NewRenoKind::ACK_EVENT => {
                self.network.on_ack_arrival::<NewRenoKind>(now, flow, payload)
            }
            SackKind::ACK_EVENT => self.network.on_ack_arrival::<SackKind>(now, flow, payload),
            GeneralKind::ACK_EVENT => {
                self.network.on_ack_arrival::<GeneralKind>(now, flow, payload)
            }
            TIMER => dispatch_kind!(flow.ack_event(), K => self.network.on_timer::<K>(now, flow)),
            ACCESS => dispatch_kind!(flow.ack_event(), K => self.network.on_access::<K>(now, flow)),
            DELACK => {
                dispatch_kind!(flow.ack_event(), K => self.network.on_delack_timer::<K>(now, flow))
            }
            _ => self.network.on_hop(now, flow, key, payload),
        }
    }
}

fn watch(control: &Control, now: Picos) -> bool {
    control.reached.store(now, Ordering::Relaxed);
    control.stop.load(Ordering::Relaxed)
}
