//! The packets of a run, as a capture behind the queue of its one link would have them.
//!
//! The capture lies between senders and receivers, a quarter of the propagation outside the link
//! from either. A packet of data has the time at which its last bit leaves the wire, an ACK that at
//! which it comes by on its return. Timestamps are those of RFC 7323 with clocks of a millisecond.
//! No handshake is simulated: a connection's takes the round trip of its first segment, queueing
//! included, and no capacity.

use crate::config::Config;
use crate::flow::Flow;
use crate::packet::{EcnCodepoint, Payload};
use crate::time::{MILLISECOND, Picos, SECOND};
use std::collections::VecDeque;
use std::ops::Range;

/// Hosts' clocks read so much more than ours, so that none is negative before the first packet.
const CLOCKS_AHEAD: i64 = 1000 * SECOND as i64;

/// What a captured packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturedKind {
    /// The sender's SYN.
    Syn,
    /// The receiver's.
    SynAck,
    /// The ACK that ends the handshake.
    HandshakeAck,
    /// A segment by its number.
    Data,
    /// The last segment of a connection.
    LastData,
    /// An acknowledgement: the number that the receiver expects.
    Ack,
    /// A packet of an open-loop source.
    Datagram,
}

impl CapturedKind {
    /// Whether it goes from sender to receiver.
    pub fn is_forward(self) -> bool {
        !matches!(self, Self::SynAck | Self::Ack)
    }
}

/// What the headers of a packet say of congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Congestion {
    /// The ECN field of its IP header.
    pub ecn: EcnCodepoint,
    /// TCP's flag that echoes a mark.
    pub ece: bool,
    /// TCP's flag that the window was reduced.
    pub cwr: bool,
}

impl Congestion {
    /// That of a segment or an acknowledgement.
    pub(crate) fn of(payload: Payload) -> Self {
        if payload.is_ack() {
            Self { ece: payload.as_ack().marked, ..Self::default() }
        } else {
            Self { ecn: payload.ecn(), ece: false, cwr: payload.carries_cwr() }
        }
    }
}

/// A packet that came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// When, from the start of the run.
    pub at: Picos,
    /// Number of a segment, or of the one that is acknowledged.
    pub number: u64,
    /// Its flow.
    pub flow: u32,
    /// TSval, milliseconds.
    pub stamp: u32,
    /// TSecr.
    pub echo: u32,
    /// Size on the link.
    pub bytes: u32,
    /// Where it came by: of a run with one link 0 is that link, 1 the way back.
    pub interface: u32,
    /// Counts the flow's connections.
    pub connection: u16,
    /// What it is.
    pub kind: CapturedKind,
    /// Its marks.
    pub congestion: Congestion,
}

impl CapturedPacket {
    /// One of a run with one link, at no time yet.
    fn of(kind: CapturedKind, flow: &Flow, connection: u16) -> Self {
        Self {
            at: 0,
            number: 0,
            flow: flow.index(),
            stamp: 0,
            echo: 0,
            bytes: 0,
            interface: u32::from(!kind.is_forward()),
            connection,
            kind,
            congestion: Congestion::default(),
        }
    }
}

/// A segment that its sender has sent, and what its header says.
struct Sent {
    seq: u64,
    connection: u8,
    stamp: u32,
    echo: Option<u32>,
    at: i64,
}

/// A segment between the capture and the receiver, or there.
struct Arriving {
    at: i64,
    seq: u64,
    stamp: u32,
}

/// What both hosts of a flow know that the simulator does not need.
#[derive(Default)]
struct Hosts {
    connection: u8,
    connections: u16,
    begun: bool,
    sent: VecDeque<Sent>,
    arriving: VecDeque<Arriving>,
    /// TSval that the sender saw last.
    ts_recent_of_sender: Option<u32>,
    /// TS.Recent and Last.ACK.sent (RFC 7323, section 4.3).
    recent: u32,
    last_ack: u64,
    /// TSval of the SYN-ACK.
    answered: u32,
}

/// The capture as it grows.
pub(crate) struct Recorder {
    window: Range<i64>,
    hosts: Vec<Hosts>,
    packets: Vec<CapturedPacket>,
}

impl Recorder {
    pub(crate) fn of(config: &Config) -> Self {
        let window = config.warmup as i64..(config.warmup + config.window) as i64;
        let hosts = config.flows.iter().map(|_| Hosts::default()).collect();
        Self { window, hosts, packets: Vec::new() }
    }

    /// A sender sends a segment.
    pub(crate) fn sent(&mut self, now: Picos, flow: &Flow, seq: u64) {
        let at = now as i64 - legs(flow).1;
        let hosts = &mut self.hosts[flow.index() as usize];
        if hosts.connection != flow.connection {
            let sent = std::mem::take(&mut hosts.sent);
            let connections = hosts.connections.wrapping_add(1);
            *hosts = Hosts { connection: flow.connection, connections, sent, ..Hosts::default() };
        }
        let (stamp, echo) = (clock(at), hosts.ts_recent_of_sender);
        hosts.sent.push_back(Sent { seq, connection: flow.connection, stamp, echo, at });
    }

    /// A packet of data leaves the link at `at` and reaches its receiver `later` than it would.
    pub(crate) fn passed(
        &mut self,
        at: Picos,
        later: Picos,
        flow: &Flow,
        payload: Payload,
        bytes: u32,
    ) {
        let (at, seq) = (at as i64, payload.seq());
        let congestion = Congestion::of(payload);
        let hosts = &mut self.hosts[flow.index() as usize];
        // Those of a flow stay in order: what was sent before and has not passed is lost.
        let of_it = |sent: &Sent| sent.seq == seq && sent.connection == payload.connection();
        // Of a segment that was sent again the latest: the copy before it is lost, or passed before.
        let place = hosts.sent.iter().rposition(of_it);
        let sent = place.and_then(|place| hosts.sent.drain(..=place).next_back());
        let (stamp, echo, left) = match sent {
            Some(Sent { stamp, echo, at, .. }) => (stamp, echo, at),
            // A copy whose later copy was taken for it: both waited in a queue that drops what it has.
            None if hosts.begun || hosts.connections > 0 => {
                let left = at - legs(flow).1;
                (clock(left), hosts.ts_recent_of_sender, left)
            }
            None => {
                let datagram = CapturedPacket::of(CapturedKind::Datagram, flow, 0);
                return self
                    .keep(at, CapturedPacket { number: seq, bytes, congestion, ..datagram });
            }
        };
        let behind = hosts.connection.wrapping_sub(payload.connection());
        let connection = hosts.connections.wrapping_sub(u16::from(behind));
        if behind == 0 && !hosts.begun {
            self.handshake(at, at - left - legs(flow).1, flow);
        }
        let hosts = &mut self.hosts[flow.index() as usize];
        if behind == 0 {
            let there = at + legs(flow).2 + later as i64;
            let place = hosts.arriving.partition_point(|before| before.at <= there);
            hosts.arriving.insert(place, Arriving { at: there, seq, stamp });
        }
        let last = behind == 0 && seq + 1 == flow.sender.app_limit;
        let kind = if last { CapturedKind::LastData } else { CapturedKind::Data };
        let echo = echo.unwrap_or(hosts.answered);
        let packet = CapturedPacket::of(kind, flow, connection);
        self.keep(at, CapturedPacket { number: seq, stamp, echo, bytes, congestion, ..packet });
    }

    /// The handshake before a connection's first segment passes, which has `waited` in the queue.
    fn handshake(&mut self, at: i64, waited: i64, flow: &Flow) {
        let (back, before, behind) = legs(flow);
        let syn_passes = at - waited - before - back - 2 * behind;
        let (syn, syn_ack) = (clock(syn_passes - waited - before), clock(syn_passes + behind));
        let hosts = &mut self.hosts[flow.index() as usize];
        (hosts.begun, hosts.answered, hosts.recent) = (true, syn_ack, syn);
        let connection = hosts.connections;
        let ends = clock(syn_passes + 2 * behind + back);
        let answered = syn_passes + 2 * behind;
        // RFC 3168, section 6.1.1: how ECN is agreed.
        let ece = flow.ecn != EcnCodepoint::NotEct;
        let asks = Congestion { ece, cwr: ece, ..Congestion::default() };
        let agrees = Congestion { ece, ..Congestion::default() };
        for (at, kind, (stamp, echo), congestion) in [
            (syn_passes, CapturedKind::Syn, (syn, 0), asks),
            (answered, CapturedKind::SynAck, (syn_ack, syn), agrees),
            (at, CapturedKind::HandshakeAck, (ends, syn_ack), Congestion::default()),
        ] {
            let packet = CapturedPacket::of(kind, flow, connection);
            self.keep(at, CapturedPacket { stamp, echo, congestion, ..packet });
        }
    }

    /// An ACK reaches its sender, whose next packet would reach the queue `now`.
    pub(crate) fn acked(&mut self, now: Picos, flow: &Flow, payload: Payload) {
        let (back, _, behind) = legs(flow);
        let passed = now as i64 - flow.access.packet_time as i64 - 2 * back;
        let left = passed - behind;
        let next = u64::from(payload.as_ack().next);
        let hosts = &mut self.hosts[flow.index() as usize];
        if payload.connection() != hosts.connection {
            return;
        }
        let there = hosts.arriving.partition_point(|segment| segment.at <= left);
        for segment in hosts.arriving.drain(..there) {
            if segment.seq <= hosts.last_ack {
                hosts.recent = segment.stamp;
            }
        }
        hosts.last_ack = next;
        let (stamp, echo, connection) = (clock(left), hosts.recent, hosts.connections);
        hosts.ts_recent_of_sender = Some(stamp);
        let packet = CapturedPacket::of(CapturedKind::Ack, flow, connection);
        let congestion = Congestion::of(payload);
        self.keep(passed, CapturedPacket { number: next, stamp, echo, congestion, ..packet });
    }

    fn keep(&mut self, at: i64, packet: CapturedPacket) {
        if self.window.contains(&at) {
            self.packets.push(CapturedPacket { at: at as Picos, ..packet });
        }
    }

    /// All packets in the order of their times.
    pub(crate) fn finish(mut self) -> Vec<CapturedPacket> {
        self.packets.sort_by_key(|packet| packet.at);
        self.packets
    }
}

/// From the capture back to the sender, from the sender to the queue, and from the capture to the
/// receiver or back.
fn legs(flow: &Flow) -> (i64, i64, i64) {
    let quarter = flow.edge() / 4;
    let behind = (flow.edge() - 2 * quarter) / 2;
    (quarter as i64, (flow.access.packet_time + quarter) as i64, behind as i64)
}

/// Milliseconds of a host's clock.
fn clock(at: i64) -> u32 {
    ((at + CLOCKS_AHEAD) / MILLISECOND as i64) as u32
}
