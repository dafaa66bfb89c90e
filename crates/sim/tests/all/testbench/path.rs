//! A sender and a receiver with a wire between them that loses what it is told to.
#![allow(dead_code)] // each test file uses some of it

use forebay_sim::cc::Cc;
use forebay_sim::flow_kind::GeneralKind;
use forebay_sim::tcp::ack_packet::{AckPacket, EcnFlags};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::tcp::receiver::Receiver;
use forebay_sim::tcp::sender::Sender;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};
use std::collections::VecDeque;

pub const RTT: Picos = 100 * MILLISECOND;

/// A receiver, and its ACKs on their way with the times at which they get there.
pub struct Listener {
    pub receiver: Receiver,
    pub acks: VecDeque<(Picos, AckPacket)>,
}

impl Listener {
    pub fn new() -> Self {
        Self { receiver: Receiver::new(RTT, false), acks: VecDeque::new() }
    }

    pub fn on_segment(&mut self, seq: u64, at: Picos, profile: &Profile) {
        let acks = &mut self.acks;
        let first = |at, ack| acks.push_back((at, ack));
        let ack =
            self.receiver.on_segment::<GeneralKind>(seq, at, EcnFlags::default(), profile, first);
        self.acks.extend(ack.map(|ack| (at, ack)));
    }

    /// When the next ACK gets there; `Picos::MAX` where none is on its way or held back.
    pub fn next_at(&self) -> Picos {
        self.acks.front().map_or(self.receiver.delack_deadline(), |&(at, _)| at)
    }

    pub fn next(&mut self) -> AckPacket {
        self.acks.pop_front().map_or_else(|| self.receiver.release(), |(_, ack)| ack)
    }
}

/// One flow over a wire of a segment a millisecond that loses what it is told to.
pub struct Path {
    pub sender: Sender,
    listener: Listener,
    pub profile: Profile,
    pub now: Picos,
    free_at: Picos,
    /// When each segment was sent, again or not.
    pub sent: Vec<(Picos, u64)>,
    /// (segment, how often it is lost).
    lost: Vec<(u64, usize)>,
    /// What is sent in this span arrives at its end.
    pub pause: (Picos, Picos),
}

impl Path {
    pub fn new(segments: u64, profile: Profile, lost: &[(u64, usize)]) -> Self {
        let cc = Cc::by_name("reno").expect("listed");
        Self {
            sender: Sender::new(cc, segments, &profile),
            listener: Listener::new(),
            profile,
            now: SECOND,
            free_at: 0,
            sent: vec![],
            lost: lost.to_vec(),
            pause: (0, 0),
        }
    }

    pub fn transmit(&mut self) {
        while self.sender.sendable_segments::<GeneralKind>(&self.profile) > 0 {
            let seq = self.sender.next_segment::<GeneralKind>(self.now);
            self.sent.push((self.now, seq));
            let times = self.sent.iter().filter(|&&(_, other)| other == seq).count();
            let paused = self.now >= self.pause.0 && self.now < self.pause.1;
            let enters = if paused { self.pause.1 } else { self.now };
            self.free_at = self.free_at.max(enters) + MILLISECOND;
            if !self.lost.iter().any(|&(lost, often)| lost == seq && times <= often) {
                self.listener.on_segment(seq, self.free_at + RTT, &self.profile);
            }
        }
    }

    /// Until the flow has ended, or `until`.
    pub fn run(&mut self, until: Picos) {
        self.transmit();
        while self.sender.snd_una < self.sender.app_limit {
            let ack = self.listener.next_at();
            let next = ack.min(self.sender.timer_at);
            assert!(next < Picos::MAX, "the flow is stuck");
            if next > until {
                return;
            }
            self.now = next;
            if ack == next {
                let ack = self.listener.next();
                self.sender.on_ack::<GeneralKind>(self.now, ack, &[], &self.profile);
            } else {
                self.sender.on_timer(self.now, &self.profile);
            }
            self.transmit();
        }
    }

    pub fn transmissions(&self, seq: u64) -> Vec<Picos> {
        self.sent.iter().filter(|&&(_, other)| other == seq).map(|&(at, _)| at).collect()
    }
}

pub fn finished(segments: u64, profile: Profile, lost: &[(u64, usize)]) -> Path {
    let mut path = Path::new(segments, profile, lost);
    path.run(Picos::MAX);
    path
}
