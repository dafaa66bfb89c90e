//! The receiver. Packets reach it in the order in which the last queue sends them, so its state is
//! advanced as soon as that order is known, and each ACK is put on the way back with its time.

use crate::ring::Ring;
use crate::time::Picos;
use std::collections::VecDeque;

/// An ACK on its way back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckPacket {
    /// When it arrives at the next place that acts on it.
    pub at: Picos,
    /// Cumulative acknowledgement: the next segment expected (low 32 bits).
    pub next: u32,
    /// The segment that triggered it (low 32 bits): what its first SACK block newly reports.
    pub trigger: u32,
    /// It echoes a congestion mark.
    pub marked: bool,
    /// So many earlier ACKs were lost on the way back: its SACK blocks tell of their segments too.
    pub also: u16,
}

/// Receiver state of one flow, and its ACKs in flight.
#[derive(Default)]
pub struct Receiver {
    /// Next segment expected.
    pub rcv_nxt: u64,
    /// Bit i: segment rcv_nxt + i has arrived out of order; empty while nothing is missing.
    held: VecDeque<bool>,
    /// ACKs on the way back, in order.
    pub acks: Ring<AckPacket>,
    /// The last entry of `acks` waits for a second segment until this time less the way back.
    delayed_until: Option<Picos>,
}

impl Receiver {
    /// A segment arrives; `at` is when an ACK sent at once reaches its next place.
    #[inline]
    pub fn on_segment(&mut self, seq: u64, at: Picos, marked: bool, delay: Option<Picos>) {
        let in_order = seq == self.rcv_nxt && self.held.is_empty();
        if in_order {
            self.rcv_nxt += 1;
        } else {
            self.reorder(seq);
        }
        match delay {
            None => self.push(at, seq, marked),
            Some(delay) => self.delayed(seq, at, marked, delay, in_order),
        }
    }

    /// RFC 1122, section 4.2.3.2 and RFC 5681, section 4.2: one ACK for two segments in order or
    /// after the delay; at once for anything out of order or that fills a gap. Where marks begin or
    /// end, the segments before are acknowledged on their own (RFC 8257, section 3.2).
    fn delayed(&mut self, seq: u64, at: Picos, marked: bool, delay: Picos, in_order: bool) {
        let mut waiting = self.delayed_until.take().is_some_and(|until| at <= until);
        if waiting && let Some(last) = self.acks.back_mut() {
            if last.marked == marked {
                self.acks.pop_back();
            } else {
                last.at = at;
                waiting = false;
            }
        }
        if waiting || !in_order {
            self.push(at, seq, marked);
        } else {
            self.delayed_until = Some(at + delay);
            self.push(at + delay, seq, marked);
        }
    }

    fn push(&mut self, at: Picos, seq: u64, marked: bool) {
        let (next, trigger) = (self.rcv_nxt as u32, seq as u32);
        self.acks.push_back(AckPacket { at, next, trigger, marked, also: 0 });
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
