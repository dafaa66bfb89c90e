//! How a flow begins, and how a connection of it begins after another.

use super::Flow;
use crate::cc::foreign::ForeignCc;
use crate::cc::{Cc, Controller};
use crate::config::{Config, Datagram, FlowSpec, Source};
use crate::events::event_key::encode;
use crate::events::event_timer::EventTimer;
use crate::fast::flow_kind::{
    FlowKind, GeneralKind, LinuxKind, NewRenoKind, Ns2Kind, PacedKind, RecordedNewRenoKind,
    RecordedSackKind, SackKind,
};
use crate::flow::access_link::AccessLink;
use crate::flow::ack_path::AckPath;
use crate::flow::app_source::AppSource;
use crate::flow::route_state::RouteState;
use crate::packet::EcnCodepoint;
use crate::paths::Paths;
use crate::rng::stream_seed;
use crate::tcp::offload::Offload;
use crate::tcp::profile::{LINUX, NS2, Profile};
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::Sender;
use crate::time::{NEVER, Picos, serialization};

impl Flow {
    /// An idle flow.
    pub(crate) fn new(index: u32, spec: &FlowSpec, config: &Config, paths: &Paths) -> Self {
        let profile = &config.profiles[spec.class as usize];
        let route = &config.routes[spec.route as usize];
        let cc = controller(spec, stream_seed(config.seed, index.into()), config);
        let (ecn, per_packet_echo) = (sent_codepoint(&cc, profile), cc.needs_ecn());
        let access = AccessLink::new(serialization(spec.packet_bytes, spec.access_bps));
        let (return_delay, last_ack_hop_delay) = ack_delays(spec, config);
        let path = paths.start(spec.route, spec.class);
        let last_forward = paths.hop(path + route.forward.len() as u32 - 1);
        let mut flow = Self {
            app: AppSource::of(spec),
            delack_timer: EventTimer::default(),
            timer: EventTimer::default(),
            route: RouteState::new(path, route, last_ack_hop_delay, last_forward.next_part),
            access,
            ack_path: AckPath::new(return_delay),
            key: encode(index, GeneralKind::ACK_EVENT),
            first_hop: paths.pack(paths.hop(path).at),
            receiver: Receiver::new(spec.rtt, per_packet_echo),
            sender: sender(index, cc, first_segments(spec, config), config),
            packet_bytes: spec.packet_bytes,
            connection: 0,
            ecn,
            tsq_throttled: false,
            offloads: profile.offload != Offload::OFF,
        };
        if flow.is_plain(route.forward[0], config, profile) {
            flow.key =
                encode(index, ack_event_of_plain_flow(profile, &flow.sender, config.flow_records));
        }
        flow.plan_first_datagram(spec, config);
        flow
    }

    /// It sends its segments once, over one queue that keeps its memory to itself, without marks, jitter,
    /// a receiver's timer or a capture.
    fn is_plain(&self, first_link: u32, config: &Config, profile: &Profile) -> bool {
        self.route.has_one_queue()
            && self.app.is_none()
            && config.links[first_link as usize].pool.is_none()
            && self.ecn == EcnCodepoint::NotEct
            && profile.jitter == 0
            && profile.timer_tick == 0
            && !config.capture
    }

    /// An open-loop source starts when its first datagram reaches the first queue.
    fn plan_first_datagram(&mut self, spec: &FlowSpec, config: &Config) {
        if let Source::Datagrams(first, end) = spec.source {
            let datagram = config.datagrams.get(first as usize).filter(|_| first < end);
            let start = datagram.map_or(NEVER, |&datagram| self.datagram_arrival(datagram));
            self.app.iter_mut().for_each(|app| app.start = start);
        }
    }

    /// When a datagram of an open-loop source reaches the first queue.
    pub(crate) fn datagram_arrival(&mut self, datagram: Datagram) -> Picos {
        let time = self.app.as_ref().map_or(0, |app| app.access_time(datagram.bytes));
        self.access.take_wire_for(datagram.at, time)
    }

    /// Ends the connection and begins one for the next file, if there is one.
    pub(crate) fn restart(&mut self, now: Picos, config: &Config) {
        let counts = self.counts();
        let index = self.index();
        let spec = &config.flows[index as usize];
        let Some(app) = &mut self.app else { return };
        app.restart(now, counts);
        let segments = config.files[app.next].segments;
        let seed = stream_seed(stream_seed(config.seed, index.into()), app.next as u64);
        self.connection = self.connection.wrapping_add(1);
        self.sender = sender(index, controller(spec, seed, config), segments, config);
        self.receiver = self.receiver.for_next_connection();
        self.tsq_throttled = false;
        self.timer = EventTimer::default();
        self.delack_timer = EventTimer::default();
        self.access.clear();
        self.route.restart();
    }
}

/// The sender of a connection. One that answers a request has measured the round trip before, by the handshake or
/// the request: what it loses of a first window does not wait for the second of RFC 6298, rule 2.1.
fn sender(index: u32, cc: Cc, segments: u64, config: &Config) -> Sender {
    let spec = &config.flows[index as usize];
    let profile = &config.profiles[spec.class as usize];
    let mut made = Sender::new(cc, segments, profile)
        .with_segments_of(profile.segment_bytes_of(spec.packet_bytes));
    if config.reorders(&config.routes[spec.route as usize]) {
        made = made.over_reordering(profile);
    }
    if config.waits_for_others(index) {
        made.rtt.sample(spec.rtt.max(1), spec.rtt.max(1), (0, 0), profile);
    }
    made
}

fn controller(spec: &FlowSpec, seed: u64, config: &Config) -> Cc {
    let name = spec.congestion_control;
    let foreign = || config.foreign.find(name).map(|it| Cc::Foreign(Box::new(ForeignCc::new(it))));
    let mut cc = Cc::by_name(name).or_else(foreign).expect("checked with the configuration");
    cc.set_seed(seed);
    cc
}

/// What segments carry that are not retransmitted.
fn sent_codepoint(cc: &Cc, profile: &Profile) -> EcnCodepoint {
    match (cc.l4s(), profile.ecn || cc.needs_ecn()) {
        (true, _) => EcnCodepoint::Ect1,
        (false, true) => EcnCodepoint::Ect0,
        (false, false) => EcnCodepoint::NotEct,
    }
}

/// The segments of the first connection; none of an open-loop source.
fn first_segments(spec: &FlowSpec, config: &Config) -> u64 {
    match spec.source {
        Source::Segments(segments) => segments,
        Source::Until(_) => u64::MAX,
        Source::Files(first, _) | Source::FilesUntil(first, ..) => {
            config.files[first as usize].segments
        }
        Source::Datagrams(..) => 0,
    }
}

/// An ACK's delays: from a packet's departure at the last forward queue to where the ACK acts next, and
/// from the ACK's departure at the last backward queue, if there is one, to the sender. The one that ends at
/// the sender includes the way from there to the first queue.
pub(crate) fn ack_delays(spec: &FlowSpec, config: &Config) -> (Picos, Picos) {
    let access_time = serialization(spec.packet_bytes, spec.access_bps);
    let edge = config.edge_delay(spec);
    if config.routes[spec.route as usize].backward.is_empty() {
        (edge + access_time, 0)
    } else {
        (edge / 2, edge - edge / 2 + access_time)
    }
}

/// The kind of a flow that `is_plain`, as the event of its ACKs.
fn ack_event_of_plain_flow(profile: &Profile, sender: &Sender, recorded: bool) -> u32 {
    let (linux, ns2) =
        (profile.equal_but_what_flows_keep(&LINUX), profile.equal_but_what_flows_keep(&NS2));
    if profile.sack && sender.is_ack_clocked() {
        if recorded || sender.cc.is_foreign() {
            RecordedSackKind::ACK_EVENT
        } else if linux {
            LinuxKind::ACK_EVENT
        } else {
            SackKind::ACK_EVENT
        }
    } else if linux && !recorded && sender.controls_cwnd_by_rates() && !sender.cc.is_foreign() {
        PacedKind::ACK_EVENT
    } else if profile.is_newreno_only() && sender.ignores_dupacks() {
        if recorded {
            RecordedNewRenoKind::ACK_EVENT
        } else if ns2 {
            Ns2Kind::ACK_EVENT
        } else {
            NewRenoKind::ACK_EVENT
        }
    } else {
        GeneralKind::ACK_EVENT
    }
}
