//! What reaches a flow's receiver, and what it answers.

use crate::flow::Flow;
use crate::network::{HELD, Network, Transit, node};
use crate::parcel::Load;
use crate::routing::{first_ack_hop, turn};
use crate::tcp::profile::Profile;
use crate::tcp::receiver::{AckPacket, Signs};
use crate::time::{NEVER, Picos};
use crate::way::Way;

impl Network<'_> {
    /// A packet has left the last forward queue at `packet.at`: its receiver answers.
    #[inline(always)]
    pub(crate) fn receive<W: Way>(&mut self, flow: &mut Flow, packet: Transit, profile: &Profile) {
        if packet.at > self.underway.next_cut {
            self.receive_early::<W>(flow, packet);
        } else {
            self.receive_here::<W>(flow, packet, profile);
        }
    }

    /// The same for a packet that leaves after the next cut, which is not to count it.
    #[cold]
    #[inline(never)]
    fn receive_early<W: Way>(&mut self, flow: &mut Flow, packet: Transit) {
        let before = flow.counts();
        self.receive_here::<W>(flow, packet, self.profile::<W>(flow));
        self.underway.note(packet.at, flow, &before);
    }

    #[inline(always)]
    fn receive_here<W: Way>(&mut self, flow: &mut Flow, packet: Transit, profile: &Profile) {
        self.passed[flow.index() as usize] += 1;
        if !W::SIMPLE && flow.play.is_some() && self.received_alone(flow, packet.load.seq()) {
            return;
        }
        let packet = if W::SIMPLE { packet } else { self.shake(flow, packet, profile) };
        let before = flow.receiver.rcv_nxt;
        let answered = packet.at + flow.turn_delay;
        if W::PLAIN {
            let ack = flow.receiver.answer(packet.load.seq(), false);
            self.wheel.insert(answered, flow.node, Load::ack(ack, 0));
            flow.heard_at = answered;
        } else {
            self.answer::<W>(flow, packet, answered, profile);
        }
        let end = flow.sender.end;
        if flow.receiver.rcv_nxt >= end && before < end {
            self.finish(flow, packet);
        }
    }

    /// What holds a packet up on its way to the receiver, where anything does.
    fn shake(&mut self, flow: &Flow, packet: Transit, profile: &Profile) -> Transit {
        match &mut self.shaking {
            Some(shaking) if profile.jitter > 0 => {
                let at = shaking.hold_up(flow.index(), packet.at, profile.jitter);
                Transit { at, ..packet }
            }
            _ => packet,
        }
    }

    /// What the receiver answers is put on its way.
    #[inline(always)]
    fn answer<W: Way>(
        &mut self,
        flow: &mut Flow,
        packet: Transit,
        answered: Picos,
        profile: &Profile,
    ) {
        let connection = if W::SIMPLE { 0 } else { flow.connection };
        let bare = Load::ack(AckPacket::default(), connection);
        let (kind, bare) = if W::SIMPLE { (0, bare) } else { turn(flow, bare) };
        let node = if W::SIMPLE { flow.node } else { node(flow.index(), kind) };
        let wheel = &mut self.wheel;
        let seq = packet.load.seq();
        let signs = if W::SIMPLE { Signs::default() } else { signs(packet.load) };
        let heard_at = &mut flow.heard_at;
        let first = |at, ack| {
            wheel.insert(at, node, bare.carrying(ack));
            if W::SACK {
                *heard_at = at;
            }
        };
        match flow.receiver.on_segment::<W>(seq, answered, signs, profile, first) {
            Some(ack) => {
                self.wheel.insert(answered, node, bare.carrying(ack));
                if W::SACK {
                    flow.heard_at = answered;
                }
            }
            None if W::SACK => {} // see `ask_without_ack`
            None => self.ask_at(flow, flow.receiver.holds_until()),
        }
    }

    /// The last segment has been received.
    #[cold]
    fn finish(&mut self, flow: &mut Flow, packet: Transit) {
        let arrives = packet.at + flow.onward_delay(self.config);
        let took = arrives - flow.start(self.config);
        let class = self.class(flow);
        self.completions[class].push((arrives, took));
        if flow.play.is_some() {
            let home = flow.detour.as_ref().map_or(0, |detour| detour.home_delay);
            self.file_ended(flow, packet.at + flow.turn_delay + home);
        }
    }

    /// The time of an ACK that the receiver held back may have come.
    pub(crate) fn on_held<W: Way>(&mut self, now: Picos, flow: &mut Flow) {
        if flow.asks_at != now {
            return;
        }
        flow.asks_at = NEVER;
        let until = flow.receiver.holds_until();
        if until > now {
            return self.ask_at(flow, until);
        }
        let ack = flow.receiver.release();
        let load = Load::ack(ack, flow.connection);
        match first_ack_hop(flow) {
            Some(hop) => self.on_hop(now, flow, load.at_hop(hop)),
            None => self.on_home::<W>(now, flow, load),
        }
    }

    /// Where the receiver holds an ACK back and none is on its way whose coming will ask this again,
    /// makes sure that the receiver is asked for it. Mostly another segment comes before.
    #[inline(always)]
    pub(crate) fn ask_without_ack(&mut self, now: Picos, flow: &mut Flow) {
        if flow.heard_at <= now {
            self.ask_at(flow, flow.receiver.holds_until());
        }
    }

    /// Makes sure that the receiver is asked no later than `at` for the ACK that it holds back.
    #[inline]
    fn ask_at(&mut self, flow: &mut Flow, at: Picos) {
        if at < flow.asks_at {
            flow.asks_at = at;
            self.schedule(flow, HELD, at, Load::NONE);
        }
    }
}

/// What a segment says of congestion.
fn signs(segment: Load) -> Signs {
    Signs { marked: segment.marked(), cut: segment.tells_of_cut() }
}
