//! What a controller from outside is told of an ACK, and of what is sent.

use super::cc_feedback::AckSummary;
use super::profile::Profile;
use super::sender::Sender;
use crate::cc::foreign::{Details, FinePhase};
use crate::cc::{Ack, Cc, Phase};
use crate::fast::flow_kind::GeneralKind;
use crate::time::Picos;

impl Sender {
    /// As `notify_cc` does, for a controller from outside.
    #[cold]
    #[inline(never)]
    pub(super) fn notify_foreign(
        &mut self,
        now: Picos,
        summary: AckSummary,
        grows: bool,
        profile: &Profile,
    ) {
        let ack = self.cc_ack(now, summary, profile);
        let details = self.details(grows && !self.in_cwr(), profile);
        let Cc::Foreign(cc) = &mut self.cc else { return };
        let wants = cc.wants;
        cc.on_ack(&mut self.window, &ack, &details);
        if ack.lost_flight.is_some() {
            self.forget_lost_flight();
        }
        if wants.controls_cwnd {
            return;
        }
        if summary.marked && !wants.l4s {
            self.on_mark(now, profile);
        }
        let grows = grows && !self.in_cwr();
        if let Cc::Foreign(cc) = &mut self.cc
            && grows
            && (wants.unlimited || details.room)
        {
            cc.on_growth(&mut self.window, &ack, &details);
        }
    }

    /// The retransmission timer expired, and what was outstanding is judged lost.
    pub(super) fn foreign_lost(&mut self, ack: &Ack, profile: &Profile) {
        let details = self.details(false, profile);
        if let Cc::Foreign(cc) = &mut self.cc {
            cc.on_loss(&mut self.window, ack, &details);
        }
    }

    /// A segment is about to be sent.
    #[cold]
    #[inline(never)]
    pub(super) fn foreign_sends(&mut self, now: Picos) {
        let idle = match &self.scoreboard {
            Some(board) => board.in_flight() == 0,
            None => self.snd_nxt == self.snd_una,
        };
        if let Cc::Foreign(cc) = &mut self.cc {
            cc.sends(&mut self.window, now, idle);
        }
    }

    /// A connection is about to send for the first time: the controller may set window and pace.
    #[inline]
    pub fn begin(&mut self, now: Picos) {
        if let Cc::Foreign(cc) = &mut self.cc {
            cc.begin(&mut self.window, now);
        }
    }

    fn details(&self, grows: bool, profile: &Profile) -> Details {
        let board = self.scoreboard.as_deref();
        let count = |of: fn(&super::scoreboard::Scoreboard) -> u32| board.map_or(0, of);
        let sacked_out = count(|board| board.sacked);
        let max_packets_out = count(|board| board.cwnd_limited.max_packets_out());
        Details {
            phase: match self.phase {
                Phase::Loss => FinePhase::Loss,
                Phase::Recovery => FinePhase::Recovery,
                Phase::Open if self.in_cwr() => FinePhase::Cwr,
                Phase::Open if sacked_out > 0 || self.dupacks > 0 => FinePhase::Disorder,
                Phase::Open => FinePhase::Open,
            },
            packets_out: (self.snd_nxt - self.snd_una) as u32,
            sacked_out,
            lost_out: count(|board| board.lost),
            retrans_out: count(|board| board.retrans_out),
            prior_in_flight: match &self.cc {
                Cc::Foreign(cc) => cc.prior_in_flight,
                _ => 0,
            },
            max_packets_out,
            cwnd_limited: !profile.validates_window
                || board.is_none_or(|board| board.cwnd_limited.is_full()),
            grows,
            room: self.may_grow::<GeneralKind>(profile),
            prior_cwnd_ssthresh: self.prior_cwnd_ssthresh,
        }
    }
}
