//! A run, or a part of one: flows, the network between them, and the loop that moves both through time.

use crate::config::{Config, Source};
use crate::events::event_key::{ACCESS, DELACK, NEXT_FILE, PACE, STOP, TIMER, decode, decode_link};
use crate::events::{Event, EventKey};
use crate::fast::flow_kind::{
    FlowKind, GeneralKind, LinuxKind, NewRenoKind, Ns2Kind, PacedKind, RecordedNewRenoKind,
    RecordedSackKind, SackKind, dispatch_kind,
};
use crate::fast::prefetch::{NextEventPrefetch, Prefetcher, SortedPrefetch};
use crate::flow::Flow;
use crate::flow::flows::Flows;
use crate::meters::report::Report;
use crate::network::Network;
use crate::packet::Payload;
use crate::run::arrivals::Arrivals;
use crate::run::partition::Partition;
use crate::run::readings::Readings;
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
    /// Each packet that waits, for its access link or for a wire, has an event of its own, also where nothing else happens
    /// before: the same readings more slowly, for tests to compare with.
    pub single_events: bool,
}

/// Events between two looks at `Control`.
const WATCH_INTERVAL: u64 = 4096;

/// A run in progress, or a part of it.
pub(crate) struct Simulation<'a> {
    pub(crate) flows: Flows,
    pub(crate) network: Network<'a>,
    arrivals: Arrivals,
}

/// What is done where no event comes before the limit that the network has been given.
pub(crate) trait AtLimit {
    /// The limit is reached at `now`, and is given anew; else the run ends, or has been stopped (false).
    fn on_limit(&mut self, simulation: &mut Simulation, now: Picos) -> ControlFlow<bool>;
}

impl AtLimit for Readings<'_> {
    fn on_limit(&mut self, simulation: &mut Simulation, now: Picos) -> ControlFlow<bool> {
        if self.take(&mut simulation.network, &simulation.flows, now) {
            return ControlFlow::Break(true);
        }
        simulation.network.schedule_reading(self.next_at);
        ControlFlow::Continue(())
    }
}

impl<'a> Simulation<'a> {
    /// Part `number` of a network, at the start.
    pub(crate) fn of_part(config: &'a Config, partition: &Partition, number: u8) -> Self {
        let mut network = Network::new(config, partition, number);
        let arrivals = Arrivals::of(config, partition);
        let mut flows = Flows::of(config.flows.len(), arrivals.exist());
        network.waiting = vec![0; if arrivals.exist() { config.flows.len() } else { 0 }];
        for (index, spec) in (0..).zip(&config.flows) {
            if arrivals.make_later(config, index) {
                continue;
            }
            let flow = flows.make(Flow::new(index, spec, config, &network.paths));
            let first_link = network.paths.unpack(flow.first_hop).link;
            if partition.by_link[first_link as usize] == number {
                network.arm_timer(flow, flow.start(config));
                let source = config.flows[flow.index() as usize].source;
                if let Source::Until(stop) | Source::FilesUntil(_, _, stop) = source {
                    network.schedule(flow, STOP, stop, Payload::NONE);
                }
            }
        }
        network.schedule_arrivals(arrivals.next_at(config));
        Self { flows, network, arrivals }
    }

    pub(crate) fn run(mut self, config: &Config, control: &Control) -> Option<Report> {
        let mut readings = Readings::new(config);
        self.network.schedule_reading(readings.next_at);
        let (ended, events) = self.run_until(&mut readings, control)?;
        Some(readings.finish(ended.network, &ended.flows, events))
    }

    /// Handles events until `at_limit` ends it, and counts them; `None` if it was stopped.
    pub(crate) fn run_until(
        mut self,
        at_limit: &mut dyn AtLimit,
        control: &Control,
    ) -> Option<(Self, u64)> {
        self.network.single_events = control.single_events;
        if self.network.wheel.is_sorted() {
            self.sorted_event_loop(at_limit, control)
        } else if !self.network.traffic.has_scoreboards() {
            self.event_loop(NextEventPrefetch::<false>, at_limit, control)
        } else {
            self.event_loop(NextEventPrefetch::<true>, at_limit, control)
        }
    }

    /// The event loop of a large network or link. Its events are aligned variables: inlined beside the others, it would cost each of
    /// them a register.
    #[inline(never)]
    fn sorted_event_loop(
        self,
        at_limit: &mut dyn AtLimit,
        control: &Control,
    ) -> Option<(Self, u64)> {
        self.event_loop(SortedPrefetch, at_limit, control)
    }

    /// All events, one after the other. The simulation is moved, for a reference to it would cost a register.
    fn event_loop(
        mut self,
        mut prefetcher: impl Prefetcher,
        at_limit: &mut dyn AtLimit,
        control: &Control,
    ) -> Option<(Self, u64)> {
        let mut events = 0_u64;
        let mut unwatched = WATCH_INTERVAL;
        loop {
            let limit = self.network.event_limit;
            let Some((event, next_event_key)) =
                prefetcher.pop_before(&mut self.network.wheel, limit)
            else {
                match self.on_event_limit(at_limit) {
                    ControlFlow::Continue(dequeues) => events += dequeues,
                    ControlFlow::Break(ended) => {
                        events += WATCH_INTERVAL - unwatched;
                        return ended.then_some((self, events));
                    }
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
    }

    /// No event comes before the next reading, or before the one link that needs no event for it takes packets off
    /// its queue. Gives how often that has happened; ends where `at_limit` says so.
    #[cold]
    #[inline(never)]
    fn on_event_limit(&mut self, at_limit: &mut dyn AtLimit) -> ControlFlow<bool, u64> {
        if self.network.arrivals_due() {
            self.arrivals.make(&mut self.network, &mut self.flows);
            return ControlFlow::Continue(0);
        }
        let Some(at) = self.network.reading_due() else {
            self.on_sole_dequeue();
            return ControlFlow::Continue(1);
        };
        at_limit.on_limit(self, at).map_continue(|()| 0)
    }

    /// The one link that needs no event for it takes packets off its queue.
    #[inline(always)]
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
            RecordedNewRenoKind::ACK_EVENT => {
                self.network.on_ack_arrival::<RecordedNewRenoKind>(now, flow, payload)
            }
            RecordedSackKind::ACK_EVENT => {
                self.network.on_ack_arrival::<RecordedSackKind>(now, flow, payload)
            }
            GeneralKind::ACK_EVENT => {
                self.network.on_ack_arrival::<GeneralKind>(now, flow, payload)
            }
            TIMER => dispatch_kind!(flow.ack_event(), K => self.network.on_timer::<K>(now, flow)),
            ACCESS => dispatch_kind!(flow.ack_event(), K => self.network.on_access::<K>(now, flow)),
            DELACK if payload.is_ack() => self.network.on_held_ack_arrival(now, flow, payload),
            DELACK => {
                dispatch_kind!(flow.ack_event(), K => self.network.on_delack_timer::<K>(now, flow))
            }
            STOP => flow.stop(),
            NEXT_FILE => self.network.on_next_file(now, flow),
            _ => self.network.on_hop(now, flow, key, payload),
        }
    }
}

fn watch(control: &Control, now: Picos) -> bool {
    control.reached.store(now, Ordering::Relaxed);
    control.stop.load(Ordering::Relaxed)
}
