//! What a side does with its connections, from the handshake to the end.

use super::agenda::Task;
use super::host::{Host, refused};
use super::script::Source;
use super::sending::{Sending, Stage};
use super::sink::{Found, Sink};
use super::sockets::{connecting, no_socket};
use super::tally::Counts;
use super::tcp_info::TcpInfo;
use crate::failure::Failure;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with};
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::SeqCst;

impl Host {
    /// Begins the handshake for a flow's file, ahead of the time at which data may go.
    pub(super) fn open(&mut self, flow: u32) -> Result<(), Failure> {
        let spec = &self.script.flows[flow as usize];
        let socket = connecting(&self.script, flow, self.ports[usize::from(spec.class)])?;
        let begins = self.script.begun[flow as usize].load(SeqCst);
        let file = self.script.file[flow as usize].load(SeqCst);
        let payload = spec.payload();
        let bytes = self.script.segments(flow, file).map(|n| n * u64::from(payload));
        self.watch_sender(&socket, self.senders.next())?;
        self.senders.insert(Sending::new(socket, flow, begins, bytes, payload));
        Ok(())
    }

    pub(super) fn on_sender(&mut self, place: u32, flags: EventFlags) -> Result<(), Failure> {
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            return self.ended(place);
        }
        let Some(sending) = self.senders.get_mut(place) else { return Ok(()) };
        match sending.stage {
            Stage::Connecting => self.established(place),
            Stage::Waiting => Ok(()),
            Stage::Flowing => sending.write().map_err(refused),
        }
    }

    fn established(&mut self, place: u32) -> Result<(), Failure> {
        let Some(sending) = self.senders.get_mut(place) else { return Ok(()) };
        sending.base = TcpInfo::of(&sending.socket).map_err(refused)?;
        sending.seen = sending.base;
        sending.stage = Stage::Waiting;
        let (flow, payload) = (sending.flow, self.script.flows[sending.flow as usize].payload());
        if sending.base.snd_mss != payload {
            return Err(odd_segment(flow, payload, sending.base.snd_mss));
        }
        self.agenda.put(sending.begins, Task::Begin(place));
        Ok(())
    }

    /// The connection's time has come.
    pub(super) fn begin(&mut self, place: u32) -> Result<(), Failure> {
        let now = self.clock.now_ps();
        let Some(sending) = self.senders.get_mut(place) else { return Ok(()) };
        // Another may have taken the place of one that has failed.
        if sending.stage == Stage::Waiting && sending.begins <= now {
            sending.stage = Stage::Flowing;
            self.script.begun[sending.flow as usize].store(now, SeqCst);
            sending.write().map_err(refused)?;
        }
        Ok(())
    }

    /// The receiver has ended the connection, as it does when it has all data; or it has failed.
    fn ended(&mut self, place: u32) -> Result<(), Failure> {
        let Some(sending) = self.senders.remove(place) else { return Ok(()) };
        let flow = sending.flow;
        let spec = &self.script.flows[flow as usize];
        if sending.stage != Stage::Connecting {
            let last = TcpInfo::of(&sending.socket).map_err(refused)?;
            self.tally.keep(spec.class, flow, &Counts::of_sender(&last, &sending.base));
            if self.tally.measures() {
                self.sampler.take_rtt(spec.class, &sending.seen, &last);
            }
        }
        if !sending.has_sent_all() && !self.tally.over() {
            self.failures += 1;
        }
        self.think(flow);
        Ok(())
    }

    /// A user who has a file waits before the next.
    fn think(&mut self, flow: u32) {
        let spec = &self.script.flows[flow as usize];
        let Source::Files(from, to) = spec.source else { return };
        let had = self.script.file[flow as usize].fetch_add(1, SeqCst) as usize;
        if from + had + 1 < to {
            let begins = self.clock.now_ps() + self.script.files[from + had].1;
            self.script.begun[flow as usize].store(begins, SeqCst);
            self.agenda.put(begins.saturating_sub(spec.lead), Task::Open(flow));
        }
    }

    /// Takes the connections that have come for a class.
    pub(super) fn accept(&mut self, class: u32) -> Result<(), Failure> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        loop {
            let Some(listener) = &self.listeners[class as usize] else { return Ok(()) };
            match acceptfrom_with(listener, flags) {
                Ok((socket, Some(peer))) => self.receive(socket, peer)?,
                Ok((_, None)) | Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(no_socket(error.into())),
            }
        }
    }

    fn receive(&mut self, socket: OwnedFd, peer: SocketAddrAny) -> Result<(), Failure> {
        let Ok(peer) = SocketAddrV4::try_from(peer) else { return Ok(()) };
        let Some(flow) = self.script.flow_at(self.side.other(), *peer.ip()) else { return Ok(()) };
        let file = self.script.file[flow as usize].load(SeqCst);
        let payload = u64::from(self.script.flows[flow as usize].payload());
        let bytes = self.script.segments(flow, file).map(|segments| segments * payload);
        let class = self.script.class_of(flow);
        let clamp = class.max_window.map(|_| class.window_bytes());
        // One that has gone already has no option to set.
        let Ok(sink) = Sink::new(socket, flow, bytes, clamp) else { return Ok(()) };
        self.watch_sink(&sink.socket, self.sinks.next())?;
        self.sinks.insert(sink);
        Ok(())
    }

    pub(super) fn on_sink(&mut self, place: u32) -> Result<(), Failure> {
        let Some(sink) = self.sinks.get_mut(place) else { return Ok(()) };
        let flow = sink.flow;
        let found = sink.read(&mut self.room).map_err(refused)?;
        if found == Found::Open {
            return Ok(());
        }
        let now = self.clock.now_ps();
        // Closing it tells the sender at once that all has come.
        let Some(sink) = self.sinks.remove(place) else { return Ok(()) };
        let class = self.script.flows[flow as usize].class;
        self.tally.keep(class, flow, &self.delivered(&sink)?);
        if found == Found::Whole {
            let begun = self.script.begun[flow as usize].load(SeqCst);
            self.tally.completed(class, now.saturating_sub(begun));
        }
        Ok(())
    }

    /// What a sink's connection has delivered: whole segments, as bytes on the link.
    pub(super) fn delivered(&self, sink: &Sink) -> Result<Counts, Failure> {
        let spec = &self.script.flows[sink.flow as usize];
        let received = TcpInfo::of(&sink.socket).map_err(refused)?.bytes_received;
        let segments = received / u64::from(spec.payload());
        Ok(Counts::delivered(segments * u64::from(spec.packet_bytes)))
    }
}

fn odd_segment(flow: u32, asked: u32, got: u32) -> Failure {
    let why = format!(
        "flow {flow}: segments carry {got} B instead of {asked} B; write packets no \
                       larger than the devices' MTU, timestamps on, and windows of two packets or more"
    );
    Failure::Plan("the plan's flows".into(), why)
}
