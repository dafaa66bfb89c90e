//! What reaches a flow's receiver, and what it answers.

use crate::flow::Flow;
use crate::flow_kind::FlowKind;
use crate::forwarding::{ack_event_for, first_ack_hop};
use crate::network::{DELACK, DataDeparture, Network, encode};
use crate::packet::{EcnCodepoint, Payload};
use crate::tcp::profile::Profile;
use crate::tcp::receiver::{AckPacket, EcnFlags};
use crate::time::{NEVER, Picos};

impl Network<'_> {
    /// A packet has left the last forward queue at `packet.at`: its receiver answers.
    #[inline(always)]
    pub(crate) fn receive<K: FlowKind>(
        &mut self,
        flow: &mut Flow,
        packet: DataDeparture,
        profile: &Profile,
    ) {
        if packet.at > self.early_deliveries.next_batch_end {
            self.receive_early::<K>(flow, packet);
        } else {
            self.receive_here::<K>(flow, packet, profile);
        }
    }

    /// The same for a packet that leaves after the next cut, which is not to count it.
    #[cold]
    #[inline(never)]
    fn receive_early<K: FlowKind>(&mut self, flow: &mut Flow, packet: DataDeparture) {
        let before = flow.counts();
        self.receive_here::<K>(flow, packet, self.profile::<K>(flow));
        self.early_deliveries.record(packet.at, flow, &before);
    }

    #[inline(always)]
    fn receive_here<K: FlowKind>(
        &mut self,
        flow: &mut Flow,
        packet: DataDeparture,
        profile: &Profile,
    ) {
        self.passed[flow.index() as usize] += 1;
        let departed = packet.at;
        let packet = if K::FAST_PATH { packet } else { self.held_up(flow, packet, profile) };
        if !K::FAST_PATH && self.recorder.is_some() {
            self.capture(departed, packet.at - departed, flow, packet.payload);
        }
        if !K::FAST_PATH && flow.app.is_some() && self.receive_datagram(flow, packet.payload.seq())
        {
            return;
        }
        let before = flow.receiver.rcv_nxt;
        let answered = packet.at + flow.ack_return_delay;
        if K::NEWRENO_ONLY {
            let ack = flow.receiver.ack_every_segment(packet.payload.seq(), false);
            self.wheel.insert(answered, flow.key, Payload::ack(ack, 0));
            flow.last_ack_arrival = answered;
        } else {
            self.answer::<K>(flow, packet, answered, profile);
        }
        let end = flow.sender.app_limit;
        if flow.receiver.rcv_nxt >= end && before < end {
            self.finish(flow, packet);
        }
    }

    /// A packet of data leaves the last forward queue, and is held up behind it.
    #[cold]
    pub(crate) fn capture(&mut self, at: Picos, later: Picos, flow: &Flow, payload: Payload) {
        let bytes = self.data_bytes(flow, payload.seq());
        if let Some(recorder) = &mut self.recorder {
            recorder.passed(at, later, flow, payload, bytes);
        }
    }

    /// What holds a packet up on its way to the receiver, where anything does.
    fn held_up(&mut self, flow: &Flow, packet: DataDeparture, profile: &Profile) -> DataDeparture {
        let mut at = packet.at;
        if let Some(jitter_delays) = &mut self.jitter_delays
            && profile.jitter > 0
        {
            at = jitter_delays.delay_segment(flow.index(), at, profile.jitter);
        }
        if profile.timer_tick > 0 {
            at = at.next_multiple_of(profile.timer_tick);
        }
        DataDeparture { at, ..packet }
    }

    /// What the receiver answers is put on its way.
    #[inline(always)]
    fn answer<K: FlowKind>(
        &mut self,
        flow: &mut Flow,
        packet: DataDeparture,
        answered: Picos,
        profile: &Profile,
    ) {
        let connection = if K::FAST_PATH { 0 } else { flow.connection };
        let bare = Payload::ack(AckPacket::default(), connection);
        let (kind, bare) = if K::FAST_PATH { (0, bare) } else { ack_event_for(flow, bare) };
        let key = if K::FAST_PATH { flow.key } else { encode(flow.index(), kind) };
        let wheel = &mut self.wheel;
        let seq = packet.payload.seq();
        let ecn_flags = if K::FAST_PATH { EcnFlags::default() } else { ecn_flags(packet.payload) };
        let last_ack_arrival = &mut flow.last_ack_arrival;
        let first = |at, ack| {
            wheel.insert(at, key, bare.with_ack(ack));
            if K::SACK_ONLY {
                *last_ack_arrival = at;
            }
        };
        match flow.receiver.on_segment::<K>(seq, answered, ecn_flags, profile, first) {
            Some(ack) => {
                self.wheel.insert(answered, key, bare.with_ack(ack));
                if K::SACK_ONLY {
                    flow.last_ack_arrival = answered;
                }
            }
            None if K::SACK_ONLY => {} // see `arm_delack_if_no_ack_in_flight`
            None => self.arm_delack(flow, flow.receiver.delack_deadline()),
        }
    }

    /// The last segment has been received.
    #[cold]
    fn finish(&mut self, flow: &mut Flow, packet: DataDeparture) {
        let arrives = packet.at + flow.last_hop_to_receiver(self.config);
        let took = arrives - flow.start(self.config);
        let class = self.class(flow);
        self.completions[class].push((arrives, took));
        if flow.app.is_some() {
            let home = flow.multi_hop.as_ref().map_or(0, |multi_hop| multi_hop.last_ack_hop_delay);
            self.on_transfer_complete(flow, packet.at + flow.ack_return_delay + home);
        }
    }

    /// The time of an ACK that the receiver held back may have come.
    pub(crate) fn on_delack_timer<K: FlowKind>(&mut self, now: Picos, flow: &mut Flow) {
        if flow.delack_event_at != now {
            return;
        }
        flow.delack_event_at = NEVER;
        let until = flow.receiver.delack_deadline();
        if until > now {
            return self.arm_delack(flow, until);
        }
        let ack = flow.receiver.release();
        let payload = Payload::ack(ack, flow.connection);
        match first_ack_hop(flow) {
            Some(hop) => self.on_hop(now, flow, payload.at_hop(hop)),
            None => self.on_ack_arrival::<K>(now, flow, payload),
        }
    }

    /// Where the receiver holds an ACK back and none is on its way whose coming will ask this again,
    /// makes sure that the receiver is asked for it. Mostly another segment comes before.
    #[inline(always)]
    pub(crate) fn arm_delack_if_no_ack_in_flight(&mut self, now: Picos, flow: &mut Flow) {
        if flow.last_ack_arrival <= now {
            self.arm_delack(flow, flow.receiver.delack_deadline());
        }
    }

    /// Makes sure that the receiver is asked no later than `at` for the ACK that it holds back.
    #[inline]
    fn arm_delack(&mut self, flow: &mut Flow, at: Picos) {
        if at < flow.delack_event_at {
            flow.delack_event_at = at;
            self.schedule(flow, DELACK, at, Payload::NONE);
        }
    }
}

/// What a segment says of congestion.
fn ecn_flags(segment: Payload) -> EcnFlags {
    EcnFlags { ce: segment.ecn() == EcnCodepoint::Ce, cwr: segment.carries_cwr() }
}
