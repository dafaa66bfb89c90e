//! The receiver. Packets reach it in the order in which the last queue sends them, so its state is
//! advanced as soon as that order is known, and each ACK is put on the way back with its time, or
//! held until another segment comes or its time has come.

use super::profile::Profile;
use super::reassembly::Reassembly;
use crate::lost_acks::NONE;
use crate::time::{MILLISECOND, NEVER, Picos};
use crate::way::Way;
use std::hint::select_unpredictable;

/// An ACK on its way back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckPacket {
    /// Cumulative acknowledgement: the next segment expected (low 32 bits).
    pub next: u32,
    /// The segment that triggered it (low 32 bits): what its first SACK block newly reports.
    pub trigger: u32,
    /// Segments up to and with `trigger` that it newly reports.
    pub run: u16,
    /// It echoes a congestion mark.
    pub marked: bool,
    /// What its SACK blocks repeat of ACKs that were lost on the way back: an entry of `LostAcks`.
    pub lost_acks: u32,
}

/// Segments that follow each other, as a SACK block reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackRun {
    /// The last of them (low 32 bits).
    pub last: u32,
    /// How many.
    pub count: u16,
}

/// What a segment says of congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// A queue has marked it (CE).
    pub marked: bool,
    /// It is the first since its sender has cut the window for a mark (CWR).
    pub cut: bool,
}

/// Segments out of order whose ACKs are never held back: what NewReno's threshold needs (Linux).
const FIRST_DUPLICATES: u8 = 3;
/// ACKs that go at once after a mark: the sender's window may be small (Linux).
const QUICK_AFTER_MARK: u16 = 2;
/// The longest that Linux delays an ACK.
const LONGEST_DELAY: Picos = 200 * MILLISECOND;

/// Why an ACK waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// For a second segment.
    Delayed,
    /// For more segments out of order.
    Compressed,
}

/// Receiver state of one flow. What every segment touches comes last.
#[derive(Default)]
#[repr(C)]
pub struct Receiver {
    /// When the ACK that is held back would reach its next place; `NEVER` where none is.
    due: Picos,
    /// The same after it has gone, until another segment comes.
    until: Picos,
    /// The ACK that is held back.
    held: AckPacket,
    /// How long a single segment's ACK waits (Linux's ato); 0 before the first segment.
    delay: Picos,
    /// When the last segment in order came.
    last: Picos,
    /// Propagation there and back: what the handshake measured.
    rtt: Picos,
    /// ACKs that still go at once.
    quick: u16,
    /// Duplicate ACKs since rcv_nxt last moved, as far as they are counted.
    duplicates: u8,
    /// Why an ACK is held back, or was until its time came.
    waits: Option<Held>,
    /// The last segment was marked.
    marked: bool,
    /// A mark has come since the sender last told of a cut.
    demands: bool,
    /// Each mark is echoed for itself (RFC 8257, section 3.2); else until a cut is told of (RFC 3168,
    /// section 6.1.3).
    echoes_each: bool,
    /// Next segment expected.
    pub rcv_nxt: u64,
    /// What has arrived beyond it.
    beyond: Reassembly,
}

impl Receiver {
    /// A receiver that has measured a round trip of `rtt` in the handshake, and has agreed there to echo
    /// each mark for itself, or not.
    pub fn new(rtt: Picos, echoes_each: bool) -> Self {
        Self { rtt, echoes_each, due: NEVER, ..Self::default() }
    }

    /// One for another connection over the same path.
    pub fn anew(&self) -> Self {
        Self::new(self.rtt, self.echoes_each)
    }

    /// A segment arrives at a receiver that answers each at once.
    #[inline(always)]
    pub fn answer(&mut self, seq: u64, marked: bool) -> AckPacket {
        self.arrive(seq);
        self.acknowledge(seq, marked)
    }

    /// A segment arrives; `at` is when an ACK sent at once reaches its next place. Gives that ACK, or
    /// none where it is held back. One that was held back, and cannot be one with it, goes first: it
    /// is handed to `send_first` with the time at which it gets there.
    #[inline(always)]
    pub fn on_segment<W: Way>(
        &mut self,
        seq: u64,
        at: Picos,
        signs: Signs,
        profile: &Profile,
        send_first: impl FnOnce(Picos, AckPacket),
    ) -> Option<AckPacket> {
        let Some(least) = profile.delayed_ack else {
            return Some(self.answer(seq, signs.marked));
        };
        let (marked, at_once) =
            if W::SIMPLE { (false, false) } else { self.take_signs(signs, least) };
        let expected = seq == self.rcv_nxt;
        let alike = W::SIMPLE || !self.echoes_each || self.held.marked == marked;
        let joins = alike && self.joins_held(seq, at);
        if !joins && self.due < NEVER {
            send_first(at.min(self.due), self.release());
        }
        let in_order = expected & !self.misses();
        self.arrive(seq);
        if expected {
            self.duplicates = 0;
            self.adapt(at, least, profile);
        }
        if in_order {
            self.delay_ack(seq, at, (marked, joins, at_once), least, profile)
        } else {
            self.answer_disorder::<W>(seq, at, (marked, joins), profile)
        }
    }

    /// Whether the ACK echoes a mark, and goes at once: where each mark is echoed and they begin or end,
    /// and for what tells of a cut (Linux, dctcp_ece_ack_update, tcp_ecn_accept_cwr).
    #[inline(never)]
    fn take_signs(&mut self, signs: Signs, least: Picos) -> (bool, bool) {
        let turns = self.echoes_each && signs.marked != self.marked;
        self.marked = signs.marked;
        self.demands &= !signs.cut;
        if signs.marked && !self.demands {
            self.demands = true;
            self.quick = self.quick.max(QUICK_AFTER_MARK);
            self.delay = self.delay.min(least);
        }
        (if self.echoes_each { signs.marked } else { self.demands }, signs.cut || turns)
    }

    /// When the ACK that is held back would reach its next place; `NEVER` where none is.
    #[inline(always)]
    pub fn holds_until(&self) -> Picos {
        self.due
    }

    /// The ACK that is held back goes: its time has come.
    pub fn release(&mut self) -> AckPacket {
        self.due = NEVER;
        self.held
    }

    /// RFC 1122, section 4.2.3.2 and RFC 5681, section 4.2: one ACK for two segments in order or
    /// after the delay. Where marks begin or end, the segments before are acknowledged on their own
    /// (RFC 8257, section 3.2).
    #[inline(always)]
    fn delay_ack(
        &mut self,
        seq: u64,
        at: Picos,
        (marked, joins, at_once): (bool, bool, bool),
        least: Picos,
        profile: &Profile,
    ) -> Option<AckPacket> {
        self.end_wait(at, joins, least);
        if joins || at_once || self.quick > 0 {
            self.spend_quick(least);
            return Some(self.acknowledge(seq, marked));
        }
        let wait = if profile.adaptive_ack_delay {
            self.delay.min(self.rtt.max(least)).min(LONGEST_DELAY)
        } else {
            least
        };
        self.hold(Held::Delayed, at + wait, seq, marked);
        None
    }

    /// RFC 5681, section 4.2: at once for anything out of order or that fills a gap; but ACKs of
    /// many segments out of order may wait a little for each other (Linux's SACK compression).
    #[inline(never)]
    fn answer_disorder<W: Way>(
        &mut self,
        seq: u64,
        at: Picos,
        (marked, joins): (bool, bool),
        profile: &Profile,
    ) -> Option<AckPacket> {
        let profile = W::profile(profile);
        if joins && self.waits == Some(Held::Compressed) {
            self.held.trigger = seq as u32;
            self.held.run += 1;
            return None;
        }
        let least = profile.delayed_ack.unwrap_or_default();
        self.end_wait(at, joins, least);
        let gap = self.misses() && seq >= self.rcv_nxt;
        match profile.sack_compression {
            Some(wait) if gap && self.quick == 0 && self.duplicates >= FIRST_DUPLICATES => {
                self.hold(Held::Compressed, at + wait.min(self.rtt / 20), seq, marked);
                None
            }
            _ => {
                self.duplicates = self.duplicates.saturating_add(1);
                self.spend_quick(least);
                Some(self.acknowledge(seq, marked))
            }
        }
    }

    #[inline(always)]
    fn hold(&mut self, held: Held, until: Picos, seq: u64, marked: bool) {
        self.waits = Some(held);
        (self.due, self.until) = (until, until);
        self.held = self.acknowledge(seq, marked);
    }

    /// Whether an ACK is held back that can be one with that of a segment that comes now: it waits
    /// for a second segment, or for such as follow the last that came out of order.
    #[inline(always)]
    fn joins_held(&self, seq: u64, at: Picos) -> bool {
        let in_time = self.due < NEVER && at <= self.until;
        in_time && (self.waits == Some(Held::Delayed) || self.follows_held(seq))
    }

    /// The segment is beyond the gap, next to the one whose ACK is held back and can count it.
    fn follows_held(&self, seq: u64) -> bool {
        let last = &self.held;
        last.run < u16::MAX
            && last.trigger.wrapping_add(1) == seq as u32
            && last.next == self.rcv_nxt as u32
            && seq != self.rcv_nxt
    }

    /// No ACK waits any longer: the one that did `joins` that of the segment that comes now, or has
    /// gone.
    #[inline(always)]
    fn end_wait(&mut self, at: Picos, joins: bool, least: Picos) {
        let waited = self.waits.take();
        self.due = NEVER;
        if !joins && waited == Some(Held::Delayed) && at > self.until {
            self.delay = (2 * self.delay).min(self.longest_gap()); // nobody came: wait longer
            self.spend_quick(least);
        }
    }

    #[inline(always)]
    fn spend_quick(&mut self, least: Picos) {
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = least;
            }
        }
    }

    /// Linux (tcp_event_data_recv): the delay follows the gaps between segments, and after a gap
    /// beyond any timeout the sender is taken to be in slow start. The delay is chosen without a
    /// branch: with small windows gaps are chance.
    #[inline]
    fn adapt(&mut self, at: Picos, least: Picos, profile: &Profile) {
        let gap = at.saturating_sub(self.last);
        self.last = at;
        if self.delay == 0 {
            self.delay = least;
            self.quick = quick_acks(profile);
            return;
        }
        if gap > self.longest_gap() {
            self.quick = self.quick.max(quick_acks(profile));
        }
        let closer = (self.delay / 2 + gap).min(self.longest_gap());
        let wider = select_unpredictable(gap < self.delay, closer, self.delay);
        let narrow = (self.delay + least) / 2;
        self.delay = select_unpredictable(gap <= least / 2, narrow, wider);
    }

    /// The receiver's own retransmission timeout after its handshake: it sends no data.
    fn longest_gap(&self) -> Picos {
        self.rtt + (2 * self.rtt).max(200 * MILLISECOND)
    }

    /// What it answers to a segment.
    #[inline(always)]
    fn acknowledge(&self, seq: u64, marked: bool) -> AckPacket {
        let (next, trigger) = (self.rcv_nxt as u32, seq as u32);
        AckPacket { next, trigger, run: 1, marked, lost_acks: NONE }
    }

    /// A segment below one that has arrived is missing.
    #[inline]
    fn misses(&self) -> bool {
        !self.beyond.is_empty()
    }

    #[inline(always)]
    fn arrive(&mut self, seq: u64) {
        self.rcv_nxt += self.beyond.insert(seq.wrapping_sub(self.rcv_nxt));
    }
}

/// ACKs that go at once when a flow begins, and after a long gap.
fn quick_acks(profile: &Profile) -> u16 {
    profile.quick_acks.min(u16::MAX.into()) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::profile::LINUX;
    use crate::way::Any;

    #[test]
    fn a_long_run_out_of_order_is_told_of_whole() {
        let mut receiver = Receiver::new(100 * MILLISECOND, false);
        let mut told = 0;
        for seq in 1..=200_000 {
            let first = |_, ack: AckPacket| told += u64::from(ack.run);
            let ack = receiver.on_segment::<Any>(seq, seq, Signs::default(), &LINUX, first);
            told += ack.map_or(0, |ack| u64::from(ack.run));
        }
        assert_eq!(told + u64::from(receiver.release().run), 200_000);
    }
}
