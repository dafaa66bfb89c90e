//! A record of every flow and of every file that a user fetched, if asked for.

use crate::config::{Config, FlowSpec, Source};
use crate::flow::Flow;
use crate::flow::counts::Counts;
use crate::time::{NEVER, Picos, serialization};
use std::mem::take;

/// A flow that began before the measured window ended, or one of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// Its place in `Config::flows`.
    pub flow: u32,
    /// Which of the flow's files; 0 for a flow that is one transfer, or none.
    pub transfer: u32,
    /// When its first packet reaches the first queue.
    pub start: Picos,
    /// Segments that it has to send; `None` for a flow without an end.
    pub segments: Option<u64>,
    /// When its first packet reached the receiver, and the one that made it complete; `NEVER` where
    /// that was not before the window's end.
    pub first_byte: Picos,
    /// See `first_byte`.
    pub last_byte: Picos,
    /// Bytes that the receiver counted in order in the window.
    pub window_bytes: u64,
    /// Data packets sent, from its start on.
    pub sent: u64,
    /// Data packets that queues dropped.
    pub lost: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets that reached the receiver with a mark.
    pub marks: u64,
    /// The least round trip that the sender measured; `NEVER` without any.
    pub min_rtt: Picos,
    /// The sum of those that it measured.
    pub rtt_sum: u128,
    /// Their number.
    pub rtt_samples: u64,
    /// How long the transfer takes on an empty path whose slowest link never waits for it; 0 without an end.
    pub ideal: Picos,
    /// What its flow's receiver had counted when the connection began and ended.
    received: (u64, u64),
}

/// What is seen of the present connection of a flow. What a packet changes is in one line of the cache.
#[derive(Clone)]
#[repr(C, align(64))]
struct Seen {
    rtt_sum: u128,
    rtt_samples: u64,
    min_rtt: Picos,
    first_byte: Picos,
    marks: u64,
    last_byte: Picos,
    transfer: u32,
    /// What the flow had counted, and lost, before.
    before: (Counts, u64),
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            transfer: 0,
            first_byte: NEVER,
            last_byte: NEVER,
            marks: 0,
            min_rtt: NEVER,
            rtt_sum: 0,
            rtt_samples: 0,
            before: (Counts::default(), 0),
        }
    }
}

impl Seen {
    /// Adds what another part of the network has seen of the same connection.
    fn add(&mut self, other: &Self) {
        self.first_byte = self.first_byte.min(other.first_byte);
        self.last_byte = self.last_byte.min(other.last_byte);
        self.marks += other.marks;
        self.min_rtt = self.min_rtt.min(other.min_rtt);
        self.rtt_sum += other.rtt_sum;
        self.rtt_samples += other.rtt_samples;
    }
}

impl FlowRecord {
    /// Leaves of it what belongs to the window: receivers count a packet before it has come.
    fn keep_window(&mut self, config: &Config, (begun, ended): (&[u64], &[u64])) {
        let (flow, end) = (self.flow as usize, config.warmup + config.window);
        let (from, to) = self.received;
        self.window_bytes = to.min(ended[flow]).saturating_sub(from.max(begun[flow]));
        for at in [&mut self.first_byte, &mut self.last_byte] {
            *at = if *at < end { *at } else { NEVER };
        }
    }
}

/// Collects the records.
pub(crate) struct FlowRecorder {
    /// By flow; `None` before anything is seen, and once a flow is freed.
    seen: Vec<Option<Box<Seen>>>,
    ended: Vec<FlowRecord>,
}

impl FlowRecorder {
    /// Of a configuration, before its run.
    pub(crate) fn of(config: &Config) -> Self {
        Self { seen: config.flows.iter().map(|_| None).collect(), ended: Vec::new() }
    }

    #[inline]
    fn seen_of(&mut self, flow: &Flow) -> &mut Seen {
        self.seen[flow.index() as usize].get_or_insert_default()
    }

    /// A data packet has left the last queue, and what delays it behind that, at `released`; `way` is how long it takes
    /// from there to the receiver.
    #[inline]
    pub(crate) fn arrived(
        &mut self,
        flow: &Flow,
        released: Picos,
        marked: bool,
        way: impl FnOnce() -> Picos,
    ) {
        let seen = self.seen_of(flow);
        if released < seen.first_byte {
            seen.first_byte = seen.first_byte.min(released + way());
        }
        seen.marks += u64::from(marked);
    }

    /// The sender has measured a round trip.
    #[inline]
    pub(crate) fn measured(&mut self, flow: &Flow, rtt: Picos) {
        let seen = self.seen_of(flow);
        seen.min_rtt = seen.min_rtt.min(rtt);
        seen.rtt_sum += u128::from(rtt);
        seen.rtt_samples += 1;
    }

    /// The packet that completes the transfer reaches the receiver at `at`.
    pub(crate) fn completed(&mut self, flow: &Flow, at: Picos) {
        self.seen_of(flow).last_byte = at;
    }

    /// The connection of a flow ends, and the next one begins.
    pub(crate) fn restarts(&mut self, flow: &Flow, config: &Config) {
        self.ended.extend(self.connection(flow, config));
        let seen = self.seen_of(flow);
        *seen = Seen {
            transfer: seen.transfer + 1,
            before: (flow.counts(), flow.route.drops.into()),
            ..Seen::default()
        };
    }

    /// A flow is freed.
    pub(crate) fn ends(&mut self, flow: &Flow, config: &Config) {
        self.ended.extend(self.connection(flow, config));
        self.seen[flow.index() as usize] = None;
    }

    /// Takes what another part of the network has seen.
    pub(crate) fn add(&mut self, other: &mut Self) {
        for (one, more) in self.seen.iter_mut().zip(&mut other.seen) {
            if let Some(more) = take(more) {
                one.get_or_insert_default().add(&more);
            }
        }
        self.ended.append(&mut other.ended);
    }

    /// All records, flow by flow, each in its order. `received` has what each flow's receiver had counted
    /// when the window began, and when it ended.
    pub(crate) fn finish<'a>(
        mut self,
        config: &Config,
        flows: impl Iterator<Item = &'a Flow>,
        received: (&[u64], &[u64]),
    ) -> Vec<FlowRecord> {
        let mut records = take(&mut self.ended);
        records.extend(flows.filter_map(|flow| self.connection(flow, config)));
        records.sort_unstable_by_key(|each| (each.flow, each.transfer));
        records.iter_mut().for_each(|each| each.keep_window(config, received));
        records
    }

    /// What is known of a flow's present connection; `None` if it has not begun before the window's end.
    fn connection(&self, flow: &Flow, config: &Config) -> Option<FlowRecord> {
        let none = Seen::default();
        let seen = self.seen[flow.index() as usize].as_deref().unwrap_or(&none);
        let start = flow.start(config);
        if start >= config.warmup + config.window {
            return None;
        }
        let spec = &config.flows[flow.index() as usize];
        let segments = segments(flow, spec);
        let (counts, (earlier, drops)) = (flow.counts(), &seen.before);
        Some(FlowRecord {
            flow: flow.index(),
            transfer: seen.transfer,
            start,
            segments,
            first_byte: seen.first_byte,
            last_byte: seen.last_byte,
            window_bytes: 0,
            sent: counts.sent - earlier.sent,
            lost: u64::from(flow.route.drops) - drops,
            retransmissions: counts.retransmissions - earlier.retransmissions,
            timeouts: counts.timeouts - earlier.timeouts,
            marks: seen.marks,
            min_rtt: seen.min_rtt,
            rtt_sum: seen.rtt_sum,
            rtt_samples: seen.rtt_samples,
            ideal: segments.map_or(0, |segments| ideal(config, spec, segments)),
            received: (earlier.received_bytes, counts.received_bytes),
        })
    }
}

/// Segments that the present connection has to send; `None` where it has no end.
fn segments(flow: &Flow, spec: &FlowSpec) -> Option<u64> {
    match spec.source {
        Source::Datagrams(..) => None,
        _ => Some(flow.sender.app_limit).filter(|&segments| segments < u64::MAX),
    }
}

/// How long `segments` segments take on the empty path: the first one's way, and the others behind it at
/// the rate of the slowest link.
fn ideal(config: &Config, spec: &FlowSpec, segments: u64) -> Picos {
    let forward = &config.routes[spec.route as usize].forward;
    let access = serialization(spec.packet_bytes, spec.access_bps);
    let links = forward.iter().map(|&link| &config.links[link as usize]);
    let times = links.map(|link| serialization(link.on_line(spec.packet_bytes), link.served_bps()));
    let (sum, slowest) =
        times.fold((access, access), |(sum, most), time| (sum + time, most.max(time)));
    let propagation = config.edge_delay(spec) / 2 + config.interior_delay(forward);
    propagation + sum + segments.saturating_sub(1) * slowest
}
