//! What a side does with its connections, from the handshake to the end.

use super::agenda::Task;
use super::host::{Host, refused};
use super::poll::{SENDER, SINK};
use super::sending::{Sending, Stage};
use super::sink::{Found, Sink};
use super::sockets::{connecting, no_socket};
use super::tally::Counts;
use super::tcp_info::TcpInfo;
use crate::failure::Failure;
use forebay_sim::time::{NEVER, Picos};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with};
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::SeqCst;

impl Host {
    /// Begins the handshake for what a flow sends next, ahead of the time at which data may go.
    pub(super) fn open(&mut self, flow: u32) -> Result<(), Failure> {
        let begins = self.script.begun[flow as usize].load(SeqCst);
        let file = self.script.file[flow as usize].load(SeqCst);
        self.connect(flow, file, begins)?;
        Ok(())
    }

    /// Begins the handshake for the file after this one, where the user will not think for long
    /// enough to do it then.
    fn open_spare(&mut self, flow: u32, file: u32) -> Result<(), Failure> {
        let lead = self.script.flows[flow as usize].lead;
        if self.script.think(flow, file).is_some_and(|think| think < lead) {
            let place = self.connect(flow, file + 1, NEVER)?;
            self.spares.insert(flow, place);
        }
        Ok(())
    }

    fn connect(&mut self, flow: u32, file: u32, begins: Picos) -> Result<u32, Failure> {
        let socket = connecting(&self.script, flow, self.ports[self.script.door(flow, file)])?;
        self.poll.watch(&socket, SENDER, self.senders.next())?;
        Ok(self.senders.insert(Sending::new(socket, &self.script, flow, file, begins)))
    }

    pub(super) fn on_sender(&mut self, place: u32, flags: EventFlags) -> Result<(), Failure> {
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            return self.ended(place);
        }
        let Some(sending) = self.senders.get_mut(place) else { return Ok(()) };
        match sending.stage {
            Stage::Connecting => self.established(place),
            Stage::Waiting => Ok(()),
            Stage::Flowing => {
                let more = sending.write().map_err(refused)?;
                self.come_back(place, more)
            }
        }
    }

    /// A sender that could write more hears of it again.
    fn come_back(&mut self, place: u32, more: bool) -> Result<(), Failure> {
        match self.senders.get_mut(place) {
            Some(sending) if more => self.poll.again(&sending.socket, place),
            _ => Ok(()),
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
        if sending.begins != NEVER {
            self.agenda.put(sending.begins, Task::Begin(place));
        }
        Ok(())
    }

    /// The connection's time has come.
    pub(super) fn begin(&mut self, place: u32) -> Result<(), Failure> {
        let now = self.clock.now_ps();
        let Some(sending) = self.senders.get_mut(place) else { return Ok(()) };
        // Another may have taken the place of one that has failed.
        if sending.stage != Stage::Waiting || sending.begins > now {
            return Ok(());
        }
        let (flow, file) = (sending.flow, sending.file);
        self.script.begun[flow as usize].store(now, SeqCst);
        let more = sending.begin().map_err(refused)?;
        self.come_back(place, more)?;
        self.open_spare(flow, file)
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
        if sending.file == self.script.file[flow as usize].load(SeqCst) {
            self.think(flow, sending.file);
        } else {
            self.spares.remove(&flow);
        }
        Ok(())
    }

    /// A user who has a file waits before the next.
    fn think(&mut self, flow: u32, file: u32) {
        let Some(think) = self.script.think(flow, file) else { return };
        let begins = self.clock.now_ps() + think;
        self.script.begun[flow as usize].store(begins, SeqCst);
        self.script.file[flow as usize].store(file + 1, SeqCst);
        let Some(place) = self.spares.remove(&flow) else {
            let lead = self.script.flows[flow as usize].lead;
            return self.agenda.put(begins.saturating_sub(lead), Task::Open(flow));
        };
        if let Some(spare) = self.senders.get_mut(place) {
            spare.begins = begins;
            self.agenda.put(begins, Task::Begin(place));
        }
    }

    /// Takes the connections that have come to a door.
    pub(super) fn accept(&mut self, door: usize) -> Result<(), Failure> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        loop {
            let Some(listener) = &self.listeners[door] else { return Ok(()) };
            match acceptfrom_with(listener, flags) {
                Ok((socket, Some(peer))) => self.receive(door, socket, peer)?,
                Ok((_, None)) | Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(no_socket(error.into())),
            }
        }
    }

    fn receive(
        &mut self,
        door: usize,
        socket: OwnedFd,
        peer: SocketAddrAny,
    ) -> Result<(), Failure> {
        let Ok(peer) = SocketAddrV4::try_from(peer) else { return Ok(()) };
        let Some(flow) = self.script.flow_at(self.side.other(), *peer.ip()) else { return Ok(()) };
        let file = self.script.file_at(flow, door);
        let payload = u64::from(self.script.flows[flow as usize].payload());
        let bytes = self.script.segments(flow, file).map(|segments| segments * payload);
        let class = self.script.class_of(flow);
        let clamp = class.max_window.map(|_| class.window_bytes());
        // One that has gone already has no option to set.
        let Ok(sink) = Sink::new(socket, flow, bytes, clamp) else { return Ok(()) };
        self.poll.watch(&sink.socket, SINK, self.sinks.next())?;
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
            let within = begun >= self.script.cuts[0];
            self.tally.completed(class, now.saturating_sub(begun), within);
            let file = self.script.file[flow as usize].load(SeqCst);
            self.script.files_ended[flow as usize].store(file + 1, SeqCst);
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
