//! What reaches a sender, or leaves it, under the way of recovering from loss that it has: with a scoreboard
//! `sack`, without one `newreno`.

use super::ack_packet::{AckPacket, SackRun};
use super::cc_feedback::AckSummary;
use super::profile::Profile;
use super::sender::{NOT_TIMED, Sender, Timer};
use super::sequence::unwrap_sequence;
use super::{newreno, sack};
use crate::cc::{CongestionEvent, Controller, Phase};
use crate::fast::flow_kind::FlowKind;
use crate::time::{NEVER, Picos};

impl Sender {
    /// An ACK arrives, and repeats what `lost` ones reported. Gives the round-trip time where it
    /// measures one.
    #[inline(always)]
    pub fn on_ack<K: FlowKind>(
        &mut self,
        now: Picos,
        ack: AckPacket,
        lost: &[SackRun],
        profile: &Profile,
    ) -> Option<Picos> {
        let next = unwrap_sequence(self.snd_una, ack.next);
        if !K::FAST_PATH && ack.dsack {
            self.note_dsack();
        }
        if K::NEWRENO_ONLY {
            newreno::on_ack::<K>(self, now, next, false, profile)
        } else if K::SACK_ONLY || self.scoreboard.is_some() {
            let sacked_last = unwrap_sequence(self.snd_una, ack.sacked_last);
            let marked = ack.marked && !K::SACK_ONLY;
            let lost = if K::SACK_ONLY { &[] } else { lost };
            sack::on_ack::<K>(
                self,
                now,
                next,
                (sacked_last, ack.sacked_count, lost),
                marked,
                profile,
            )
        } else {
            newreno::on_ack::<K>(self, now, next, ack.marked, profile)
        }
    }

    /// An ACK reports a segment that had arrived before; of a probe it says nothing (Linux, FLAG_DSACK_TLP).
    #[cold]
    fn note_dsack(&mut self) {
        let Some(board) = &mut self.scoreboard else { return };
        let of_probe = !board.probe.is_idle() && board.probe.is_retrans;
        if let Some(state) = board.reordering_mut().filter(|_| !of_probe) {
            state.dsack = true;
        }
    }

    /// How many segments may go now.
    #[inline]
    pub fn sendable_segments<K: FlowKind>(&self, profile: &Profile) -> u64 {
        match &self.scoreboard {
            _ if K::NEWRENO_ONLY => newreno::sendable_segments::<K>(self, profile),
            Some(board) => sack::sendable_segments(self, board, profile),
            None if K::SACK_ONLY => 0,
            None => newreno::sendable_segments::<K>(self, profile),
        }
    }

    /// The next of the segments that `sendable_segments` lets go.
    #[inline(always)]
    pub fn next_segment<K: FlowKind>(&mut self, now: Picos) -> u64 {
        if K::FOREIGN && self.cc.is_foreign() {
            self.foreign_sends(now);
        }
        if let Some(rate) = self.window.pacing_rate.filter(|_| K::PACED) {
            self.pace(now, rate, 1);
        }
        if self.timer_at == NEVER {
            self.timer = Timer::Rto;
            self.timer_at = now + self.rtt.rto() + self.pacing_delay::<K>(now);
        }
        if K::SACK_ONLY || (!K::NEWRENO_ONLY && self.scoreboard.is_some()) {
            sack::next_segment::<K>(self, now)
        } else {
            newreno::next_segment::<K>(self, now)
        }
    }

    /// The next `count` of them, which go as one burst: the first, where all are new and a timer runs already. Else `None`, and nothing has
    /// been done. The pacer then holds for as long as all of them take.
    #[inline(always)]
    pub fn next_segments<K: FlowKind>(&mut self, now: Picos, count: u32) -> Option<u64> {
        if !K::SACK_ONLY || K::FOREIGN || self.timer_at == NEVER {
            return None;
        }
        let first = sack::next_segments::<K>(self, now, count)?;
        if let Some(rate) = self.window.pacing_rate.filter(|_| K::PACED) {
            self.pace(now, rate, count);
        }
        Some(first)
    }

    /// The timer that runs has expired.
    pub fn on_timer(&mut self, now: Picos, profile: &Profile) {
        match self.timer {
            Timer::Rto => self.on_timeout(now, profile),
            Timer::Probe => sack::on_probe_timer(self, now, profile),
            Timer::Reordering => sack::on_reordering_timer(self, now, profile),
        }
    }

    /// RFC 6298, rules 5.4 to 5.6; RFC 5681, section 3.1: a segment that has timed out before reduces no
    /// more.
    fn on_timeout(&mut self, now: Picos, profile: &Profile) {
        self.timeouts += 1;
        self.rtt.back_off();
        self.timer_at = now + self.rtt.rto();
        self.timed = NOT_TIMED;
        let repeated = self.phase == Phase::Loss && !self.progressed;
        let in_recovery = self.phase == Phase::Recovery && self.snd_una < self.recover;
        let reduces = in_recovery || (self.in_cwr() && profile.prr);
        if !(repeated || (reduces && !profile.timeout_reduces_again)) {
            self.reduce_ssthresh(now, CongestionEvent::Timeout, profile);
        }
        let fresh = repeated || (self.phase == Phase::Open && !reduces);
        self.cwr_end = 0;
        self.cc.on_timeout(&mut self.window, now);
        self.phase = Phase::Loss;
        self.progressed = false;
        self.recover = self.snd_max;
        if self.scoreboard.is_some() {
            sack::on_timeout(self, now, profile.f_rto && fresh, profile);
        } else {
            self.window.cwnd = 1.0;
            newreno::on_timeout(self);
        }
        if self.cc.needs_every_ack() {
            let ack = self.cc_ack(now, AckSummary::default(), profile);
            match self.cc.is_foreign() {
                false => self.cc.on_loss_state(&mut self.window, &ack),
                true => self.foreign_lost(&ack, profile),
            }
            self.forget_lost_flight();
        }
    }
}
