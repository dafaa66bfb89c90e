//! The receiver. Packets reach it in the order in which the last queue sends them, so its state is
//! advanced as soon as that order is known, and each ACK is put on the way back with its time, or
//! held until another segment comes or its time has come.

mod in_runs;

use super::ack_packet::{AckPacket, EcnFlags, NO_LOST_ACKS};
use super::profile::Profile;
use super::reassembly::Reassembly;
use crate::fast::flow_kind::FlowKind;
use crate::time::{MILLISECOND, NEVER, Picos};
use prefetch_index::prefetch_index;
use std::hint::select_unpredictable;
use std::slice::from_ref;

/// Segments out of order whose ACKs are never held back: what NewReno's threshold needs (Linux).
const FIRST_DUPLICATES: u8 = 3;
/// ACKs that go at once after a mark: the sender's window may be small (Linux).
const QUICK_AFTER_MARK: u16 = 2;
/// The longest that Linux delays an ACK.
const LONGEST_DELAY: Picos = 200 * MILLISECOND;

/// Why an ACK waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PendingAck {
    /// For a second segment.
    Delayed,
    /// For more segments out of order.
    Compressed,
}

/// Receiver state of one flow. What every segment touches comes first.
#[derive(Default)]
#[repr(C)]
pub struct Receiver {
    /// Next segment expected.
    pub rcv_nxt: u64,
    /// What has arrived beyond it.
    out_of_order: Reassembly,
    /// When the ACK that is held back would reach its next place; `NEVER` where none is.
    pending_at: Picos,
    /// The same after it has gone, until another segment comes.
    pending_until: Picos,
    /// The ACK that is held back.
    pending_ack: AckPacket,
    /// How long a single segment's ACK waits (Linux's ato); 0 before the first segment.
    ato: Picos,
    /// When the last segment in order came.
    last: Picos,
    /// Propagation there and back: what the handshake measured.
    rtt: Picos,
    /// ACKs that still go at once.
    quickacks_left: u16,
    /// Duplicate ACKs since rcv_nxt last moved, as far as they are counted.
    duplicates: u8,
    /// Why an ACK is held back, or was until its time came.
    pending_kind: Option<PendingAck>,
    /// The last segment was marked.
    marked: bool,
    /// A mark has come since the sender last told of a reduction.
    ece_latched: bool,
    /// Each mark is echoed for itself (RFC 8257, section 3.2); else until a reduction is told of (RFC 3168,
    /// section 6.1.3).
    per_packet_echo: bool,
}

impl Receiver {
    /// The bytes at its beginning that every segment touches.
    #[cfg(test)]
    pub(crate) const HOT_BYTES: usize = size_of::<u64>() + size_of::<Reassembly>();

    /// A receiver that has measured a round trip of `rtt` in the handshake, and has agreed there to echo
    /// each mark for itself, or not.
    pub fn new(rtt: Picos, per_packet_echo: bool) -> Self {
        Self { rtt, per_packet_echo, pending_at: NEVER, ..Self::default() }
    }

    /// Calls what segments touch where ACKs are delayed into the cache.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch_index(from_ref(&self.pending_at), 0);
    }

    /// One for another connection over the same path.
    pub fn for_next_connection(&self) -> Self {
        Self::new(self.rtt, self.per_packet_echo)
    }

    /// A segment arrives at a receiver that answers each at once.
    #[inline(always)]
    pub fn ack_every_segment(&mut self, seq: u64, marked: bool) -> AckPacket {
        self.arrive(seq);
        self.acknowledge(seq, marked)
    }

    /// A segment arrives; `at` is when an ACK sent at once reaches its next place. Gives that ACK, or
    /// none where it is held back. One that was held back, and cannot be one with it, goes first: it
    /// is handed to `send_first` with the time at which it gets there.
    #[inline(always)]
    pub fn on_segment<K: FlowKind>(
        &mut self,
        seq: u64,
        at: Picos,
        ecn: EcnFlags,
        profile: &Profile,
        send_first: impl FnOnce(Picos, AckPacket),
    ) -> Option<AckPacket> {
        let Some(min_ato) = profile.delayed_ack else {
            return Some(self.ack_every_segment(seq, ecn.ce));
        };
        let (marked, immediate) =
            if K::FAST_PATH { (false, false) } else { self.update_ece(ecn, min_ato) };
        let expected = seq == self.rcv_nxt;
        let alike = K::FAST_PATH || !self.per_packet_echo || self.pending_ack.marked == marked;
        let coalesced = alike && self.coalesces(seq, at);
        if !coalesced && self.pending_at < NEVER {
            send_first(at.min(self.pending_at), self.release());
        }
        let in_order = expected & !self.has_gap();
        let known = !K::FAST_PATH && !expected && self.has(seq);
        self.arrive(seq);
        if expected {
            self.duplicates = 0;
            self.update_ato(at, min_ato, profile);
        }
        if in_order {
            self.delay_ack(seq, at, (marked, coalesced, immediate), min_ato, profile)
        } else {
            let ack = self.ack_out_of_order::<K>(seq, at, (marked, coalesced), profile);
            ack.map(|ack| AckPacket { dsack: known, ..ack })
        }
    }

    /// Whether the ACK echoes a mark, and goes at once: where each mark is echoed and they begin or end,
    /// and for what tells of a reduction (Linux, dctcp_ece_ack_update, tcp_ecn_accept_cwr).
    #[inline(always)]
    fn update_ece(&mut self, ecn: EcnFlags, min_ato: Picos) -> (bool, bool) {
        if ecn == EcnFlags::default() && !self.ece_latched && !self.marked {
            return (false, false);
        }
        self.update_ece_after_mark(ecn, min_ato)
    }

    #[inline(never)]
    fn update_ece_after_mark(&mut self, ecn: EcnFlags, min_ato: Picos) -> (bool, bool) {
        let turns = self.per_packet_echo && ecn.ce != self.marked;
        self.marked = ecn.ce;
        self.ece_latched &= !ecn.cwr;
        if ecn.ce && !self.ece_latched {
            self.ece_latched = true;
            self.quickacks_left = self.quickacks_left.max(QUICK_AFTER_MARK);
            self.ato = self.ato.min(min_ato);
        }
        (if self.per_packet_echo { ecn.ce } else { self.ece_latched }, ecn.cwr || turns)
    }

    /// When the ACK that is held back would reach its next place; `NEVER` where none is.
    #[inline(always)]
    pub fn delack_deadline(&self) -> Picos {
        self.pending_at
    }

    /// The ACK that is held back goes: its time has come.
    pub fn release(&mut self) -> AckPacket {
        self.pending_at = NEVER;
        self.pending_ack
    }

    /// RFC 1122, section 4.2.3.2 and RFC 5681, section 4.2: one ACK for two segments in order or
    /// after the delay. Where marks begin or end, the segments before are acknowledged on their own
    /// (RFC 8257, section 3.2).
    #[inline(always)]
    fn delay_ack(
        &mut self,
        seq: u64,
        at: Picos,
        (marked, coalesced, immediate): (bool, bool, bool),
        min_ato: Picos,
        profile: &Profile,
    ) -> Option<AckPacket> {
        self.clear_pending(at, coalesced, min_ato);
        if coalesced || immediate || self.quickacks_left > 0 {
            self.spend_quickack(min_ato);
            return Some(self.acknowledge(seq, marked));
        }
        self.hold_ack(PendingAck::Delayed, at + self.ack_wait(min_ato, profile), seq, marked);
        None
    }

    /// RFC 5681, section 4.2: at once for anything out of order or that fills a gap; but ACKs of
    /// many segments out of order may wait a little for each other (Linux's SACK compression).
    #[inline(never)]
    fn ack_out_of_order<K: FlowKind>(
        &mut self,
        seq: u64,
        at: Picos,
        (marked, coalesced): (bool, bool),
        profile: &Profile,
    ) -> Option<AckPacket> {
        let profile = K::profile(profile);
        if coalesced && self.pending_kind == Some(PendingAck::Compressed) {
            self.pending_ack.sacked_last = seq as u32;
            self.pending_ack.sacked_count += 1;
            return None;
        }
        let min_ato = profile.delayed_ack.unwrap_or_default();
        self.clear_pending(at, coalesced, min_ato);
        let gap = self.has_gap() && seq >= self.rcv_nxt;
        match profile.sack_compression {
            Some(wait)
                if gap && self.quickacks_left == 0 && self.duplicates >= FIRST_DUPLICATES =>
            {
                self.hold_ack(PendingAck::Compressed, at + wait.min(self.rtt / 20), seq, marked);
                None
            }
            _ => {
                self.duplicates = self.duplicates.saturating_add(1);
                self.spend_quickack(min_ato);
                Some(self.acknowledge(seq, marked))
            }
        }
    }

    #[inline(always)]
    fn hold_ack(&mut self, pending_ack: PendingAck, pending_until: Picos, seq: u64, marked: bool) {
        self.pending_kind = Some(pending_ack);
        (self.pending_at, self.pending_until) = (pending_until, pending_until);
        self.pending_ack = self.acknowledge(seq, marked);
    }

    /// Whether an ACK is held back that can be one with that of a segment that comes now: it waits
    /// for a second segment, or for such as follow the last that came out of order.
    #[inline(always)]
    fn coalesces(&self, seq: u64, at: Picos) -> bool {
        let in_time = self.pending_at < NEVER && at <= self.pending_until;
        in_time && (self.pending_kind == Some(PendingAck::Delayed) || self.follows_pending(seq))
    }

    /// The segment is beyond the gap, next to the one whose ACK is held back and can count it.
    fn follows_pending(&self, seq: u64) -> bool {
        let last = &self.pending_ack;
        last.sacked_count < u16::MAX
            && last.sacked_last.wrapping_add(1) == seq as u32
            && last.next == self.rcv_nxt as u32
            && seq != self.rcv_nxt
    }

    /// No ACK waits any longer: the one that did `coalesced` that of the segment that comes now, or has
    /// gone.
    #[inline(always)]
    fn clear_pending(&mut self, at: Picos, coalesced: bool, min_ato: Picos) {
        let waited = self.pending_kind.take();
        self.pending_at = NEVER;
        if !coalesced && waited == Some(PendingAck::Delayed) && at > self.pending_until {
            self.ato = (2 * self.ato).min(self.longest_gap()); // nobody came: wait longer
            self.spend_quickack(min_ato);
        }
    }

    #[inline(always)]
    fn spend_quickack(&mut self, min_ato: Picos) {
        if self.quickacks_left > 0 {
            self.quickacks_left -= 1;
            if self.quickacks_left == 0 {
                self.ato = min_ato;
            }
        }
    }

    /// Linux (tcp_event_data_recv): the delay follows the gaps between segments, and after a gap
    /// beyond any timeout the sender is taken to be in slow start. The delay is chosen without a
    /// branch: with small windows gaps are chance.
    #[inline]
    fn update_ato(&mut self, at: Picos, min_ato: Picos, profile: &Profile) {
        let gap = at.saturating_sub(self.last);
        self.last = at;
        if self.ato == 0 {
            self.ato = min_ato;
            self.quickacks_left = quick_acks(profile);
            return;
        }
        if gap > self.longest_gap() {
            self.quickacks_left = self.quickacks_left.max(quick_acks(profile));
        }
        let closer = (self.ato / 2 + gap).min(self.longest_gap());
        let wider = select_unpredictable(gap < self.ato, closer, self.ato);
        let narrow = (self.ato + min_ato) / 2;
        self.ato = select_unpredictable(gap <= min_ato / 2, narrow, wider);
    }

    /// The receiver's own retransmission timeout after its handshake: it sends no data.
    fn longest_gap(&self) -> Picos {
        self.rtt + (2 * self.rtt).max(200 * MILLISECOND)
    }

    /// What it answers to a segment.
    #[inline(always)]
    fn acknowledge(&self, seq: u64, marked: bool) -> AckPacket {
        let (next, sacked_last) = (self.rcv_nxt as u32, seq as u32);
        let (sacked_count, carried_lost_acks) = (1, NO_LOST_ACKS);
        AckPacket { next, sacked_last, sacked_count, marked, dsack: false, carried_lost_acks }
    }

    /// A segment that is not the one expected has arrived before.
    fn has(&self, seq: u64) -> bool {
        seq < self.rcv_nxt || self.out_of_order.contains(seq - self.rcv_nxt)
    }

    /// A segment below one that has arrived is missing.
    #[inline]
    fn has_gap(&self) -> bool {
        !self.out_of_order.is_empty()
    }

    #[inline(always)]
    fn arrive(&mut self, seq: u64) {
        self.rcv_nxt += self.out_of_order.insert(seq.wrapping_sub(self.rcv_nxt));
    }
}

/// ACKs that go at once when a flow begins, and after a long gap.
fn quick_acks(profile: &Profile) -> u16 {
    profile.quick_acks.min(u16::MAX.into()) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast::flow_kind::GeneralKind;
    use crate::tcp::profile::LINUX;

    #[test]
    fn a_long_run_out_of_order_is_told_of_whole() {
        let mut receiver = Receiver::new(100 * MILLISECOND, false);
        let mut told = 0;
        for seq in 1..=200_000 {
            let first = |_, ack: AckPacket| told += u64::from(ack.sacked_count);
            let ack =
                receiver.on_segment::<GeneralKind>(seq, seq, EcnFlags::default(), &LINUX, first);
            told += ack.map_or(0, |ack| u64::from(ack.sacked_count));
        }
        assert_eq!(told + u64::from(receiver.release().sacked_count), 200_000);
    }
}
