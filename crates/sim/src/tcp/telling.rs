//! What a controller is told of an ACK, and what comes of that.

use super::profile::Profile;
use super::scoreboard::Scoreboard;
use super::sender::Sender;
use crate::cc::{Ack, Cause, Growth, Phase, RateSample};
use crate::time::Picos;
use crate::way::{Any, Way};

/// What an ACK says, as far as it matters to every kind of recovery.
#[derive(Clone, Copy, Default)]
pub(super) struct News {
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
    /// Tells the controller; `grows` says whether the window may grow. `news` is written down only
    /// for a controller that wants more than how much is acknowledged.
    #[inline(always)]
    pub(super) fn tell<W: Way>(
        &mut self,
        now: Picos,
        (delivered, marked): (u32, bool),
        grows: bool,
        profile: &Profile,
        news: impl FnOnce() -> News,
    ) {
        if W::SIMPLE || !marked {
            let grows = grows && (W::PLAIN || self.may_grow::<W>(profile));
            let segments = counted(delivered, profile);
            let done = if grows {
                self.cc.grow(&mut self.window, segments, profile.growth)
            } else {
                W::PLAIN || !self.cc.hears_all()
            };
            if done {
                return;
            }
        }
        self.tell_all(now, news(), grows, profile);
    }

    #[inline(never)]
    fn tell_all(&mut self, now: Picos, news: News, grows: bool, profile: &Profile) {
        let ack = self.describe(now, news, profile);
        self.cc.on_any_ack(&mut self.window, &ack);
        if news.marked && !self.cc.owns_window() {
            self.on_mark(now, profile);
        }
        if grows && self.may_grow::<Any>(profile) {
            self.cc.on_ack(&mut self.window, &ack);
        }
    }

    /// No mark holds the window, which is what holds the sender back, or the profile does not care.
    #[inline(always)]
    fn may_grow<W: Way>(&self, profile: &Profile) -> bool {
        let window = &self.window;
        let used = |board: &Scoreboard| {
            board.usage.is_full() || board.usage.may_grow(window.cwnd, window.in_slow_start())
        };
        (W::SIMPLE || !self.yields())
            && (!profile.validates_window || self.scoreboard.as_deref().is_none_or(used))
    }

    #[inline]
    pub(super) fn describe(&self, now: Picos, news: News, profile: &Profile) -> Ack {
        let (in_flight, delivered_total, lost_total) = match &self.scoreboard {
            Some(board) => {
                let delivered = board.delivered_total(self.snd_una);
                (board.in_flight().into(), delivered, board.lost_total())
            }
            None => (self.snd_nxt - self.snd_una, self.snd_una, 0),
        };
        Ack {
            now,
            segments: counted(news.delivered, profile),
            growth: profile.growth,
            rtt: news.last_rtt,
            srtt: self.rtt.srtt,
            min_rtt: self.rtt.min_rtt,
            in_flight,
            snd_una: self.snd_una,
            snd_nxt: self.snd_max,
            delivered: news.delivered.into(),
            delivered_total,
            newly_lost: news.newly_lost.into(),
            lost_total,
            marked: if news.marked { news.delivered.into() } else { 0 },
            phase: self.phase,
            rate: news.rate,
        }
    }

    /// RFC 3168, section 6.1.2: a mark cuts the window as a loss does, and none does again before
    /// something that is sent later is acknowledged. At once, or as PRR has it (Linux, tcp_enter_cwr).
    #[cold]
    fn on_mark(&mut self, now: Picos, profile: &Profile) {
        if self.phase != Phase::Open || self.yields() {
            return;
        }
        let before = self.window.cwnd;
        self.back_off(now, Cause::Mark, profile);
        self.marked_until = self.snd_max + 1;
        match &mut self.scoreboard {
            Some(board) if profile.prr => {
                board.prr.begin(before as u32);
                board.probe.cancel();
            }
            _ => self.window.cwnd = self.window.ssthresh,
        }
    }

    /// The window yields to a mark, and neither grows nor is cut again.
    #[inline(always)]
    pub(super) fn yields(&self) -> bool {
        self.snd_una < self.marked_until
    }
}

/// Segments that count towards growth.
#[inline]
fn counted(delivered: u32, profile: &Profile) -> u32 {
    match profile.growth {
        Growth::PerAck => 1,
        Growth::PerWindow => delivered,
    }
}
