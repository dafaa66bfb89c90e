//! The receiver. Packets reach it in the order in which the last queue sends them, so its state is
//! advanced as soon as that order is known, and each ACK is put on the way back with its time.

use crate::time::Picos;
use std::collections::VecDeque;

/// An ACK on its way to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When the sender acts on it.
    pub at: Picos,
    /// Cumulative acknowledgement: the next segment expected (low 32 bits).
    pub next: u32,
    /// The segment that triggered it (low 32 bits): what its first SACK block newly reports.
    pub trigger: u32,
}

/// Receiver state of one flow, and its ACKs in flight.
#[derive(Default)]
pub struct Receiver {
    /// Next segment expected.
    pub rcv_nxt: u64,
    /// Bit i: segment rcv_nxt + i has arrived out of order; empty while nothing is missing.
    held: VecDeque<bool>,
    /// ACKs on the way back, in order.
    pub acks: VecDeque<Ack>,
    /// The last entry of `acks` waits for a second segment until this time less the way back.
    delayed_until: Option<Picos>,
}

impl Receiver {
    /// A segment arrives; `at` is when an ACK sent at once reaches the sender.
    #[inline]
    pub fn on_segment(&mut self, seq: u64, at: Picos, delay: Option<Picos>) {
        let in_order = seq == self.rcv_nxt && self.held.is_empty();
        if in_order {
            self.rcv_nxt += 1;
        } else {
            self.reorder(seq);
        }
        match delay {
            None => self.push(at, seq),
            Some(delay) => self.delayed(seq, at, delay, in_order),
        }
    }

    /// RFC 1122, section 4.2.3.2 and RFC 5681, section 4.2: one ACK for two segments in order or
    /// after the delay; at once for anything out of order or that fills a gap.
    fn delayed(&mut self, seq: u64, at: Picos, delay: Picos, in_order: bool) {
        let waiting = self.delayed_until.take().is_some_and(|until| at <= until);
        if waiting {
            self.acks.pop_back();
        }
        if waiting || !in_order {
            self.push(at, seq);
        } else {
            self.delayed_until = Some(at + delay);
            self.push(at + delay, seq);
        }
    }

    fn push(&mut self, at: Picos, seq: u64) {
        self.acks.push_back(Ack {
            at,
            next: self.rcv_nxt as u32,
            trigger: seq as u32,
        });
    }

    fn reorder(&mut self, seq: u64) {
        let Some(offset) = seq.checked_sub(self.rcv_nxt).map(|offset| offset as usize) else {
            return; // seen before
        };
        if offset >= self.held.len() {
            self.held.resize(offset + 1, false);
        }
        self.held[offset] = true;
        while self.held.front() == Some(&true) {
            self.held.pop_front();
            self.rcv_nxt += 1;
        }
    }
}
