//! A flow: its two endpoints and everything between them that it shares with no other flow.
//!
//! The way from the sender to the queue is folded into the way back: a sender's clock runs ahead by
//! that delay, so that the event in which it acts on an ACK is the very arrival of its packet at
//! the queue. Only packets that wait for the flow's own access link need an event of their own.

use crate::cc::Cc;
use crate::config::{Config, FlowSpec};
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::Sender;
use crate::time::{Picos, serialization};
use std::collections::VecDeque;

/// See the module's page.
pub struct Flow {
    /// The sending side.
    pub sender: Sender,
    /// The receiving side.
    pub receiver: Receiver,
    /// Traffic class.
    pub class: u16,
    /// Size of a data packet.
    pub packet_bytes: u32,
    /// From a packet's departure at the queue to the arrival, at the queue, of what its ACK lets go.
    pub loop_delay: Picos,
    /// From a packet's departure at the queue to its receiver.
    pub onward_delay: Picos,
    /// When the flow's first packet reaches the queue.
    pub start: Picos,
    access_time: Picos,
    access_free: Picos,
    /// Packets on the access link: when each reaches the queue, and its sequence number.
    pub in_access: VecDeque<(Picos, u64)>,
}

impl Flow {
    /// An idle flow.
    pub fn new(spec: &FlowSpec, config: &Config) -> Self {
        let profile = &config.profiles[spec.class as usize];
        let cc = Cc::by_name(spec.congestion_control).expect("checked with the configuration");
        let access_time = serialization(spec.packet_bytes, spec.access_bps);
        Self {
            sender: Sender::new(cc, spec.segments, profile),
            receiver: Receiver::default(),
            class: spec.class,
            packet_bytes: spec.packet_bytes,
            loop_delay: spec.rtt + access_time,
            onward_delay: spec.rtt / 2 + access_time,
            start: spec.start,
            access_time,
            access_free: 0,
            in_access: VecDeque::new(),
        }
    }

    /// When a packet that the sender lets go now reaches the queue.
    #[inline]
    pub fn through_access(&mut self, now: Picos) -> Picos {
        let at = self.access_free.max(now);
        self.access_free = at + self.access_time;
        at
    }
}
