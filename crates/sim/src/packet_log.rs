//! What becomes of each packet at each link: enqueued, dequeued, dropped, marked.
//!
//! A packet is dequeued when its last bit has left the wire, and whatever delays it behind that is over. One that the
//! link loses (`LinkSpec::loss`) is dropped when it arrives, before the queue or behind it.

use crate::capture::{CapturedKind, CapturedPacket, Congestion};
use crate::config::{Config, FlowSpec, Source};
use crate::link::Verdict;
use crate::packet::{Packet, Payload};
use crate::time::Picos;
use std::ops::Range;

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketEventKind {
    /// The queue takes it.
    Enqueue,
    /// The queue sets CE.
    Mark,
    /// Its last bit has left the wire.
    Dequeue,
    /// It is dropped.
    Drop,
}

/// Their names, in the order of the kinds.
pub const EVENT_NAMES: [&str; 4] = ["enqueue", "mark", "dequeue", "drop"];

/// Something that happens to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketEvent {
    /// When, from the start of the run.
    pub at: Picos,
    /// Number of a segment or datagram of its connection, from 0; of an ACK the segment that is expected next.
    pub number: u64,
    /// Its flow.
    pub flow: u32,
    /// Which of the flow's connections, from 0.
    pub connection: u32,
    /// The link.
    pub link: u32,
    /// Size on the link.
    pub bytes: u32,
    /// What happens.
    pub kind: PacketEventKind,
    /// It is an acknowledgement.
    pub is_ack: bool,
    /// Its marks, when it leaves with the CE that this link sets.
    pub congestion: Congestion,
}

/// The log as it grows.
pub(crate) struct PacketLog {
    /// The first so many links are logged.
    links: u32,
    window: Range<Picos>,
    /// By flow, its connections before the present one.
    restarts: Vec<u32>,
    /// By flow, the place of its first datagram in the list of all; 0 for a flow without any.
    first_datagram: Vec<u64>,
    events: Vec<PacketEvent>,
}

impl PacketLog {
    /// Of a configuration, before its run; `None` where none is asked for.
    pub(crate) fn of(config: &Config) -> Option<Box<Self>> {
        let log = || Self {
            links: config.logged_links,
            window: config.warmup..config.warmup + config.window,
            restarts: vec![0; config.flows.len()],
            first_datagram: config.flows.iter().map(first_datagram).collect(),
            events: Vec::new(),
        };
        (config.logged_links > 0).then(|| Box::new(log()))
    }

    /// A packet has arrived at a link, which dropped `others` because of it.
    pub(crate) fn arrived(
        &mut self,
        now: Picos,
        link: u32,
        packet: &Packet,
        verdict: Verdict,
        others: &[Packet],
    ) {
        let mut keep = |at, kind| self.keep(at, link, packet, kind);
        match verdict {
            Verdict::Dropped => keep(now, PacketEventKind::Drop),
            Verdict::Queued => keep(now, PacketEventKind::Enqueue),
            Verdict::Departs(at) => {
                keep(now, PacketEventKind::Enqueue);
                keep(at, PacketEventKind::Dequeue);
            }
            Verdict::DepartsMarked(at) => {
                keep(now, PacketEventKind::Enqueue);
                keep(now, PacketEventKind::Mark);
                self.keep(at, link, &packet.with_ce(true), PacketEventKind::Dequeue);
            }
        }
        self.dropped(now, link, others);
    }

    /// A link has taken a packet off its queue, which leaves the wire at `departs`, and has dropped `others`.
    pub(crate) fn dequeued(
        &mut self,
        now: Picos,
        link: u32,
        sent: Option<(Packet, Picos, bool)>,
        others: &[Packet],
    ) {
        self.dropped(now, link, others);
        let Some((packet, departs, marked)) = sent else { return };
        if marked {
            self.keep(now, link, &packet, PacketEventKind::Mark);
        }
        self.keep(departs, link, &packet.with_ce(marked), PacketEventKind::Dequeue);
    }

    fn dropped(&mut self, now: Picos, link: u32, packets: &[Packet]) {
        packets.iter().for_each(|packet| self.keep(now, link, packet, PacketEventKind::Drop));
    }

    fn keep(&mut self, at: Picos, link: u32, packet: &Packet, kind: PacketEventKind) {
        if link >= self.links || !self.window.contains(&at) {
            return;
        }
        let &Packet { flow, bytes, payload, .. } = packet;
        let is_ack = payload.is_ack();
        let number = number_of(payload) - self.first_datagram[flow as usize];
        let connection = self.connection_of(flow, payload);
        let congestion = Congestion::of(payload);
        self.events.push(PacketEvent {
            at,
            number,
            flow,
            connection,
            link,
            bytes,
            kind,
            is_ack,
            congestion,
        });
    }

    /// A packet names its connection by a byte, and may be of an earlier one.
    fn connection_of(&self, flow: u32, payload: Payload) -> u32 {
        let present = self.restarts[flow as usize];
        present.saturating_sub((present as u8).wrapping_sub(payload.connection()).into())
    }

    /// The connection of a flow ends, and the next one begins.
    pub(crate) fn restarts(&mut self, flow: u32) {
        self.restarts[flow as usize] += 1;
    }

    /// Takes what another part of the network has logged.
    pub(crate) fn add(&mut self, other: &mut Self) {
        self.events.append(&mut other.events);
    }

    /// All events by time; at one instant by link, and there as they happened.
    pub(crate) fn finish(mut self) -> Vec<PacketEvent> {
        self.events.sort_by_key(|event| (event.at, event.link));
        self.events
    }
}

fn first_datagram(flow: &FlowSpec) -> u64 {
    match flow.source {
        Source::Datagrams(..) => flow.source.first() as u64,
        _ => 0,
    }
}

fn number_of(payload: Payload) -> u64 {
    if payload.is_ack() { payload.as_ack().next.into() } else { payload.seq() }
}

/// The packets that leave the links, as captures of each would have them; without timestamps. `open_loop` says by
/// flow whether its packets are datagrams.
pub fn captured(events: &[PacketEvent], open_loop: &[bool]) -> Vec<CapturedPacket> {
    let left = events.iter().filter(|event| event.kind == PacketEventKind::Dequeue);
    left.map(|event| as_captured(event, open_loop[event.flow as usize])).collect()
}

fn as_captured(event: &PacketEvent, open_loop: bool) -> CapturedPacket {
    let kind = match (event.is_ack, open_loop) {
        (true, _) => CapturedKind::Ack,
        (false, true) => CapturedKind::Datagram,
        (false, false) => CapturedKind::Data,
    };
    CapturedPacket {
        at: event.at,
        number: event.number,
        flow: event.flow,
        stamp: 0,
        echo: 0,
        bytes: event.bytes,
        interface: event.link,
        connection: event.connection as u16,
        kind,
        congestion: event.congestion,
    }
}
