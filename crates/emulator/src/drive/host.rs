//! One side's TCP: all connections of a namespace, in one thread that waits for the next event.
//! first.

use super::counters::Counters;
use super::drive_plan::{DrivePlan, PORTS_PER_CLASS, Side, Source};
use super::poll::{EVENTS, LISTENER, Poll, SENDER, SINK, STOP};
use super::sampling::Sampler;
use super::sender::SenderSocket;
use super::sink::Sink;
use super::slot_map::SlotMap;
use super::sockets::{listener, no_socket, udp_sink};
use super::stop::Stop;
use super::timer_queue::{Task, TimerQueue};
use super::udp_sink::UdpSink;
use crate::clock::Clock;
use crate::failure::Failure;
use forebay_sim::time::{MILLISECOND, Picos};
use rustix::event::epoll::EventFlags;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Largest read of a sink; the buffer is never touched, so it uses no memory.
const ROOM: usize = 1 << 20;
/// Period at which datagrams are collected.
pub(super) const COLLECTS: Picos = 5 * MILLISECOND;

/// All connections of one namespace.
pub(super) struct Host {
    pub(super) side: Side,
    pub(super) drive_plan: Arc<DrivePlan>,
    pub(super) clock: Clock,
    /// Ports of the other side's listeners; the last is for datagrams.
    pub(super) ports: Vec<u16>,
    pub(super) poll: Poll,
    pub(super) timer_queue: TimerQueue,
    pub(super) senders: SlotMap<SenderSocket>,
    pub(super) sinks: SlotMap<Sink>,
    /// By flow: slot of a connection that waits for the end of the previous one.
    pub(super) preconnected: HashMap<u32, u32>,
    /// By listener; none for classes whose senders are on this side.
    pub(super) listeners: Vec<Option<OwnedFd>>,
    pub(super) udp_sink: UdpSink,
    pub(super) counters: Counters,
    pub(super) sampler: Sampler,
    pub(super) room: Vec<u8>,
    /// Connections that ended too early.
    pub(super) failures: u64,
    /// This thread's CPU time at the first batch boundary, and at the last.
    pub(super) cpu: [Picos; 2],
}

impl Host {
    /// Listens on ports from `port` on, or on any if it is 0. Returns the ports too.
    pub(super) fn new(
        drive_plan: Arc<DrivePlan>,
        clock: Clock,
        side: Side,
        port: u16,
    ) -> Result<(Self, Vec<u16>), Failure> {
        let (classes, flows) = (drive_plan.classes.len(), drive_plan.flows.len());
        let (listeners, mut ports) = listen(&drive_plan, side, port)?;
        let nth = if port == 0 { 0 } else { port + ports.len() as u16 };
        let (socket, nth) = udp_sink(nth).map_err(no_socket)?;
        ports.push(nth);
        let host = Self {
            side,
            clock,
            ports: Vec::new(),
            poll: Poll::new()?,
            timer_queue: TimerQueue::default(),
            senders: SlotMap::default(),
            sinks: SlotMap::default(),
            preconnected: HashMap::new(),
            listeners,
            udp_sink: UdpSink::new(socket, flows),
            counters: Counters::new(classes, flows, drive_plan.cuts.len() - 1),
            sampler: Sampler::new(&drive_plan),
            room: vec![0; ROOM],
            failures: 0,
            cpu: [0; 2],
            drive_plan,
        };
        for (listen_port, listener) in (0..).zip(&host.listeners) {
            if let Some(listener) = listener {
                host.poll.watch(listener, LISTENER, listen_port)?;
            }
        }
        Ok((host, ports))
    }

    /// Runs until it is stopped.
    pub(super) fn run(&mut self, stop: &Stop) -> Result<(), Failure> {
        self.poll.watch(stop, STOP, 0)?;
        self.plan_ahead();
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            // Read first, so that a batch boundary that is due at the stop is still made.
            let told = stop.is_told();
            self.do_due()?;
            if told {
                return Ok(());
            }
            let wait = self.timer_queue.next_at().map(|at| self.clock.until(at));
            self.poll.wait(&mut events, wait)?;
            for event in &events {
                self.on_event(event.data.u64(), event.flags)?;
            }
            self.senders.settle();
            self.sinks.settle();
        }
    }

    fn plan_ahead(&mut self) {
        for (flow, spec) in (0..).zip(&self.drive_plan.flows) {
            let tcp = !matches!(spec.source, Source::Packets(..));
            if tcp && self.drive_plan.from(flow) == self.side {
                self.timer_queue
                    .put(spec.start.saturating_sub(spec.one_way_bound), Task::Open(flow));
            }
        }
        if self.drive_plan.classes.iter().any(|class| !class.tcp && class.from != self.side) {
            self.timer_queue.put(0, Task::Collect);
        }
        for &at in &self.drive_plan.cuts {
            self.timer_queue.put(at, Task::Cut);
        }
        self.timer_queue.put(self.drive_plan.cuts[0], Task::Sample);
    }

    fn do_due(&mut self) -> Result<(), Failure> {
        while let Some((at, task)) = self.timer_queue.due(self.clock.now_ps()) {
            match task {
                Task::Cut => self.cut()?,
                Task::Sample => self.sample(at)?,
                Task::Collect => self.collect(at)?,
                Task::Open(flow) => self.open(flow)?,
                Task::Begin(place) => self.begin(place)?,
            }
        }
        Ok(())
    }

    fn on_event(&mut self, data: u64, flags: EventFlags) -> Result<(), Failure> {
        let place = data as u32;
        match data >> 32 {
            LISTENER => self.accept(place as usize),
            SENDER => self.on_sender(place, flags),
            SINK => self.on_sink(place),
            _ => Ok(()),
        }
    }
}

type Listeners = (Vec<Option<OwnedFd>>, Vec<u16>);

/// Listeners of each class whose senders are on the other side.
fn listen(drive_plan: &DrivePlan, side: Side, port: u16) -> Result<Listeners, Failure> {
    let (mut listeners, mut ports) = (Vec::new(), Vec::new());
    for listen_port in 0..drive_plan.classes.len() * PORTS_PER_CLASS {
        let class = &drive_plan.classes[listen_port / PORTS_PER_CLASS];
        let needed = class.users || listen_port % PORTS_PER_CLASS == 0;
        let mine = class.tcp && class.from != side && needed;
        let wanted = if port == 0 { 0 } else { port + listen_port as u16 };
        let made = mine.then(|| listener(class, wanted)).transpose().map_err(|error| {
            let hint = "end what else listens in the testbed's namespaces";
            Failure::Kernel(format!("listen on port {wanted}"), error, hint)
        })?;
        ports.push(made.as_ref().map_or(0, |made| made.1));
        listeners.push(made.map(|made| made.0));
    }
    Ok((listeners, ports))
}

/// The failure of a query of a socket.
pub(super) fn refused(error: io::Error) -> Failure {
    Failure::Kernel("read or write a socket".into(), error, "start the run again")
}
