//! A side's handling of its connections, from the handshake to the end.

use super::counters::Counts;
use super::host::{Host, refused};
use super::poll::{SENDER, SINK};
use super::sender::{SenderSocket, Stage};
use super::sink::{Found, Sink};
use super::sockets::{connecting, no_socket};
use super::tcp_info::TcpInfo;
use super::timer_queue::Task;
use crate::failure::Failure;
use forebay_sim::time::{NEVER, Picos};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with};
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::SeqCst;

impl Host {
    /// Begins the handshake of a flow's next connection, before the time at which data may be sent.
    pub(super) fn open(&mut self, flow: u32) -> Result<(), Failure> {
        let begins = self.drive_plan.begun[flow as usize].load(SeqCst);
        let file = self.drive_plan.file[flow as usize].load(SeqCst);
        self.connect(flow, file, begins)?;
        Ok(())
    }

    /// Begins the handshake for the file after this one, where the user will not think for long
    /// enough to do it then.
    fn preconnect(&mut self, flow: u32, file: u32) -> Result<(), Failure> {
        let one_way_bound = self.drive_plan.flows[flow as usize].one_way_bound;
        if self.drive_plan.think(flow, file).is_some_and(|think| think < one_way_bound) {
            let place = self.connect(flow, file + 1, NEVER)?;
            self.preconnected.insert(flow, place);
        }
        Ok(())
    }

    fn connect(&mut self, flow: u32, file: u32, begins: Picos) -> Result<u32, Failure> {
        let socket = connecting(
            &self.drive_plan,
            flow,
            self.ports[self.drive_plan.listen_port(flow, file)],
        )?;
        self.poll.watch(&socket, SENDER, self.senders.next())?;
        Ok(self.senders.insert(SenderSocket::new(socket, &self.drive_plan, flow, file, begins)))
    }

    pub(super) fn on_sender(&mut self, place: u32, flags: EventFlags) -> Result<(), Failure> {
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            return self.ended(place);
        }
        let Some(sender) = self.senders.get_mut(place) else { return Ok(()) };
        match sender.stage {
            Stage::Connecting => self.established(place),
            Stage::Waiting => Ok(()),
            Stage::Flowing => {
                let more = sender.write().map_err(refused)?;
                self.come_back(place, more)
            }
        }
    }

    /// Registers a sender again that could write more.
    fn come_back(&mut self, place: u32, more: bool) -> Result<(), Failure> {
        match self.senders.get_mut(place) {
            Some(sender) if more => self.poll.again(&sender.socket, place),
            _ => Ok(()),
        }
    }

    fn established(&mut self, place: u32) -> Result<(), Failure> {
        let Some(sender) = self.senders.get_mut(place) else { return Ok(()) };
        sender.base = TcpInfo::of(&sender.socket).map_err(refused)?;
        sender.seen = sender.base;
        sender.stage = Stage::Waiting;
        let (flow, payload) = (sender.flow, self.drive_plan.flows[sender.flow as usize].payload());
        if sender.base.snd_mss != payload {
            return Err(odd_segment(flow, payload, sender.base.snd_mss));
        }
        if sender.begins != NEVER {
            self.timer_queue.put(sender.begins, Task::Begin(place));
        }
        Ok(())
    }

    /// Begins to send over a connection whose time has come.
    pub(super) fn begin(&mut self, place: u32) -> Result<(), Failure> {
        let now = self.clock.now_ps();
        let Some(sender) = self.senders.get_mut(place) else { return Ok(()) };
        // Another connection may be in the slot of one that has failed.
        if sender.stage != Stage::Waiting || sender.begins > now {
            return Ok(());
        }
        let (flow, file) = (sender.flow, sender.file);
        self.drive_plan.begun[flow as usize].store(now, SeqCst);
        let more = sender.begin().map_err(refused)?;
        self.come_back(place, more)?;
        self.preconnect(flow, file)
    }

    /// The receiver has ended the connection, as it does when it has all data; or it has failed.
    fn ended(&mut self, place: u32) -> Result<(), Failure> {
        let Some(sender) = self.senders.remove(place) else { return Ok(()) };
        let flow = sender.flow;
        let spec = &self.drive_plan.flows[flow as usize];
        if sender.stage != Stage::Connecting {
            let last = TcpInfo::of(&sender.socket).map_err(refused)?;
            self.counters.keep(spec.class, flow, &Counts::of_sender(&last, &sender.base));
        }
        if !sender.has_sent_all() && !self.counters.over() {
            self.failures += 1;
        }
        if sender.file == self.drive_plan.file[flow as usize].load(SeqCst) {
            self.think(flow, sender.file);
        } else {
            self.preconnected.remove(&flow);
        }
        Ok(())
    }

    /// Starts a user's think time after a file.
    fn think(&mut self, flow: u32, file: u32) {
        let Some(think) = self.drive_plan.think(flow, file) else { return };
        let begins = self.clock.now_ps() + think;
        self.drive_plan.begun[flow as usize].store(begins, SeqCst);
        self.drive_plan.file[flow as usize].store(file + 1, SeqCst);
        let Some(place) = self.preconnected.remove(&flow) else {
            let one_way_bound = self.drive_plan.flows[flow as usize].one_way_bound;
            return self.timer_queue.put(begins.saturating_sub(one_way_bound), Task::Open(flow));
        };
        if let Some(preconnected_socket) = self.senders.get_mut(place) {
            preconnected_socket.begins = begins;
            self.timer_queue.put(begins, Task::Begin(place));
        }
    }

    /// Accepts the connections that have arrived at a listener.
    pub(super) fn accept(&mut self, listen_port: usize) -> Result<(), Failure> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        loop {
            let Some(listener) = &self.listeners[listen_port] else { return Ok(()) };
            match acceptfrom_with(listener, flags) {
                Ok((socket, Some(peer))) => self.receive(listen_port, socket, peer)?,
                Ok((_, None)) | Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(no_socket(error.into())),
            }
        }
    }

    fn receive(
        &mut self,
        listen_port: usize,
        socket: OwnedFd,
        peer: SocketAddrAny,
    ) -> Result<(), Failure> {
        let Ok(peer) = SocketAddrV4::try_from(peer) else { return Ok(()) };
        let Some(flow) = self.drive_plan.flow_at(self.side.other(), *peer.ip()) else {
            return Ok(());
        };
        let file = self.drive_plan.file_at(flow, listen_port);
        let payload = u64::from(self.drive_plan.flows[flow as usize].payload());
        let bytes = self.drive_plan.segments(flow, file).map(|segments| segments * payload);
        let class = self.drive_plan.class_of(flow);
        let clamp = class.max_window.map(|_| class.window_bytes());
        // Options of a connection that has already ended cannot be set.
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
        // Closing it tells the sender at once that all data has arrived.
        let Some(sink) = self.sinks.remove(place) else { return Ok(()) };
        let class = self.drive_plan.flows[flow as usize].class;
        self.counters.keep(class, flow, &self.delivered(&sink)?);
        if found == Found::Whole {
            let begun = self.drive_plan.begun[flow as usize].load(SeqCst);
            let within = begun >= self.drive_plan.cuts[0];
            self.counters.completed(class, now.saturating_sub(begun), within);
            let file = self.drive_plan.file[flow as usize].load(SeqCst);
            self.drive_plan.files_ended[flow as usize].store(file + 1, SeqCst);
        }
        Ok(())
    }

    /// Delivered data of a sink's connection: whole segments, as bytes on the link.
    pub(super) fn delivered(&self, sink: &Sink) -> Result<Counts, Failure> {
        let spec = &self.drive_plan.flows[sink.flow as usize];
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
