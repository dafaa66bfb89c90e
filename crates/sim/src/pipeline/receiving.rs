//! What reaches a flow's receiver, and what it answers.

use crate::fast::flow_kind::{FlowKind, GeneralKind};
use crate::flow::Flow;
use crate::network::Network;
use crate::packet::{EcnCodepoint, Payload};
use crate::tcp::ack_packet::{AckPacket, EcnFlags};
use crate::tcp::profile::Profile;
use crate::time::Picos;

impl Network<'_> {
    /// A segment leaves the last forward queue at `departs`: its receiver answers.
    #[inline(always)]
    pub(crate) fn receive<K: FlowKind>(
        &mut self,
        flow: &mut Flow,
        departs: Picos,
        segment: Payload,
        profile: &Profile,
    ) {
        if departs > self.early_deliveries.next_batch_end {
            self.receive_early::<K>(flow, departs, segment);
        } else {
            self.receive_here::<K>(flow, departs, segment, profile);
        }
    }

    /// `receive` of a segment that leaves after the end of the batch, which is not to count it.
    #[cold]
    #[inline(never)]
    fn receive_early<K: FlowKind>(&mut self, flow: &mut Flow, departs: Picos, segment: Payload) {
        let before = flow.counts();
        self.receive_here::<K>(flow, departs, segment, self.profile::<K>(flow));
        self.early_deliveries.record(departs, flow.index(), &before, &flow.counts());
    }

    #[inline(always)]
    fn receive_here<K: FlowKind>(
        &mut self,
        flow: &mut Flow,
        departs: Picos,
        segment: Payload,
        profile: &Profile,
    ) {
        if !K::FAST_PATH {
            self.passed[flow.index() as usize] += 1;
        }
        let released =
            if K::FAST_PATH { departs } else { self.delay_segment(flow, departs, profile) };
        if !K::FAST_PATH && self.recorder.is_some() {
            self.capture(departs, released - departs, flow, segment);
        }
        if K::RECORDS {
            self.record_arrival(flow, released, segment);
        }
        if !K::FAST_PATH && flow.app.is_some() && self.receive_datagram(flow, segment.seq()) {
            return;
        }
        let before = flow.receiver.rcv_nxt;
        let answered = released + flow.ack_path.return_delay;
        if K::NEWRENO_ONLY {
            let ack = flow.receiver.ack_every_segment(segment.seq(), false);
            self.wheel.insert(answered, flow.key, Payload::ack(ack, 0));
            flow.ack_path.last_arrival = answered;
        } else {
            self.answer::<K>(flow, segment, answered, profile);
        }
        if flow.receiver.rcv_nxt >= flow.sender.app_limit {
            self.finish_once(flow, released, before);
        }
    }

    /// A segment of an earlier connection leaves the last forward queue: it is counted, and has no receiver.
    pub(crate) fn on_late_segment(&mut self, flow: &mut Flow, departs: Picos, segment: Payload) {
        self.passed[flow.index() as usize] += 1;
        self.capture(departs, 0, flow, segment);
    }

    /// A packet of data leaves the last forward queue, and takes `longer` behind it than its path does.
    #[cold]
    fn capture(&mut self, departs: Picos, longer: Picos, flow: &Flow, packet: Payload) {
        let bytes = flow.data_bytes(packet.seq(), self.traffic.config);
        if let Some(recorder) = &mut self.recorder {
            recorder.passed(departs, longer, flow, packet, bytes);
        }
    }

    /// A packet of data has left the last queue, and what delays it behind that, at `released`. The way of a
    /// datagram ends there: an open-loop source has no round trip.
    #[inline]
    fn record_arrival(&mut self, flow: &Flow, released: Picos, packet: Payload) {
        let config = self.traffic.config;
        let Some(recorder) = &mut self.flow_recorder else { return };
        recorder.arrived(flow, released, packet.ecn() == EcnCodepoint::Ce, || match &flow.app {
            Some(app) if app.datagrams_end().is_some() => 0,
            _ => flow.last_hop_to_receiver(config),
        });
    }

    /// When a segment goes on that leaves the last queue at `departs`: jitter and a receiver's timer
    /// delay it.
    fn delay_segment(&mut self, flow: &Flow, departs: Picos, profile: &Profile) -> Picos {
        let mut at = departs;
        if let Some(jitter_delays) = &mut self.jitter_delays
            && profile.jitter > 0
        {
            at = jitter_delays.delay_segment(flow.index(), at, profile.jitter);
        }
        if profile.timer_tick > 0 {
            at = at.next_multiple_of(profile.timer_tick);
        }
        at
    }

    /// Schedules the ACK with which the receiver answers, unless it holds it back.
    #[inline(always)]
    fn answer<K: FlowKind>(
        &mut self,
        flow: &mut Flow,
        segment: Payload,
        answered: Picos,
        profile: &Profile,
    ) {
        if K::SACK_ONLY {
            self.answer_over_one_queue::<K>(flow, segment, answered, profile);
        } else {
            self.answer_in_any_part(flow, segment, answered, profile);
        }
    }

    /// `answer` for flows over one queue: its sender is in the same part of the network. An ACK that is held back
    /// gets its timer in `arm_delack_if_no_ack_in_flight`.
    #[inline(always)]
    fn answer_over_one_queue<K: FlowKind>(
        &mut self,
        flow: &mut Flow,
        segment: Payload,
        answered: Picos,
        profile: &Profile,
    ) {
        let bare = Payload::ack(AckPacket::default(), 0);
        let (key, wheel) = (flow.key, &mut self.wheel);
        let last_arrival = &mut flow.ack_path.last_arrival;
        let first = |at, ack| {
            wheel.insert(at, key, bare.with_ack(ack));
            *last_arrival = at;
        };
        let ecn_flags = EcnFlags::default();
        let ack = flow.receiver.on_segment::<K>(segment.seq(), answered, ecn_flags, profile, first);
        if let Some(ack) = ack {
            self.wheel.insert(answered, key, bare.with_ack(ack));
            flow.ack_path.last_arrival = answered;
        }
    }

    /// `answer` for any flow.
    #[inline]
    fn answer_in_any_part(
        &mut self,
        flow: &mut Flow,
        segment: Payload,
        answered: Picos,
        profile: &Profile,
    ) {
        let bare = Payload::ack(AckPacket::default(), flow.connection);
        let (key, bare) = flow.first_event_of_ack(bare);
        let to = flow.route.ack_part().unwrap_or(self.part.number());
        let (part, wheel) = (&mut self.part, &mut self.wheel);
        let mut send = |at, ack| part.schedule(wheel, to, (at, key, bare.with_ack(ack)));
        let ecn_flags = ecn_flags(segment);
        let receiver = &mut flow.receiver;
        let ack = receiver.on_segment::<GeneralKind>(
            segment.seq(),
            answered,
            ecn_flags,
            profile,
            &mut send,
        );
        match ack {
            Some(ack) => send(answered, ack),
            None => self.arm_delack(flow, flow.receiver.delack_deadline()),
        }
    }

    /// The last segment has been received, now or earlier; it left the last queue and what delays it behind that at
    /// `departed`. Before it came, `before` was expected next.
    #[cold]
    #[inline(never)]
    fn finish_once(&mut self, flow: &mut Flow, departed: Picos, before: u64) {
        if before >= flow.sender.app_limit {
            return;
        }
        let arrives = departed + flow.last_hop_to_receiver(self.traffic.config);
        let took = arrives - flow.start(self.traffic.config);
        let class = self.class(flow);
        self.completions[class].push((arrives, took));
        if let Some(recorder) = &mut self.flow_recorder {
            recorder.completed(flow, arrives);
        }
        if flow.app.is_some() {
            if self.traffic.config.waits_for_others(flow.index()) {
                return self.on_answer(flow, arrives);
            }
            let back = flow.ack_path.return_delay + flow.route.last_ack_hop_delay();
            self.on_transfer_complete(flow, departed + back);
        }
    }
}

/// What a segment says of congestion.
fn ecn_flags(segment: Payload) -> EcnFlags {
    EcnFlags { ce: segment.ecn() == EcnCodepoint::Ce, cwr: segment.carries_cwr() }
}
