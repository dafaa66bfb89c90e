//! What a part of the network has for the others.

use crate::events::{EventKey, Wheel};
use crate::flow::lost_acks::LostAcks;
use crate::packet::Payload;
use crate::tcp::ack_packet::{NO_LOST_ACKS, SackRun};
use crate::time::Picos;

/// Events for another part, in the order in which they were scheduled.
#[derive(Default)]
pub(crate) struct Outbox {
    events: Vec<(Picos, EventKey, Payload)>,
    /// Places of ACKs among the events, and what these carry of lost ones.
    lost_acks: Vec<(usize, Vec<SackRun>)>,
}

impl Outbox {
    /// Schedules all of it in the part that it is for, and leaves it empty.
    pub(crate) fn empty_into(&mut self, wheel: &mut Wheel, lost_acks: &mut LostAcks) {
        for (place, mut runs) in self.lost_acks.drain(..) {
            let packet = &mut self.events[place].2;
            let mut ack = packet.as_ack();
            ack.carried_lost_acks = lost_acks.attach(NO_LOST_ACKS, &mut runs);
            *packet = packet.with_ack(ack);
        }
        self.events.drain(..).for_each(|(at, key, payload)| wheel.insert(at, key, payload));
    }
}

/// Which part of the network it is, and what it has for each other one.
pub(crate) struct Part {
    number: u8,
    /// By part; empty where there is only one.
    pub(crate) outboxes: Vec<Outbox>,
}

impl Part {
    /// Number `number` of so many.
    pub(crate) fn of(number: u8, parts: usize) -> Self {
        let outboxes = if parts > 1 { parts } else { 0 };
        Self { number, outboxes: (0..outboxes).map(|_| Outbox::default()).collect() }
    }

    /// Its place among all.
    pub(crate) fn number(&self) -> u8 {
        self.number
    }

    /// Schedules an event in part `to`. An ACK carries nothing of lost ones.
    #[inline(always)]
    pub(crate) fn schedule(
        &mut self,
        wheel: &mut Wheel,
        to: u8,
        (at, key, payload): (Picos, EventKey, Payload),
    ) {
        if to == self.number {
            wheel.insert(at, key, payload);
        } else {
            self.outboxes[to as usize].events.push((at, key, payload));
        }
    }

    /// Has an event for part `to`, another one. Numbers of `lost_acks` mean nothing there.
    #[inline(never)]
    pub(crate) fn send(
        &mut self,
        to: u8,
        (at, key, payload): (Picos, EventKey, Payload),
        lost_acks: &mut LostAcks,
    ) {
        let outbox = &mut self.outboxes[to as usize];
        if payload.is_ack() && payload.as_ack().carried_lost_acks != NO_LOST_ACKS {
            let runs = lost_acks.take(payload.as_ack().carried_lost_acks);
            outbox.lost_acks.push((outbox.events.len(), runs));
        }
        outbox.events.push((at, key, payload));
    }
}
