//! A flow: its two endpoints and everything between them that it shares with no other flow.
//!
//! The way from the sender to the first queue is folded into the way back: a sender's clock runs
//! ahead by that delay, so that the event in which it acts on an ACK is the very arrival of its
//! packet at the queue. Packets need an event of their own only where they wait for the flow's
//! access link, and before each further queue on their route.

use crate::cc::Cc;
use crate::config::{Config, Datagram, FlowSpec, Route, Source};
use crate::events::EventKey;
use crate::flow_kind::{
    FlowKind, GeneralKind, LinuxKind, NewRenoKind, Ns2Kind, PacedKind, SackKind,
};
use crate::network::{decode, encode};
use crate::packet::{EcnCodepoint, Payload};
use crate::paths::Paths;
use crate::ring::Ring;
use crate::tcp::profile::{LINUX, NS2, Profile};
use crate::tcp::receiver::{AckPacket, Receiver, SackRun};
use crate::tcp::sender::Sender;
use crate::time::{NEVER, Picos, serialization};
use prefetch_index::prefetch_index;
use std::slice::from_ref;

/// What a flow needs where its route has more than one queue.
#[derive(Default)]
pub struct MultiHopState {
    /// From an ACK's departure at the last backward queue to the sender.
    pub last_ack_hop_delay: Picos,
    /// Of each backward queue, what ACKs that it lost have reported, for the next one to tell of.
    lost_ack_segments: Vec<Vec<SackRun>>,
    /// Forward queues.
    forward: u8,
}

/// A flow that does more than send its segments once.
pub struct AppSource {
    /// What it sends.
    pub source: Source,
    /// Index of the packet or file that is next.
    pub next: usize,
    /// When the first packet of what is under way reaches the first queue.
    start: Picos,
    /// When the next file begins; `NEVER` while one is under way.
    pub restart_at: Picos,
    /// What earlier connections, or a source without any, have counted.
    pub earlier: Counts,
    access_bps: f64,
    cc: &'static str,
}

/// What a flow has counted since the run began.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    /// Data packets let go.
    pub sent: u64,
    /// Data packets received, each once.
    pub received: u64,
    /// The same in bytes on the link.
    pub received_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Times that the sender backed off.
    pub reductions: u64,
}

/// A flow: sender, receiver, and the route and access link between them. What each packet of a plain flow touches lies together, in three lines of
/// the cache: the end of `receiver`, what follows, and the beginning of `sender`.
#[repr(C, align(64))]
pub struct Flow {
    /// Packets on the access link, and when each reaches the queue.
    pub access_queue: Ring<(Picos, Payload)>,
    /// When the receiver is asked for the ACK that it holds back; `NEVER` where that is not due.
    pub delack_event_at: Picos,
    /// When the flow's timer fires; `NEVER` where it is idle.
    pub timer_event_at: Picos,
    /// `None` for a route over one queue.
    pub multi_hop: Option<Box<MultiHopState>>,
    /// `None` for a flow that sends its segments once.
    pub app: Option<Box<AppSource>>,
    /// Size of a data packet.
    pub packet_bytes: u32,
    /// Counts its connections: what is still on its way from an earlier one says nothing.
    pub connection: u8,
    /// What its packets carry that are not sent again: whether queues may mark them instead of dropping them.
    pub ecn: EcnCodepoint,
    /// The sender would send, but for what waits on its access link already.
    pub tsq_throttled: bool,
    /// The receiving side.
    pub receiver: Receiver,
    /// From a packet's departure at the last forward queue to where its ACK acts next: the first
    /// backward queue or the sender, whose next packet thereby arrives at the first queue.
    pub ack_return_delay: Picos,
    access_time: Picos,
    access_free: Picos,
    /// Where its `FlowKind` is simple, when the last ACK on its way reaches the sender, or has.
    pub last_ack_arrival: Picos,
    /// Its place among all flows, and the kind of event in which an ACK reaches its sender: which
    /// `FlowKind` is its own.
    pub key: EventKey,
    /// Its traffic class as the first link's meter numbers it.
    pub first_class: u16,
    /// First link on the route.
    pub first_link: u16,
    /// The sending side.
    pub sender: Sender,
    /// Where its way begins in `Paths`.
    pub path: u32,
    /// Data packets that queues have dropped.
    pub drops: u32,
}

impl Flow {
    /// Calls it into the cache.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_index(from_ref(&self.access_queue), 0);
        prefetch_index(from_ref(&self.ack_return_delay), 0);
        prefetch_index(from_ref(&self.sender.snd_una), 0);
        prefetch_index(from_ref(&self.sender.timer_at), 0);
        prefetch_index(from_ref(&self.sender.scoreboard), 0);
        prefetch_index(from_ref(&self.sender.recover), 0);
        prefetch_index(from_ref(&self.drops), 0);
        prefetch_index(from_ref(&self.receiver), 0);
    }

    /// Calls what a packet touches that reaches a further queue into the cache.
    #[inline]
    pub fn prefetch_hop_state(&self) {
        prefetch_index(from_ref(&self.ack_return_delay), 0);
        prefetch_index(from_ref(&self.path), 0);
    }

    /// Calls what most packets touch nearer.
    #[inline(always)]
    pub fn prefetch_near(&self) {
        prefetch_index(from_ref(&self.ack_return_delay), 0);
        prefetch_index(from_ref(&self.sender.snd_una), 0);
        prefetch_index(from_ref(&self.sender.timer_at), 0);
        if let Some(board) = self.sender.scoreboard.as_deref() {
            board.prefetch_near();
            prefetch_index(from_ref(&self.receiver), 0);
        }
    }

    /// An idle flow.
    pub(crate) fn new(index: u32, spec: &FlowSpec, config: &Config, paths: &Paths) -> Self {
        let profile = &config.profiles[spec.class as usize];
        let cc = Cc::by_name(spec.congestion_control).expect("checked with the configuration");
        let per_packet_echo = cc.needs_ecn();
        let ecn = match (cc.l4s(), profile.ecn || per_packet_echo) {
            (true, _) => EcnCodepoint::Ect1,
            (false, true) => EcnCodepoint::Ect0,
            (false, false) => EcnCodepoint::NotEct,
        };
        let access_time = serialization(spec.packet_bytes, spec.access_bps);
        let route = &config.routes[spec.route as usize];
        let (segments, app) = match spec.source {
            Source::Segments(segments) => (segments, None),
            Source::Datagrams(..) => (0, Some(Box::new(AppSource::new(spec)))),
            Source::Files(first, _) => {
                (config.files[first as usize].segments, Some(Box::new(AppSource::new(spec))))
            }
        };
        let edge = edge_delay(spec, config);
        let (turn, home) =
            if route.backward.is_empty() { (edge, 0) } else { (edge / 2, edge - edge / 2) };
        let path = paths.start(spec.route, spec.class);
        let sender = Sender::new(cc, segments, profile);
        let multi_hop = MultiHopState::of(route, home + access_time);
        let alone = multi_hop.is_none()
            && app.is_none()
            && config.links[route.forward[0] as usize].pool.is_none();
        let plain = alone
            && ecn == EcnCodepoint::NotEct
            && profile.jitter == 0
            && profile.timer_tick == 0
            && !config.capture;
        let ack_event =
            if plain { ack_event_of_plain_flow(profile, &sender) } else { GeneralKind::ACK_EVENT };
        let mut flow = Self {
            key: encode(index, ack_event),
            sender,
            receiver: Receiver::new(spec.rtt, per_packet_echo),
            first_class: paths.hop(path, 0).class,
            path,
            first_link: route.forward[0],
            ecn,
            packet_bytes: spec.packet_bytes,
            ack_return_delay: turn + if route.backward.is_empty() { access_time } else { 0 },
            timer_event_at: NEVER,
            last_ack_arrival: 0,
            delack_event_at: NEVER,
            connection: 0,
            access_time,
            access_free: 0,
            access_queue: Ring::default(),
            tsq_throttled: false,
            multi_hop,
            app,
            drops: 0,
        };
        if let Source::Datagrams(first, end) = spec.source {
            let packet = config.datagrams.get(first as usize).filter(|_| first < end);
            let start = packet.map_or(NEVER, |&packet| flow.datagram_departure(packet));
            flow.app.iter_mut().for_each(|app| app.start = start);
        }
        flow
    }

    /// Its place among all flows.
    #[inline(always)]
    pub fn index(&self) -> u32 {
        decode(self.key).0 as u32
    }

    /// The kind of event in which an ACK reaches its sender.
    #[inline(always)]
    pub fn ack_event(&self) -> u32 {
        decode(self.key).1
    }

    /// A segment as it is sent: with ECT(0) where the flow uses ECN, ECT(1) where it is L4S, but not on what is sent again (RFC
    /// 3168, section 6.1.5) unless the controller asks for marks (Linux, tcp_ecn_send).
    #[inline]
    pub fn segment(&self, seq: u64) -> Payload {
        let payload = Payload::data(seq, self.connection);
        if self.ecn != EcnCodepoint::NotEct {
            let ect = self.sender.cc.needs_ecn() || !self.sender.was_retransmitted(seq);
            let ecn = if ect { self.ecn } else { EcnCodepoint::NotEct };
            payload.with_ecn(ecn, self.sender.carries_cwr(seq))
        } else {
            payload
        }
    }

    /// TCP small queues: two packets or a millisecond at the sender's rate are on the access link
    /// beside the one that it sends.
    #[inline(always)]
    pub fn tsq_limit_reached(&self, now: Picos) -> bool {
        !self.access_is_idle(now) && self.busy_access_reached_tsq_limit()
    }

    /// Apart, so that nobody looks at what waits where the access link is idle.
    #[inline(never)]
    fn busy_access_reached_tsq_limit(&self) -> bool {
        let waiting = self.access_queue.len();
        waiting >= 2 && waiting as f64 >= self.sender.sending_rate() / 1000.0
    }

    /// An ACK is on its way that reaches the sender before `at`: what is due then can be looked
    /// after when that has come.
    #[inline(always)]
    pub fn ack_arrives_before(&self, now: Picos, at: Picos) -> bool {
        now < self.last_ack_arrival && self.last_ack_arrival < at
    }

    /// When a packet of an open-loop source reaches the first queue.
    pub fn datagram_departure(&mut self, packet: Datagram) -> Picos {
        let rate = self.app.as_ref().map_or(f64::INFINITY, |app| app.access_bps);
        self.access_free = self.access_free.max(packet.at) + serialization(packet.bytes, rate);
        self.access_free
    }

    /// Ends the connection and begins one for the next file, if there is one.
    pub fn restart(&mut self, now: Picos, config: &Config) {
        let counts = self.counts();
        let Some(app) = &mut self.app else { return };
        app.earlier = counts;
        app.restart_at = NEVER;
        app.start = now;
        self.connection = self.connection.wrapping_add(1);
        let spec = &config.flows[decode(self.key).0];
        let profile = &config.profiles[spec.class as usize];
        let cc = Cc::by_name(app.cc).expect("checked with the configuration");
        self.sender = Sender::new(cc, config.files[app.next].segments, profile);
        self.receiver = self.receiver.for_next_connection();
        self.tsq_throttled = false;
        self.timer_event_at = NEVER;
        self.delack_event_at = NEVER;
        self.access_queue = Ring::default();
        let route = &config.routes[spec.route as usize];
        self.multi_hop = self
            .multi_hop
            .as_ref()
            .and_then(|old| MultiHopState::of(route, old.last_ack_hop_delay));
    }

    /// It has an end, and has not come to it: something is, or will be, under way.
    pub fn transfers(&self, config: &Config) -> bool {
        let ends = match config.flows[self.index() as usize].source {
            Source::Segments(segments) => segments < u64::MAX,
            Source::Files(..) => true,
            Source::Datagrams(..) => false,
        };
        ends && self.receiver.rcv_nxt < self.sender.app_limit
    }

    /// What it has counted since the run began.
    pub fn counts(&self) -> Counts {
        let earlier = self.app.as_ref().map_or(Counts::default(), |app| app.earlier);
        let received = self.receiver.rcv_nxt;
        Counts {
            sent: earlier.sent + self.sender.snd_max + u64::from(self.sender.retransmissions),
            received: earlier.received + received,
            received_bytes: earlier.received_bytes + received * u64::from(self.packet_bytes),
            timeouts: earlier.timeouts + u64::from(self.sender.timeouts),
            retransmissions: earlier.retransmissions + u64::from(self.sender.retransmissions),
            reductions: earlier.reductions + u64::from(self.sender.reductions),
        }
    }

    /// When the first packet of its connection reaches the first queue.
    pub fn start(&self, config: &Config) -> Picos {
        self.app.as_ref().map_or(config.flows[self.index() as usize].start, |app| app.start)
    }

    /// From a packet's departure at the last forward queue to its receiver: half of the round trip's
    /// propagation outside the links of the route, whose own lies behind it, and the access link,
    /// which is counted here for every packet.
    pub fn last_hop_to_receiver(&self, config: &Config) -> Picos {
        edge_delay(&config.flows[self.index() as usize], config) / 2 + self.access_time
    }

    /// The round trip's propagation outside the link, of a route over one.
    pub(crate) fn edge(&self) -> Picos {
        self.ack_return_delay - self.access_time
    }

    /// A packet's time on the access link.
    pub(crate) fn access_time(&self) -> Picos {
        self.access_time
    }

    /// A packet that the sender lets go now reaches the queue now.
    #[inline]
    pub fn access_is_idle(&self, now: Picos) -> bool {
        self.access_free <= now
    }

    /// When a packet that the sender lets go now reaches the queue.
    #[inline]
    pub fn through_access(&mut self, now: Picos) -> Picos {
        let at = self.access_free.max(now);
        self.access_free = at + self.access_time;
        at
    }
}

/// The kind of a flow that sends its segments once, over one queue that keeps its memory to itself, without
/// marks, jitter or timer, as the event of its ACKs.
fn ack_event_of_plain_flow(profile: &Profile, sender: &Sender) -> u32 {
    let (linux, ns2) =
        (profile.equal_but_initial_window(&LINUX), profile.equal_but_initial_window(&NS2));
    if profile.sack && sender.is_ack_clocked() {
        if linux { LinuxKind::ACK_EVENT } else { SackKind::ACK_EVENT }
    } else if linux {
        PacedKind::ACK_EVENT
    } else if profile.is_newreno_only() && sender.ignores_dupacks() {
        if ns2 { Ns2Kind::ACK_EVENT } else { NewRenoKind::ACK_EVENT }
    } else {
        GeneralKind::ACK_EVENT
    }
}

/// What a round trip's propagation has left of the links on the way: before the first, behind the last.
/// Nothing of an open-loop source's, which nobody answers: it has no round trip.
fn edge_delay(spec: &FlowSpec, config: &Config) -> Picos {
    let route = &config.routes[spec.route as usize];
    let interior = config.interior_delay(&route.forward) + config.interior_delay(&route.backward);
    spec.rtt.saturating_sub(interior)
}

impl AppSource {
    fn new(spec: &FlowSpec) -> Self {
        let next = match spec.source {
            Source::Datagrams(first, _) | Source::Files(first, _) => first,
            Source::Segments(_) => 0,
        };
        Self {
            source: spec.source,
            next: next as usize,
            start: spec.start,
            restart_at: NEVER,
            earlier: Counts::default(),
            access_bps: spec.access_bps,
            cc: spec.congestion_control,
        }
    }
}

impl MultiHopState {
    /// An ACK is lost at queue number `hop` of the route, and with it what it `carried`.
    pub fn on_ack_drop(&mut self, hop: u8, ack: AckPacket, carried: Vec<SackRun>) {
        let lost_ack_segments = self.lost_ack_segments(hop);
        lost_ack_segments.extend(carried);
        lost_ack_segments.push(SackRun { last: ack.sacked_last, count: ack.sacked_count });
    }

    /// What an ACK that passes queue number `hop` of the route takes along.
    pub fn lost_ack_segments(&mut self, hop: u8) -> &mut Vec<SackRun> {
        &mut self.lost_ack_segments[usize::from(hop - self.forward)]
    }

    /// The backward queue to which the receiver's ACKs go, by its number on the route.
    #[inline]
    pub fn first_ack_hop(&self) -> Option<u8> {
        (!self.lost_ack_segments.is_empty()).then_some(self.forward)
    }

    fn of(route: &Route, last_ack_hop_delay: Picos) -> Option<Box<Self>> {
        let (forward, backward) = (route.forward.len(), route.backward.len());
        (forward + backward > 1).then(|| {
            Box::new(Self {
                last_ack_hop_delay,
                lost_ack_segments: vec![Vec::new(); backward],
                forward: forward as u8,
            })
        })
    }
}

#[cfg(test)]
mod tests;
