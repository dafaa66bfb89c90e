//! One side's TCP: all connections of a namespace, in one thread that waits for whatever comes
//! first.

use super::agenda::{Agenda, Task};
use super::mailbox::Mailbox;
use super::sampling::Sampler;
use super::script::{Script, Side, Source};
use super::sending::Sending;
use super::sink::Sink;
use super::slots::Slots;
use super::sockets::{listener, mailbox, no_socket};
use super::stop::Stop;
use super::tally::Tally;
use crate::clock::Clock;
use crate::failure::Failure;
use forebay_sim::time::{MILLISECOND, Picos};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// What an event is about: this in its upper half, a place in its lower.
const LISTENER: u64 = 0;
const SENDER: u64 = 1;
const SINK: u64 = 2;
const STOP: u64 = 3;

/// Events fetched at once.
const EVENTS: usize = 256;
/// What a sink takes at once; never touched, so that it costs no memory.
const ROOM: usize = 1 << 20;
/// Datagrams are collected so often.
pub(super) const COLLECTS: Picos = 5 * MILLISECOND;
const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// See the module's page.
pub(super) struct Host {
    pub(super) side: Side,
    pub(super) script: Arc<Script>,
    pub(super) clock: Clock,
    /// Where the other side listens, by class; the last is for datagrams.
    pub(super) ports: Vec<u16>,
    epoll: OwnedFd,
    pub(super) agenda: Agenda,
    pub(super) senders: Slots<Sending>,
    pub(super) sinks: Slots<Sink>,
    /// By class; none for those whose data comes from here.
    pub(super) listeners: Vec<Option<OwnedFd>>,
    pub(super) mailbox: Mailbox,
    pub(super) tally: Tally,
    pub(super) sampler: Sampler,
    pub(super) room: Vec<u8>,
    /// Connections that ended before their time.
    pub(super) failures: u64,
    /// This thread's processor time at the first cut, and at the last.
    pub(super) cpu: [Picos; 2],
}

impl Host {
    /// Listens, on ports from `port` on, or on any if that is 0. Gives the ports, too.
    pub(super) fn new(
        script: Arc<Script>,
        clock: Clock,
        side: Side,
        port: u16,
    ) -> Result<(Self, Vec<u16>), Failure> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(|error| no_epoll(error.into()))?;
        let (classes, flows) = (script.classes.len(), script.flows.len());
        let (listeners, mut ports) = listen(&script, side, port)?;
        let nth = if port == 0 { 0 } else { port + classes as u16 };
        let (socket, nth) = mailbox(nth).map_err(no_socket)?;
        ports.push(nth);
        let host = Self {
            side,
            clock,
            ports: Vec::new(),
            epoll,
            agenda: Agenda::default(),
            senders: Slots::default(),
            sinks: Slots::default(),
            listeners,
            mailbox: Mailbox::new(socket, flows),
            tally: Tally::new(classes, flows, script.cuts.len() - 1),
            sampler: Sampler::new(&script),
            room: vec![0; ROOM],
            failures: 0,
            cpu: [0; 2],
            script,
        };
        for (class, listener) in host.listeners.iter().enumerate() {
            if let Some(listener) = listener {
                host.watch(listener, LISTENER, class as u32)?;
            }
        }
        Ok((host, ports))
    }

    /// Plays until told to stop.
    pub(super) fn run(&mut self, stop: &Stop) -> Result<(), Failure> {
        let data = EventData::new_u64(STOP << 32);
        epoll::add(&self.epoll, stop, data, EventFlags::IN)
            .map_err(|error| no_epoll(error.into()))?;
        self.plan_ahead();
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            // First, so that a cut that is due when the run is stopped is still made.
            let told = stop.is_told();
            self.do_due()?;
            if told {
                return Ok(());
            }
            self.wait(&mut events)?;
            for event in &events {
                self.on_event(event.data.u64(), event.flags)?;
            }
            self.senders.settle();
            self.sinks.settle();
        }
    }

    /// Tells of what happens to a socket.
    pub(super) fn watch(&self, socket: &OwnedFd, kind: u64, place: u32) -> Result<(), Failure> {
        let flags = match kind {
            LISTENER => EventFlags::IN,
            SENDER => EventFlags::OUT | EventFlags::ET,
            _ => EventFlags::IN | EventFlags::RDHUP | EventFlags::ET,
        };
        let data = EventData::new_u64(kind << 32 | u64::from(place));
        epoll::add(&self.epoll, socket, data, flags).map_err(|error| no_epoll(error.into()))
    }

    pub(super) fn watch_sender(&self, socket: &OwnedFd, place: u32) -> Result<(), Failure> {
        self.watch(socket, SENDER, place)
    }

    pub(super) fn watch_sink(&self, socket: &OwnedFd, place: u32) -> Result<(), Failure> {
        self.watch(socket, SINK, place)
    }

    fn plan_ahead(&mut self) {
        for (flow, spec) in (0..).zip(&self.script.flows) {
            let tcp = !matches!(spec.source, Source::Packets(..));
            if tcp && self.script.from(flow) == self.side {
                self.agenda.put(spec.start.saturating_sub(spec.lead), Task::Open(flow));
            }
        }
        if self.script.classes.iter().any(|class| !class.tcp && class.from != self.side) {
            self.agenda.put(0, Task::Collect);
        }
        for &at in &self.script.cuts {
            self.agenda.put(at, Task::Cut);
        }
        self.agenda.put(self.script.cuts[0], Task::Sample);
    }

    fn do_due(&mut self) -> Result<(), Failure> {
        while let Some((at, task)) = self.agenda.due(self.clock.now_ps()) {
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

    fn wait(&self, events: &mut Vec<Event>) -> Result<(), Failure> {
        events.clear();
        let wait = self.agenda.next_at().map(|at| {
            let nanos = self.clock.until(at).as_nanos();
            Timespec {
                tv_sec: (nanos / NANOS_PER_SECOND) as i64,
                tv_nsec: (nanos % NANOS_PER_SECOND) as i64,
            }
        });
        match epoll::wait(&self.epoll, spare_capacity(events), wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(no_epoll(error.into())),
        }
    }

    fn on_event(&mut self, data: u64, flags: EventFlags) -> Result<(), Failure> {
        let place = data as u32;
        match data >> 32 {
            LISTENER => self.accept(place),
            SENDER => self.on_sender(place, flags),
            SINK => self.on_sink(place),
            _ => Ok(()),
        }
    }
}

type Listeners = (Vec<Option<OwnedFd>>, Vec<u16>);

/// One for each class whose data comes from the other side.
fn listen(script: &Script, side: Side, port: u16) -> Result<Listeners, Failure> {
    let (mut listeners, mut ports) = (Vec::new(), Vec::new());
    for (nth, class) in (0..).zip(&script.classes) {
        let mine = class.tcp && class.from != side;
        let wanted = if port == 0 { 0 } else { port + nth };
        let made = mine.then(|| listener(class, wanted)).transpose().map_err(|error| {
            let hint = "end what else listens in the testbed's namespaces";
            Failure::Kernel(format!("listen on port {wanted}"), error, hint)
        })?;
        ports.push(made.as_ref().map_or(0, |made| made.1));
        listeners.push(made.map(|made| made.0));
    }
    Ok((listeners, ports))
}

fn no_epoll(error: io::Error) -> Failure {
    Failure::Kernel("epoll".into(), error, "a Linux kernel of 5.11 or later is needed")
}

/// What became of a socket that asks the kernel about itself.
pub(super) fn refused(error: io::Error) -> Failure {
    Failure::Kernel("read or write a socket".into(), error, "start the run again")
}
