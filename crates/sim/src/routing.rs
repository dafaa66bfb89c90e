//! How packets of a route over several queues move from one to the next, ACKs too.

use crate::flow::Flow;
use crate::link::{Verdict, memory_admits};
use crate::network::{Network, STAGES, Transit};
use crate::parcel::{Load, Parcel};
use crate::time::Picos;
use crate::way::{Any, Way, as_kind};

impl Network<'_> {
    /// A packet reaches a queue whose memory other queues may share.
    pub(crate) fn offer_shared(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        link: usize,
        parcel: Parcel,
    ) {
        if !memory_admits(&mut self.links, &self.config.pools, link, now, parcel.bytes) {
            self.links[link].refuse(now, parcel.class);
            return flow.lose(parcel);
        }
        match self.links[link].offer(now, parcel.arriving(), || parcel, &mut self.lost) {
            Verdict::Departs(at, marked) => self.passed(flow, parcel, at, marked),
            Verdict::Dropped => flow.lose(parcel),
            Verdict::Waits => self.await_service(now, link),
        }
    }

    /// A packet leaves a queue's wire at `at`, marked there or not.
    #[inline]
    pub(crate) fn passed(&mut self, flow: &mut Flow, parcel: Parcel, at: Picos, marked: bool) {
        let (load, stage) = (parcel.load, parcel.stage as usize);
        if load.is_ack() {
            return self.pass_back(flow, stage, at, load);
        }
        let packet = Transit { at, seq: load.seq(), marked: marked || load.marked() };
        self.pass_on(flow, stage, packet, load.connection());
    }

    /// A packet reaches queue number `stage` of its route: forward queues first, from 0.
    pub(crate) fn on_stage(&mut self, now: Picos, flow: &mut Flow, stage: usize, load: Load) {
        let route = &self.config.routes[flow.route as usize];
        let link = match stage.checked_sub(route.forward.len()) {
            None => route.forward[stage],
            Some(back) => route.backward[back],
        };
        let bytes = if load.is_ack() {
            self.profile::<Any>(flow).ack_bytes
        } else {
            self.data_bytes(flow, load.seq())
        };
        let parcel = flow.parcel(stage, bytes, load);
        self.offer_shared(now, flow, link as usize, parcel);
    }

    /// A data packet of a connection has left forward queue `stage` at `packet.at`.
    pub(crate) fn pass_on(
        &mut self,
        flow: &mut Flow,
        stage: usize,
        packet: Transit,
        connection: u8,
    ) {
        let forward = &self.config.routes[flow.route as usize].forward;
        if stage + 1 == forward.len() {
            if connection == flow.connection {
                as_kind!(flow.home(), W => self.receive_late::<W>(flow, packet));
            }
            return;
        }
        let Transit { at, seq, marked } = packet;
        let at = at + self.links[forward[stage] as usize].delay;
        self.schedule(flow, stage_kind(stage + 1), at, Load::data(seq, marked, connection));
    }

    /// `receive` where no sender's event is at hand, which would ask for an ACK that is held back.
    #[inline(never)]
    fn receive_late<W: Way>(&mut self, flow: &mut Flow, packet: Transit) {
        self.receive::<W>(flow, packet, self.profile::<W>(flow));
        if W::SACK {
            self.ask_without_ack(packet.at, flow);
        }
    }

    /// An ACK leaves the queue number `stage` of its route at `departs`.
    fn pass_back(&mut self, flow: &mut Flow, stage: usize, departs: Picos, load: Load) {
        let route = &self.config.routes[flow.route as usize];
        let back = stage - route.forward.len();
        let home = back + 1 == route.backward.len();
        let delay = self.links[route.backward[back] as usize].delay;
        let Some(detour) = &mut flow.detour else { return };
        let at = departs + if home { detour.home_delay } else { delay };
        let kind = if home { Any::HOME } else { stage_kind(stage + 1) };
        let mut ack = load.acknowledges();
        if load.connection() == flow.connection {
            ack = detour.carry_ack(back, ack);
        }
        self.schedule(flow, kind, at, Load::ack(ack, load.connection()));
    }
}

/// The kind of a packet's arrival at queue number `stage`, not the first, of its route.
fn stage_kind(stage: usize) -> u32 {
    STAGES + stage as u32 - 1
}

/// The backward queue to which a receiver's ACKs go, by its number on the route.
#[inline]
pub(crate) fn turning_stage(flow: &Flow) -> Option<usize> {
    flow.detour.as_ref().and_then(|detour| detour.turning_stage())
}

/// The kind of event in which a receiver's ACK acts: at the first backward queue, or the sender.
#[inline]
pub(crate) fn turning_kind(flow: &Flow) -> u32 {
    match turning_stage(flow) {
        Some(stage) => stage_kind(stage),
        None => flow.home(),
    }
}

#[cold]
pub(crate) fn tell_of_lost_acks(flow: &mut Flow, count: u16) {
    let Some(detour) = &mut flow.detour else { return };
    detour.unreported.drain(..count as usize).for_each(|seq| flow.sender.on_sacked(seq));
}
