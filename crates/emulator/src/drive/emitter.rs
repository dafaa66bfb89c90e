//! Sends datagrams at their times, in a separate thread.

use super::drive_plan::{DrivePlan, STAMP, Side, Source, UDP_HEADERS};
use super::sockets::outbox;
use super::stop::Stop;
use super::udp_sink::stamp;
use crate::clock::Clock;
use crate::failure::Failure;
use forebay_sim::meters::histogram::Histogram;
use forebay_sim::time::{MILLISECOND, Picos};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use rustix::thread::set_current_timer_slack;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;

/// Longest sleep, which limits the time to stop.
const NAP: Picos = 100 * MILLISECOND;

/// Readings of an emitter.
pub(super) struct Emitted {
    /// By batch, then class.
    pub(super) sent: Vec<Vec<u64>>,
    /// By flow: sent datagrams that `DrivePlan::counts_in_window`.
    pub(super) judged: Vec<u64>,
    /// Datagrams that the kernel did not accept.
    pub(super) refused: u64,
    /// Lateness of sending.
    pub(super) lateness: Histogram,
}

/// One side's open-loop flows.
pub(super) struct Emitter<'a> {
    drive_plan: &'a DrivePlan,
    clock: Clock,
    /// The next packet of each flow: when, of which flow, and its index.
    next: BinaryHeap<Reverse<(Picos, u32, usize)>>,
    /// By flow.
    sockets: Vec<Option<OwnedFd>>,
    room: Vec<u8>,
    emitted: Emitted,
}

impl<'a> Emitter<'a> {
    /// Opens the sockets; none without such flows. Call it in their namespace.
    pub(super) fn new(
        drive_plan: &'a DrivePlan,
        clock: Clock,
        side: Side,
        port: u16,
    ) -> Result<Option<Self>, Failure> {
        let mut next = BinaryHeap::new();
        let mut sockets: Vec<Option<OwnedFd>> = drive_plan.flows.iter().map(|_| None).collect();
        for (flow, spec) in (0..).zip(&drive_plan.flows) {
            let Source::Packets(from, to) = spec.source else { continue };
            if drive_plan.from(flow) == side && from < to {
                let socket = outbox(drive_plan, flow, port);
                sockets[flow as usize] = Some(socket.map_err(|error| no_outbox(flow, error))?);
                next.push(Reverse((drive_plan.packets[from].0, flow, from)));
            }
        }
        let largest = drive_plan.packets.iter().map(|packet| packet.1).max();
        let room = vec![0; largest.unwrap_or(0) as usize];
        let batches = drive_plan.cuts.len() - 1;
        let emitted = Emitted {
            sent: vec![vec![0; drive_plan.classes.len()]; batches],
            judged: vec![0; drive_plan.flows.len()],
            refused: 0,
            lateness: Histogram::default(),
        };
        let emitter = Self { drive_plan, clock, next, sockets, room, emitted };
        Ok((!emitter.next.is_empty()).then_some(emitter))
    }

    /// Sends until it is stopped or nothing is left.
    pub(super) fn run(mut self, stop: &Stop) -> Result<Emitted, Failure> {
        // If refused, sending is slightly less precise, which the lateness shows.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        while let Some(&Reverse((at, flow, packet))) = self.next.peek() {
            if stop.is_told() {
                break;
            }
            let now = self.clock.now_ps();
            if at > now {
                std::thread::sleep(self.clock.until(at.min(now + NAP)));
                continue;
            }
            self.next.pop();
            self.emit(now - at, flow, packet)?;
        }
        Ok(self.emitted)
    }

    fn emit(&mut self, late: Picos, flow: u32, packet: usize) -> Result<(), Failure> {
        let Source::Packets(from, to) = self.drive_plan.flows[flow as usize].source else {
            return Ok(());
        };
        if packet + 1 < to {
            self.next.push(Reverse((self.drive_plan.packets[packet + 1].0, flow, packet + 1)));
        }
        let (at, bytes) = self.drive_plan.packets[packet];
        self.room[..STAMP].copy_from_slice(&stamp(flow, (packet - from) as u32));
        let Some(socket) = &self.sockets[flow as usize] else { return Ok(()) };
        match send(socket, &self.room[..(bytes - UDP_HEADERS) as usize], SendFlags::empty()) {
            Ok(_) => self.emitted.lateness.record(late),
            Err(Errno::MSGSIZE) => return Err(too_large(flow, bytes)),
            Err(_) => self.emitted.refused += 1,
        }
        self.count(at, flow, packet);
        Ok(())
    }

    fn count(&mut self, at: Picos, flow: u32, packet: usize) {
        let batch = self.drive_plan.cuts.partition_point(|&cut| cut <= at);
        let class = usize::from(self.drive_plan.flows[flow as usize].class);
        if let Some(row) = batch.checked_sub(1).and_then(|batch| self.emitted.sent.get_mut(batch)) {
            row[class] += 1;
        }
        self.emitted.judged[flow as usize] +=
            u64::from(self.drive_plan.counts_in_window(flow, packet));
    }
}

fn no_outbox(flow: u32, error: std::io::Error) -> Failure {
    let hint = "the namespaces need local routes to flows' addresses, and enough open files";
    Failure::Kernel(format!("flow {flow}: socket for datagrams"), error, hint)
}

fn too_large(flow: u32, bytes: u32) -> Failure {
    let what = format!("flow {flow}: a datagram of {bytes} B");
    Failure::Kernel(what, Errno::MSGSIZE.into(), "write packets no larger than the devices' MTU")
}
