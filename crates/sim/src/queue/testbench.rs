//! A wire with a queue in front of it and nothing else, for the tests.

use super::packets::Packets;
use super::parameters::Wire;
use super::registry::{Discipline, QueueSpec};
use super::{Backlog, DequeueDiscipline, EnqueueDecision, EnqueueDiscipline, QueuedPacket};
use crate::packet::{EcnCodepoint, Payload};
use crate::time::{Picos, serialization};
use std::collections::VecDeque;

/// A packet of 1500 bytes takes 1 ms.
pub const WIRE: Wire = Wire {
    rate_bps: 12e6,
    largest_packet: 1500,
    smallest_packet: 40,
    shaped: false,
    framing: None,
};

/// What happened to a packet.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub at: Picos,
    pub packet: QueuedPacket,
    pub marked: bool,
}

/// What happened in a run.
#[derive(Default)]
pub struct Log {
    /// In order of departure; `at` is when the transmission started.
    pub sent: Vec<Event>,
    /// In order of their loss.
    pub dropped: Vec<Event>,
    /// Packets that waited, as each arrival left them.
    pub waiting: Vec<usize>,
}

/// Packets of `bytes`, `gap` apart, from `start` to `end`; each flow is a traffic class of its own.
pub fn train(flow: u32, bytes: u32, start: Picos, end: Picos, gap: Picos) -> Vec<QueuedPacket> {
    (start..end)
        .step_by(gap as usize)
        .map(|arrived| QueuedPacket {
            flow,
            class: flow as u16,
            bytes,
            arrived,
            payload: Payload::NONE,
        })
        .collect()
}

/// The same packet with an ECN field.
pub fn with_ecn(packet: QueuedPacket, ecn: EcnCodepoint) -> QueuedPacket {
    QueuedPacket { payload: packet.payload.with_ecn(ecn, false), ..packet }
}

/// All packets in order of arrival, each with its place as its handle.
pub fn merge(trains: &[Vec<QueuedPacket>]) -> Vec<QueuedPacket> {
    let mut packets: Vec<QueuedPacket> = trains.concat();
    packets.sort_by_key(|packet| packet.arrived);
    for (place, packet) in packets.iter_mut().enumerate() {
        packet.payload = Payload::data(place as u64, 0).with_ecn(packet.payload.ecn(), false);
    }
    packets
}

/// Serves `packets`, sorted by arrival, to the end.
pub fn run(spec: &QueueSpec, wire: &Wire, seed: u64, packets: &[QueuedPacket]) -> Log {
    match spec.build(wire, seed).expect("valid") {
        Discipline::AtEnqueue(queue) => run_arrival(queue, wire, packets),
        Discipline::AtDequeue(queue) => run_departure(queue, wire, packets),
    }
}

fn run_arrival(mut queue: impl EnqueueDiscipline, wire: &Wire, packets: &[QueuedPacket]) -> Log {
    let mut log = Log::default();
    let mut waiting: VecDeque<(Picos, u64)> = VecDeque::new();
    let mut free_at = 0;
    for &packet in packets {
        let now = packet.arrived;
        while waiting.front().is_some_and(|&(start, _)| start <= now) {
            waiting.pop_front();
        }
        let bytes = waiting.iter().map(|&(_, bytes)| bytes).sum();
        let start = now.max(free_at);
        let backlog = Backlog { packets: waiting.len(), bytes, delay: start - now };
        let fate = queue.on_enqueue(now, packet.bytes, packet.is_ecn_capable(), &backlog);
        if fate == EnqueueDecision::Drop {
            log.dropped.push(Event { at: now, packet, marked: false });
        } else {
            let marked = fate == EnqueueDecision::Mark;
            log.sent.push(Event { at: start, packet, marked });
            free_at = start + serialization(packet.bytes, wire.rate_bps);
            if start > now {
                waiting.push_back((start, u64::from(packet.bytes)));
            }
        }
        log.waiting.push(waiting.len());
    }
    log
}

/// A discipline with its packets: these come and go as values.
pub struct Bench<Q> {
    pub queue: Q,
    pub packets: Packets,
}

impl<Q: DequeueDiscipline> Bench<Q> {
    pub fn of(queue: Q) -> Self {
        Self { queue, packets: Packets::EMPTY }
    }

    pub fn enqueue(
        &mut self,
        now: Picos,
        packet: QueuedPacket,
        dropped: &mut impl FnMut(QueuedPacket),
    ) {
        let number = self.packets.insert(packet);
        self.queue.enqueue(now, number, &mut self.packets);
        self.packets.remove_dropped(|&packet| dropped(packet));
    }

    pub fn dequeue(
        &mut self,
        now: Picos,
        dropped: &mut impl FnMut(QueuedPacket),
    ) -> Option<(QueuedPacket, bool)> {
        let sent = self.queue.dequeue(now, &mut self.packets);
        self.packets.remove_dropped(|&packet| dropped(packet));
        sent.map(|(number, marked)| (*self.packets.remove(number), marked))
    }
}

fn run_departure(queue: impl DequeueDiscipline, wire: &Wire, packets: &[QueuedPacket]) -> Log {
    let mut queue = Bench::of(queue);
    let mut log = Log::default();
    let mut free_at = 0;
    for &packet in packets {
        serve(&mut queue, wire, &mut log, &mut free_at, packet.arrived);
        let mut lost =
            |packet: QueuedPacket, at| log.dropped.push(Event { at, packet, marked: false });
        queue.enqueue(packet.arrived, packet, &mut |lost_packet| lost(lost_packet, packet.arrived));
        if free_at <= packet.arrived {
            free_at = packet.arrived;
            serve(&mut queue, wire, &mut log, &mut free_at, packet.arrived + 1);
        }
        log.waiting.push(queue.packets.len());
    }
    serve(&mut queue, wire, &mut log, &mut free_at, Picos::MAX);
    assert_eq!((queue.packets.len(), queue.queue.bytes()), (0, 0));
    log
}

/// Sends while the wire is free before `until`.
fn serve(
    queue: &mut Bench<impl DequeueDiscipline>,
    wire: &Wire,
    log: &mut Log,
    free_at: &mut Picos,
    until: Picos,
) {
    loop {
        let at = (*free_at).max(queue.queue.ready_at().unwrap_or(0));
        if at >= until {
            return;
        }
        let dropped = &mut log.dropped;
        let next = queue.dequeue(at, &mut |packet| {
            dropped.push(Event { at, packet, marked: false });
        });
        let Some((packet, marked)) = next else { break };
        log.sent.push(Event { at, packet, marked });
        *free_at = at + serialization(packet.bytes, wire.rate_bps);
    }
}
