//! A flow: a sender and a receiver, and what lies between them that no other flow shares.
//!
//! The delay from the sender to the first queue is counted on the return path: a sender's clock runs
//! ahead by that delay, so that the event in which it acts on an ACK is the very arrival of its
//! packet at the queue. Packets need an event of their own only where they wait for the flow's
//! access link, and before each further queue on their route.

pub(crate) mod access_link;
pub(crate) mod ack_path;
pub(crate) mod app_source;
pub(crate) mod barriers;
mod build;
pub(crate) mod counts;
pub(crate) mod early_deliveries;
pub(crate) mod flows;
pub(crate) mod jitter;
pub(crate) mod lost_acks;
pub(crate) mod route_state;

pub(crate) use build::ack_delays;

use crate::config::{Config, Source};
use crate::events::EventKey;
use crate::events::event_key::{HOP, decode, encode};
use crate::events::event_timer::EventTimer;
use crate::flow::access_link::AccessLink;
use crate::flow::ack_path::AckPath;
use crate::flow::app_source::AppSource;
use crate::flow::counts::Counts;
use crate::flow::route_state::RouteState;
use crate::packet::{EcnCodepoint, Payload};
use crate::paths::PackedLinkClass;
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::Sender;
use crate::time::Picos;
use prefetch_index::prefetch_index;
use std::slice::from_ref;

/// A flow. What each packet of a plain one touches lies together, in three lines of the cache: from the
/// end of `access` to the beginning of `receiver`, and the beginning of `sender`.
#[repr(C, align(64))]
pub struct Flow {
    /// `None` for a flow that sends its segments once.
    pub(crate) app: Option<Box<AppSource>>,
    /// When the receiver is asked for the ACK that it holds back.
    pub(crate) delack_timer: EventTimer,
    /// When the sender, or the source, is asked what is due.
    pub(crate) timer: EventTimer,
    /// The queues on its route.
    pub(crate) route: RouteState,
    /// From the sender to the first of them.
    pub(crate) access: AccessLink,
    /// From the last forward queue back.
    pub(crate) ack_path: AckPath,
    /// Its place among all flows, and the kind of event in which an ACK reaches its sender: which
    /// `FlowKind` is its own.
    pub(crate) key: EventKey,
    /// The first queue.
    pub(crate) first_hop: PackedLinkClass,
    /// The receiving side.
    pub(crate) receiver: Receiver,
    /// The sending side.
    pub(crate) sender: Sender,
    /// Size of a data packet.
    pub(crate) packet_bytes: u32,
    /// Counts its connections: packets of an earlier one are ignored.
    pub(crate) connection: u8,
    /// What its packets carry that are not retransmitted: whether queues may mark them instead of dropping them.
    pub(crate) ecn: EcnCodepoint,
    /// The sender would send, but for what waits on its access link already.
    pub(crate) tsq_throttled: bool,
    /// It has a mechanism of segmentation offload.
    pub(crate) offloads: bool,
}

impl Flow {
    /// Calls it into the cache.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_index(from_ref(&self.app), 0);
        prefetch_index(from_ref(&self.ack_path), 0);
        self.receiver.prefetch();
        prefetch_index(from_ref(&self.sender.snd_una), 0);
        prefetch_index(from_ref(&self.sender.timer_at), 0);
        prefetch_index(from_ref(&self.sender.scoreboard), 0);
        prefetch_index(from_ref(&self.sender.recover), 0);
        prefetch_index(from_ref(&self.connection), 0);
    }

    /// Calls what a segment touches that reaches its receiver from a further queue into the cache.
    #[inline]
    pub(crate) fn prefetch_receiver(&self) {
        prefetch_index(from_ref(&self.app), 0);
        prefetch_index(from_ref(&self.ack_path), 0);
        self.receiver.prefetch();
        prefetch_index(from_ref(&self.sender.snd_una), 0);
        prefetch_index(from_ref(&self.connection), 0);
    }

    /// Calls what an ACK touches that reaches a queue into the cache.
    #[inline]
    pub(crate) fn prefetch_hop_state(&self) {
        prefetch_index(from_ref(&self.ack_path), 0);
        prefetch_index(from_ref(&self.route), 0);
    }

    /// Calls what most packets touch nearer. Without `SACK`, flows have no scoreboard.
    #[inline(always)]
    pub(crate) fn prefetch_near<const SACK: bool>(&self) {
        prefetch_index(from_ref(&self.ack_path), 0);
        prefetch_index(from_ref(&self.sender.snd_una), 0);
        prefetch_index(from_ref(&self.sender.timer_at), 0);
        if let Some(board) = self.sender.scoreboard.as_deref().filter(|_| SACK) {
            board.prefetch_near();
            self.receiver.prefetch();
        }
    }

    /// Its place among all flows.
    #[inline(always)]
    pub(crate) fn index(&self) -> u32 {
        decode(self.key).0 as u32
    }

    /// The kind of event in which an ACK reaches its sender.
    #[inline(always)]
    pub(crate) fn ack_event(&self) -> u32 {
        decode(self.key).1
    }

    /// An ACK that the receiver sends, and the key of the event in which it acts: at the first backward
    /// queue, or the sender.
    #[inline]
    pub(crate) fn first_event_of_ack(&self, ack: Payload) -> (EventKey, Payload) {
        match self.route.first_ack_hop() {
            Some(hop) => (encode(self.index(), HOP), ack.at_hop(hop)),
            None => (self.key, ack),
        }
    }

    /// A segment as it is sent: with ECT(0) where the flow uses ECN, ECT(1) where it is L4S, but not on what is retransmitted (RFC
    /// 3168, section 6.1.5) unless the controller asks for marks (Linux, tcp_ecn_send).
    #[inline]
    pub(crate) fn segment(&self, seq: u64) -> Payload {
        let payload = Payload::data(seq, self.connection).at_place(self.route.path);
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
    pub(crate) fn tsq_limit_reached(&self, now: Picos) -> bool {
        let waiting = self.access.waiting();
        !self.access.is_idle(now) && waiting >= 2 && self.is_a_millisecond(waiting)
    }

    /// The same where bursts of `segments` wait, two of them, and so many segments in all.
    pub(crate) fn tsq_limit_of_bursts_reached(
        &self,
        now: Picos,
        segments: u32,
        waiting: usize,
    ) -> bool {
        !self.access.is_idle(now)
            && waiting >= 2 * segments as usize
            && self.is_a_millisecond(waiting)
    }

    #[inline(never)]
    fn is_a_millisecond(&self, segments: usize) -> bool {
        segments as f64 >= self.sender.sending_rate() / 1000.0
    }

    /// Size on the link of a data packet.
    #[inline]
    pub(crate) fn data_bytes(&self, seq: u64, config: &Config) -> u32 {
        match &self.app {
            Some(app) if app.datagrams_end().is_some() => config.datagrams[seq as usize].bytes,
            _ => self.packet_bytes,
        }
    }

    /// The application has no more data than what was sent; a user ends the file that has begun.
    #[cold]
    pub(crate) fn stop(&mut self) {
        match &mut self.app {
            Some(app) if self.sender.snd_max > 0 => app.stop(),
            _ => self.sender.app_limit = self.sender.snd_max,
        }
    }

    /// It has an end, and has not come to it: something is, or will be, sent.
    pub(crate) fn transfers(&self, config: &Config) -> bool {
        let ends = match config.flows[self.index() as usize].source {
            Source::Segments(segments) => segments < u64::MAX,
            Source::Files(..) | Source::FilesUntil(..) => true,
            Source::Until(_) | Source::Datagrams(..) => false,
        };
        ends && self.receiver.rcv_nxt < self.sender.app_limit
    }

    /// What it has counted since the run began.
    pub(crate) fn counts(&self) -> Counts {
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
    pub(crate) fn start(&self, config: &Config) -> Picos {
        self.app.as_ref().map_or(config.flows[self.index() as usize].start, |app| app.start)
    }

    /// From a packet's departure at the last forward queue to its receiver: half of the round trip's
    /// propagation outside the links of the route, whose own lies behind it, and the access link,
    /// which is counted here for every packet.
    pub(crate) fn last_hop_to_receiver(&self, config: &Config) -> Picos {
        let edge = config.edge_delay(&config.flows[self.index() as usize]);
        edge / 2 + self.access.packet_time
    }

    /// The round trip's propagation outside the link, of a route over one.
    pub(crate) fn edge(&self) -> Picos {
        self.ack_path.return_delay - self.access.packet_time
    }
}

#[cfg(test)]
mod tests;
