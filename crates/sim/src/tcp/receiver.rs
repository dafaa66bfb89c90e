//! The receiver. Packets reach it in the order in which the last queue sends them, so its state is
//! advanced as soon as that order is known, and each ACK is put on the way back with its time.

use super::profile::Profile;
use super::reassembly::Reassembly;
use crate::ring::Ring;
use crate::time::{MILLISECOND, Picos};

/// An ACK on its way back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckPacket {
    /// When it arrives at the next place that acts on it.
    pub at: Picos,
    /// Cumulative acknowledgement: the next segment expected (low 32 bits).
    pub next: u32,
    /// The segment that triggered it (low 32 bits): what its first SACK block newly reports.
    pub trigger: u32,
    /// Segments up to and with `trigger` that it newly reports.
    pub run: u16,
    /// It echoes a congestion mark.
    pub marked: bool,
    /// So many segments whose ACKs were lost on the way back do its SACK blocks tell of too.
    pub also: u16,
}

/// Segments out of order whose ACKs are never held back: what NewReno's threshold needs (Linux).
const FIRST_DUPLICATES: u8 = 3;
/// The longest that Linux delays an ACK.
const LONGEST_DELAY: Picos = 200 * MILLISECOND;

/// Why the last of `Receiver::acks` waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// For a second segment.
    Delayed,
    /// For more segments out of order.
    Compressed,
}

/// Receiver state of one flow, and its ACKs in flight. What every segment touches comes first.
#[derive(Default)]
#[repr(C)]
pub struct Receiver {
    /// ACKs on the way back, in order.
    pub acks: Ring<AckPacket>,
    /// Next segment expected.
    pub rcv_nxt: u64,
    /// What has arrived beyond it.
    beyond: Reassembly,
    /// The last entry of `acks` waits until this time less the way back.
    waits: Option<(Held, Picos)>,
    /// How long a single segment's ACK waits (Linux's ato); 0 before the first segment.
    delay: Picos,
    /// When the last segment in order came.
    last: Picos,
    /// Propagation there and back: what the handshake measured.
    rtt: Picos,
    /// ACKs that still go at once.
    quick: u32,
    /// Duplicate ACKs since rcv_nxt last moved, as far as they are counted.
    duplicates: u8,
}

impl Receiver {
    /// A receiver that has measured a round trip of `rtt` in the handshake.
    pub fn new(rtt: Picos) -> Self {
        Self { rtt, ..Self::default() }
    }

    /// One for another connection over the same path.
    pub fn anew(&self) -> Self {
        Self::new(self.rtt)
    }

    /// A segment arrives; `at` is when an ACK sent at once reaches its next place.
    #[inline(always)]
    pub fn on_segment(&mut self, seq: u64, at: Picos, marked: bool, profile: &Profile) {
        if seq != self.rcv_nxt || self.misses() {
            return self.on_disorder(seq, at, marked, profile);
        }
        self.rcv_nxt += 1;
        match profile.delayed_ack {
            None => self.push(at, seq, 1, marked),
            Some(least) => {
                self.duplicates = 0;
                self.adapt(at, least, profile);
                self.delay_ack(seq, at, marked, least, profile);
            }
        }
    }

    #[inline(never)]
    fn on_disorder(&mut self, seq: u64, at: Picos, marked: bool, profile: &Profile) {
        let expected = seq == self.rcv_nxt;
        self.reorder(seq);
        let Some(least) = profile.delayed_ack else {
            return self.push(at, seq, 1, marked);
        };
        if expected {
            self.duplicates = 0;
            self.adapt(at, least, profile);
        }
        self.answer_disorder(seq, at, marked, least, profile);
    }

    /// RFC 1122, section 4.2.3.2 and RFC 5681, section 4.2: one ACK for two segments in order or
    /// after the delay. Where marks begin or end, the segments before are acknowledged on their own
    /// (RFC 8257, section 3.2).
    #[inline]
    fn delay_ack(&mut self, seq: u64, at: Picos, marked: bool, least: Picos, profile: &Profile) {
        if self.completes_delayed(seq, at, marked) {
            return self.spend_quick(least);
        }
        if self.absorbs_delayed(at, marked, least) || self.quick > 0 {
            return self.answer(seq, at, marked, least);
        }
        let wait = if profile.adaptive_ack_delay {
            self.delay.min(self.rtt.max(least)).min(LONGEST_DELAY)
        } else {
            least
        };
        self.waits = Some((Held::Delayed, at + wait));
        self.push(at + wait, seq, 1, marked);
    }

    /// RFC 5681, section 4.2: at once for anything out of order or that fills a gap; but ACKs of
    /// many segments out of order may wait a little for each other (Linux's SACK compression).
    fn answer_disorder(
        &mut self,
        seq: u64,
        at: Picos,
        marked: bool,
        least: Picos,
        profile: &Profile,
    ) {
        if self.joins_compressed(seq, at, marked) {
            return;
        }
        self.absorbs_delayed(at, marked, least);
        let gap = self.misses() && seq >= self.rcv_nxt;
        match profile.sack_compression {
            Some(wait) if gap && self.quick == 0 && self.duplicates >= FIRST_DUPLICATES => {
                let until = at + wait.min(self.rtt / 20);
                self.waits = Some((Held::Compressed, until));
                self.push(until, seq, 1, marked);
            }
            _ => {
                self.duplicates = self.duplicates.saturating_add(1);
                self.answer(seq, at, marked, least);
            }
        }
    }

    /// The second segment has come in time: the ACK that waits goes, for both.
    #[inline]
    fn completes_delayed(&mut self, seq: u64, at: Picos, marked: bool) -> bool {
        let (Some((Held::Delayed, until)), next) = (self.waits, self.rcv_nxt as u32) else {
            return false;
        };
        match self.acks.back_mut() {
            Some(last) if at <= until && last.marked == marked => {
                *last = AckPacket { at, next, trigger: seq as u32, ..*last };
                self.waits = None;
                true
            }
            _ => false,
        }
    }

    /// An ACK that waits for a second segment is one with that of the segment that comes now; any
    /// other that waits goes first. Gives whether it was absorbed.
    #[inline]
    fn absorbs_delayed(&mut self, at: Picos, marked: bool, least: Picos) -> bool {
        let Some((held, until)) = self.waits.take() else { return false };
        if at > until {
            if held == Held::Delayed {
                self.delay = (2 * self.delay).min(self.longest_gap()); // nobody came: wait longer
                self.spend_quick(least);
            }
            return false;
        }
        let Some(last) = self.acks.back_mut() else { return false };
        if held == Held::Delayed && last.marked == marked {
            self.acks.pop_back();
            return true;
        }
        last.at = at;
        false
    }

    /// A segment that follows the one whose ACK waits for such segments.
    fn joins_compressed(&mut self, seq: u64, at: Picos, marked: bool) -> bool {
        let Some((Held::Compressed, until)) = self.waits else { return false };
        match self.acks.back_mut() {
            Some(last) if at <= until && last.marked == marked => {
                let next = last.trigger.wrapping_add(1) == seq as u32;
                if next && last.next == self.rcv_nxt as u32 {
                    last.trigger = seq as u32;
                    last.run += 1;
                    return true;
                }
                false
            }
            _ => false,
        }
    }

    fn answer(&mut self, seq: u64, at: Picos, marked: bool, least: Picos) {
        self.spend_quick(least);
        self.push(at, seq, 1, marked);
    }

    fn spend_quick(&mut self, least: Picos) {
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = least;
            }
        }
    }

    /// Linux (tcp_event_data_recv): the delay follows the gaps between segments, and after a gap
    /// beyond any timeout the sender is taken to be in slow start.
    #[inline]
    fn adapt(&mut self, at: Picos, least: Picos, profile: &Profile) {
        let gap = at.saturating_sub(self.last);
        self.last = at;
        if self.delay == 0 {
            self.delay = least;
            self.quick = profile.quick_acks;
        } else if gap <= least / 2 {
            self.delay = (self.delay + least) / 2;
        } else if gap < self.delay {
            self.delay = (self.delay / 2 + gap).min(self.longest_gap());
        } else if gap > self.longest_gap() {
            self.quick = self.quick.max(profile.quick_acks);
        }
    }

    /// The receiver's own retransmission timeout after its handshake: it sends no data.
    fn longest_gap(&self) -> Picos {
        self.rtt + (2 * self.rtt).max(200 * MILLISECOND)
    }

    #[inline(always)]
    fn push(&mut self, at: Picos, seq: u64, run: u16, marked: bool) {
        let (next, trigger) = (self.rcv_nxt as u32, seq as u32);
        self.acks.push_back(AckPacket { at, next, trigger, run, marked, also: 0 });
    }

    /// A segment below one that has arrived is missing.
    #[inline]
    fn misses(&self) -> bool {
        !self.beyond.is_empty()
    }

    #[inline]
    fn reorder(&mut self, seq: u64) {
        if let Some(offset) = seq.checked_sub(self.rcv_nxt) {
            self.rcv_nxt += self.beyond.insert(offset);
        }
    }
}
