//! What a controller is told of an ACK, and what comes of that.

use super::profile::Profile;
use super::scoreboard::Scoreboard;
use super::sender::Sender;
use crate::cc::{
    Ack, Cc, CongestionEvent, Controller, IncreaseRule, Phase, PlainAck, RateSample, Window,
};
use crate::fast::flow_kind::{FlowKind, GeneralKind};
use crate::time::Picos;

/// What an ACK says, as far as it matters to every kind of recovery.
#[derive(Clone, Copy, Default)]
pub(super) struct AckSummary {
    /// Segments newly acknowledged or SACKed.
    pub delivered: u32,
    /// Segments newly judged lost.
    pub newly_lost: u32,
    /// Round-trip time measured of the last segment delivered, which waited for nothing.
    pub last_rtt: Option<Picos>,
    /// Delivery rate measured.
    pub rate: Option<RateSample>,
    /// It echoes a congestion mark.
    pub marked: bool,
}

impl Sender {
    /// Tells the controller; `grows` says whether the window may grow. `summary` is written down only
    /// for a controller that wants more than how much is acknowledged.
    #[inline(always)]
    pub(super) fn notify_cc<K: FlowKind>(
        &mut self,
        now: Picos,
        (delivered, marked): (u32, bool),
        grows: bool,
        profile: &Profile,
        summary: impl Fn() -> AckSummary,
    ) {
        if K::FOREIGN && self.cc.is_foreign() {
            return self.notify_foreign(now, summary(), grows, profile);
        }
        if K::CONTROLLED_CWND {
            return self.notify_controlled_cwnd(now, summary(), profile);
        }
        if K::FAST_PATH || !marked {
            let grows = grows && (K::NEWRENO_ONLY || self.may_grow::<K>(profile));
            let done = if grows {
                let (segments, increase_rule) =
                    (counted(delivered, profile), profile.increase_rule);
                let ack = PlainAck { now, segments, increase_rule, rtt: summary().last_rtt };
                self.cong_avoid_fast::<K>(ack)
            } else {
                K::NEWRENO_ONLY || !self.cc.needs_every_ack()
            };
            if done {
                return;
            }
        }
        self.notify_cc_slow(now, summary(), grows, profile);
    }

    /// The hook of that name: with the most common controller inlined.
    #[inline(always)]
    fn cong_avoid_fast<K: FlowKind>(&mut self, ack: PlainAck) -> bool {
        match &mut self.cc {
            Cc::Reno(cc) => cc.cong_avoid_fast(&mut self.window, ack),
            _ if K::NEWRENO_ONLY => false,
            cc => outlined(cc, &mut self.window, ack),
        }
    }

    /// Tells a controller that sets the window itself of an ACK: whether it may grow is of no matter to it.
    #[inline(always)]
    fn notify_controlled_cwnd(&mut self, now: Picos, summary: AckSummary, profile: &Profile) {
        let ack = self.cc_ack(now, summary, profile);
        self.cc.on_ack_received(&mut self.window, &ack);
        if ack.lost_flight.is_some() {
            self.forget_lost_flight();
        }
    }

    /// The controller has heard of it.
    #[cold]
    pub(super) fn forget_lost_flight(&mut self) {
        if let Some(board) = &mut self.scoreboard {
            board.forget_lost_flight();
        }
    }

    #[inline(never)]
    fn notify_cc_slow(&mut self, now: Picos, summary: AckSummary, grows: bool, profile: &Profile) {
        let ack = self.cc_ack(now, summary, profile);
        self.cc.on_ack_received(&mut self.window, &ack);
        if summary.marked && !self.cc.controls_cwnd() && !self.cc.l4s() {
            self.on_mark(now, profile);
        }
        if grows && self.may_grow::<GeneralKind>(profile) {
            self.cc.cong_avoid(&mut self.window, &ack);
        }
    }

    /// No mark holds the window, which is what holds the sender back, or the profile does not care.
    #[inline(always)]
    pub(super) fn may_grow<K: FlowKind>(&self, profile: &Profile) -> bool {
        let window = &self.window;
        let used = |board: &Scoreboard| {
            board.cwnd_limited.is_full()
                || board.cwnd_limited.may_grow(window.cwnd, window.in_slow_start())
        };
        (K::FAST_PATH || !self.in_cwr())
            && (!profile.validates_window || self.scoreboard.as_deref().is_none_or(used))
    }

    #[inline]
    pub(super) fn cc_ack(&self, now: Picos, summary: AckSummary, profile: &Profile) -> Ack {
        let (in_flight, delivered_total, lost_total, lost_flight) = match &self.scoreboard {
            Some(board) => {
                let delivered = board.delivered_total(self.snd_una);
                (board.in_flight().into(), delivered, board.lost_total(), board.lost_flight())
            }
            None => (self.snd_nxt - self.snd_una, self.snd_una, 0, None),
        };
        Ack {
            now,
            segments: counted(summary.delivered, profile),
            increase_rule: profile.increase_rule,
            rtt: summary.last_rtt,
            srtt: self.rtt.srtt,
            min_rtt: self.rtt.min_rtt,
            in_flight,
            snd_una: self.snd_una,
            snd_nxt: self.snd_max,
            delivered: summary.delivered.into(),
            delivered_total,
            newly_lost: summary.newly_lost.into(),
            lost_total,
            lost_flight,
            next_departure: self.paced_until,
            marked: if summary.marked { summary.delivered.into() } else { 0 },
            phase: self.phase,
            rate: summary.rate,
        }
    }

    /// RFC 3168, section 6.1.2: a mark reduces the window as a loss does, and none does again before
    /// something that is sent later is acknowledged. At once, or as PRR has it (Linux, tcp_enter_cwr).
    #[cold]
    pub(super) fn on_mark(&mut self, now: Picos, profile: &Profile) {
        if self.phase != Phase::Open || self.in_cwr() {
            return;
        }
        let before = self.window.cwnd;
        self.reduce_ssthresh(now, CongestionEvent::Mark, profile);
        self.cwr_end = self.snd_max + 1;
        match &mut self.scoreboard {
            Some(board) if profile.prr => {
                board.prr.begin(before as u32);
                board.probe.cancel();
            }
            _ => self.window.cwnd = self.window.ssthresh,
        }
    }

    /// The window yields to a mark, and neither grows nor is reduced again.
    #[inline(always)]
    pub(super) fn in_cwr(&self) -> bool {
        self.snd_una < self.cwr_end
    }
}

/// `Controller::cong_avoid_fast` of any controller.
#[inline(never)]
fn outlined(cc: &mut Cc, window: &mut Window, ack: PlainAck) -> bool {
    cc.cong_avoid_fast(window, ack)
}

/// Segments that count towards growth.
#[inline]
fn counted(delivered: u32, profile: &Profile) -> u32 {
    match profile.increase_rule {
        IncreaseRule::PerAck => 1,
        IncreaseRule::PerWindow => delivered,
    }
}
