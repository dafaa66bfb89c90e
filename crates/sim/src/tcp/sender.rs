//! The sender: what is common to every way of recovering from loss.

use super::profile::Profile;
use super::receiver::Ack;
use super::rtt::RttEstimator;
use super::sack::Scoreboard;
use super::{newreno, sack};
use crate::cc::{Acked, Cc, Controller, Growth, Window};
use crate::time::{NEVER, Picos};

/// Where a sender stands with its losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss is being repaired.
    Open,
    /// Fast recovery (RFC 6582, RFC 6675).
    Recovery,
    /// After a retransmission timeout, until everything then outstanding is acknowledged.
    Loss,
}

/// Sender state of one flow.
pub struct Sender {
    /// Oldest segment not acknowledged.
    pub snd_una: u64,
    /// Next segment to send.
    pub snd_nxt: u64,
    /// One past the highest segment ever sent.
    pub snd_max: u64,
    /// One past the last segment that the application has to send.
    pub end: u64,
    /// Congestion window and threshold.
    pub window: Window,
    /// The controller of that window.
    pub cc: Cc,
    /// Round-trip estimate.
    pub rtt: RttEstimator,
    /// See `Phase`.
    pub phase: Phase,
    /// One past the highest segment sent when the loss was noticed.
    pub recover: u64,
    /// Duplicate ACKs in a row.
    pub dupacks: u32,
    /// RFC 6582: segments that have left the network beyond the cumulative ACK.
    pub inflation: u32,
    /// RFC 6582: a partial ACK has been seen in this recovery.
    pub partial_seen: bool,
    /// Segments that the ACK in hand may still let go.
    pub burst_left: u32,
    /// The first unacknowledged segment has to be sent again at once.
    pub resend_first: bool,
    /// With SACK, what is known of each outstanding segment.
    pub scoreboard: Option<Box<Scoreboard>>,
    /// The segment being timed and when it was sent (Karn), where ACKs carry no timestamps.
    pub timed: Option<(u64, Picos)>,
    /// When the retransmission timer expires.
    pub rto_at: Picos,
    /// Retransmission timeouts so far.
    pub timeouts: u64,
    /// Segments sent again so far.
    pub retransmissions: u64,
}

impl Sender {
    /// A sender of `segments` segments that has sent nothing yet.
    pub fn new(cc: Cc, segments: u64, profile: &Profile) -> Self {
        Self {
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            end: segments,
            window: Window {
                cwnd: f64::from(profile.initial_window),
                ssthresh: f64::INFINITY,
            },
            cc,
            rtt: RttEstimator::new(),
            phase: Phase::Open,
            recover: 0,
            dupacks: 0,
            inflation: 0,
            partial_seen: false,
            burst_left: u32::MAX,
            resend_first: false,
            scoreboard: profile.sack.then(Box::default),
            timed: None,
            rto_at: NEVER,
            timeouts: 0,
            retransmissions: 0,
        }
    }

    /// An ACK arrives. Gives the round-trip time where it measures one.
    #[inline]
    pub fn on_ack(&mut self, now: Picos, ack: Ack, profile: &Profile) -> Option<Picos> {
        let next = unwrap_sequence(self.snd_una, ack.next);
        if self.scoreboard.is_some() {
            let trigger = unwrap_sequence(self.snd_una, ack.trigger);
            sack::on_ack(self, now, next, trigger, profile)
        } else {
            newreno::on_ack(self, now, next, profile)
        }
    }

    /// The next segment that the window lets go now, if any; call until it gives none.
    #[inline]
    pub fn next_segment(&mut self, now: Picos, profile: &Profile) -> Option<u64> {
        let seq = if self.scoreboard.is_some() {
            sack::next_segment(self, now, profile)?
        } else {
            newreno::next_segment(self, now, profile)?
        };
        if self.rto_at == NEVER {
            self.rto_at = now + self.rtt.rto();
        }
        Some(seq)
    }

    /// The retransmission timer expired (RFC 6298, rules 5.4 to 5.6; RFC 5681, section 3.1).
    pub fn on_timeout(&mut self, now: Picos, profile: &Profile) {
        self.timeouts += 1;
        self.rtt.back_off();
        self.rto_at = now + self.rtt.rto();
        self.timed = None;
        if self.phase != Phase::Loss || self.snd_una >= self.recover {
            self.back_off_threshold(profile);
        }
        self.window.cwnd = 1.0;
        self.cc.on_timeout();
        self.phase = Phase::Loss;
        self.recover = self.snd_max;
        if self.scoreboard.is_some() {
            sack::on_timeout(self);
        } else {
            newreno::on_timeout(self);
        }
    }

    /// Sets ssthresh after a loss; a stack that counts whole segments (Linux) rounds it down.
    pub(super) fn back_off_threshold(&mut self, profile: &Profile) {
        let ssthresh = self.cc.ssthresh(&self.window);
        self.window.ssthresh = match profile.growth {
            Growth::PerAck => ssthresh,
            Growth::PerWindow => ssthresh.floor(),
        };
    }

    /// RFC 6298, rules 5.2 and 5.3.
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Picos) {
        self.rto_at = if self.snd_una < self.snd_max {
            now + self.rtt.rto()
        } else {
            NEVER
        };
    }

    /// Lets the controller grow the window for `segments` newly acknowledged ones.
    #[inline]
    pub(super) fn grow(&mut self, segments: u64, profile: &Profile) {
        let counted = match profile.growth {
            Growth::PerAck => 1,
            Growth::PerWindow => segments as u32,
        };
        self.cc.on_ack(
            &mut self.window,
            Acked {
                segments: counted,
                growth: profile.growth,
            },
        );
    }

    /// Whether new data may go: the application has some and the receiver's window holds it.
    #[inline]
    pub(super) fn may_send_new(&self, profile: &Profile) -> bool {
        self.snd_nxt < self.end && self.snd_nxt - self.snd_una < u64::from(profile.max_window)
    }
}

/// The full number nearest to `base` whose low 32 bits are `low`.
#[inline]
fn unwrap_sequence(base: u64, low: u32) -> u64 {
    base.wrapping_add_signed(i64::from(low.wrapping_sub(base as u32).cast_signed()))
}
