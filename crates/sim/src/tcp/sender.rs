//! The sender's state, and what is common to every way of recovering from loss.

use super::pacer::Pacer;
use super::profile::Profile;
use super::receive_window::{self, ReceiveWindow, UNSCALED};
use super::reordering_state::Reordering;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::send_times::SendTimes;
use crate::cc::{Cc, CongestionEvent, Controller, IncreaseRule, Phase, Window};
use crate::fast::flow_kind::FlowKind;
use crate::time::{MILLISECOND, NEVER, Picos, SECOND};

/// No segment is being timed.
pub const NOT_TIMED: (u64, Picos) = (u64::MAX, NEVER);

/// Sender state of one flow. What every ACK without SACK touches comes first, two lines of the cache:
/// with thousands of flows it is the memory that a packet waits for.
#[repr(C)]
pub struct Sender {
    /// Oldest segment not acknowledged.
    pub snd_una: u64,
    /// Next segment to send.
    pub snd_nxt: u64,
    /// One past the highest segment ever sent.
    pub snd_max: u64,
    /// One past the last segment that the application has to send.
    pub app_limit: u64,
    /// What the controller steers.
    pub window: Window,
    /// The controller.
    pub cc: Cc,
    /// When the timer expires; `NEVER` where none runs.
    pub timer_at: Picos,
    /// The segment being timed and when it was sent (Karn), where ACKs carry no timestamps;
    /// `NOT_TIMED` where none is.
    pub timed: (u64, Picos),
    /// RFC 6582: segments that have left the network beyond the cumulative ACK.
    pub inflation: u32,
    /// Segments that the ACK in hand may still let go.
    pub burst_left: u32,
    /// Duplicate ACKs in a row.
    pub dupacks: u32,
    /// See `Phase`.
    pub phase: Phase,
    /// Which timer runs.
    pub timer: Timer,
    /// Something has been acknowledged since this recovery, or the repair after a timeout, began.
    pub progressed: bool,
    /// The first unacknowledged segment has to be retransmitted at once.
    pub retransmit_first: bool,
    /// Round-trip estimate; the timeout comes first.
    pub rtt: RttEstimator,
    /// With SACK, what is known of each outstanding segment.
    pub scoreboard: Option<Box<Scoreboard>>,
    /// Segments beyond `snd_una` that the receiver has room for; `u32::MAX` where it is not asked.
    pub receive_window: u32,
    /// Retransmissions so far.
    pub retransmissions: u32,
    /// One past the highest segment sent when the loss was noticed.
    pub recover: u64,
    /// The window yields to a mark until this is acknowledged.
    pub cwr_end: u64,
    /// A paced sender sends nothing before this; 0 where it has not paced yet, or never does.
    pub paced_until: Picos,
    /// Window and threshold before the last reduction.
    pub prior_cwnd_ssthresh: (f64, f64),
    /// Retransmission timeouts so far.
    pub timeouts: u32,
    /// Reductions of the window so far: each loss episode, mark and timeout once.
    pub reductions: u32,
    /// Without a scoreboard, for a controller that wants the round trip of every ACK.
    pub send_times: Option<Box<SendTimes>>,
}

/// A sender has one timer, for whichever of these is due first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Retransmission (RFC 6298).
    Rto,
    /// Tail loss probe (RFC 8985, section 7).
    Probe,
    /// What may still arrive out of order (RFC 8985, section 6.3).
    Reordering,
}

impl Sender {
    /// A sender of `segments` segments that has sent nothing yet.
    pub fn new(cc: Cc, segments: u64, profile: &Profile) -> Self {
        let scoreboard = (profile.sack || cc.paced()).then(|| Box::new(Scoreboard::new(&cc)));
        let timed_apart = scoreboard.is_none() && cc.needs_every_ack();
        let cwnd = f64::from(profile.initial_window);
        Self {
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            app_limit: segments,
            window: Window { cwnd, ssthresh: f64::INFINITY, pacing_rate: None },
            cc,
            rtt: RttEstimator::default(),
            phase: Phase::Open,
            recover: 0,
            cwr_end: 0,
            dupacks: 0,
            inflation: 0,
            burst_left: u32::MAX,
            progressed: false,
            retransmit_first: false,
            scoreboard,
            timed: NOT_TIMED,
            timer: Timer::Rto,
            timer_at: NEVER,
            prior_cwnd_ssthresh: (cwnd, f64::INFINITY),
            paced_until: 0,
            timeouts: 0,
            retransmissions: 0,
            reductions: 0,
            send_times: timed_apart.then(Box::default),
            receive_window: if profile.tunes_window() { UNSCALED } else { u32::MAX },
        }
    }

    /// The same with segments of so many bytes: what the controller and the receiver count in bytes follows.
    pub fn with_segments_of(mut self, bytes: u32) -> Self {
        self.cc.set_segment_bytes(bytes);
        if self.receive_window != u32::MAX {
            self.receive_window = receive_window::unscaled(bytes);
        }
        if let Some(board) = &mut self.scoreboard {
            board.receive_window = ReceiveWindow::new(bytes);
        }
        self
    }

    /// Whether its controller asks for no ACKs but those of new data.
    pub fn ignores_dupacks(&self) -> bool {
        !self.cc.needs_every_ack()
    }

    /// Its numbers are in order, and its window is one; for assertions.
    pub fn invariants_hold(&self) -> bool {
        let numbers = [self.snd_una, self.snd_nxt, self.snd_max, self.app_limit];
        numbers.is_sorted() && self.window.cwnd.is_finite() && self.window.cwnd >= 1.0
    }

    /// Whether its controller neither paces nor asks for delivery rates.
    pub fn is_ack_clocked(&self) -> bool {
        !self.cc.controls_cwnd() && !self.cc.paced()
    }

    /// Whether its controller asks for delivery rates, and sets the window itself on every ACK.
    pub fn controls_cwnd_by_rates(&self) -> bool {
        self.cc.controls_cwnd() && self.cc.paced()
    }

    /// Whether a segment that is on its way has been sent before; without SACK nobody knows.
    pub fn was_retransmitted(&self, seq: u64) -> bool {
        let known = |board: &Scoreboard| board.was_retransmitted(self.snd_una, seq);
        self.scoreboard.as_deref().is_some_and(known)
    }

    /// Whether a segment is the first that is new since the window was reduced for a mark.
    pub fn carries_cwr(&self, seq: u64) -> bool {
        seq + 1 == self.cwr_end
    }

    /// When a paced sender may send next, if that is still to come.
    #[inline]
    pub fn earliest_departure_time(&self, now: Picos) -> Option<Picos> {
        let pacing_exempt = || self.scoreboard.as_ref().is_some_and(|board| board.pacing_exempt);
        let held = self.paced_until > now && !pacing_exempt();
        held.then_some(self.paced_until)
    }

    /// So many segments go now. What is late makes up for it with up to half of the gap after it
    /// (Linux, tcp_update_skb_after_send).
    pub(super) fn pace(&mut self, now: Picos, rate: f64, segments: u32) {
        let Some(board) = &mut self.scoreboard else { return };
        board.pacing_exempt = false;
        let Some(pacer) = board.pacer() else { return };
        let late = now.saturating_sub(self.paced_until);
        let gap = pacer.gap(rate) * Picos::from(segments);
        self.paced_until = self.paced_until.max(now) + gap - late.min(gap / 2);
    }

    /// The pacer; `None` for a sender that does not pace.
    #[inline(always)]
    pub fn pacer(&mut self) -> Option<&mut Pacer> {
        self.scoreboard.as_mut()?.pacer()
    }

    /// The pacer holds the sender back, and its timer will ask when it no longer does.
    #[inline(always)]
    pub fn waits_for_pacer<K: FlowKind>(&mut self, now: Picos) -> bool {
        let until = self.paced_until;
        K::PACED
            && until > now
            && self.scoreboard.as_mut().is_some_and(|board| {
                !board.pacing_exempt
                    && board.pacer().is_some_and(|pacer| pacer.timer.fires_by(until))
            })
    }

    /// How long pacing still holds the sender back. Its timers wait for so much longer, for what
    /// cannot be sent cannot be acknowledged (Linux, tcp_pacing_delay).
    #[inline]
    pub(super) fn pacing_delay<K: FlowKind>(&self, now: Picos) -> Picos {
        if K::PACED { self.paced_until.saturating_sub(now) } else { 0 }
    }

    /// Sets ssthresh; a stack that counts whole segments (Linux) rounds it down.
    pub(super) fn reduce_ssthresh(
        &mut self,
        now: Picos,
        event: CongestionEvent,
        profile: &Profile,
    ) {
        self.reductions += 1;
        self.prior_cwnd_ssthresh = (self.window.cwnd, self.window.ssthresh);
        let ssthresh = self.cc.ssthresh(&self.window, now, event);
        self.window.ssthresh = match profile.increase_rule {
            IncreaseRule::PerAck => ssthresh,
            IncreaseRule::PerWindow => ssthresh.floor(),
        };
    }

    /// What was repaired was not lost: the window is again what it was before (Linux, tcp_undo_cwnd_reduction).
    pub(super) fn undo_reduction(&mut self) {
        let (cwnd, ssthresh) = self.prior_cwnd_ssthresh;
        self.phase = Phase::Open;
        self.window.cwnd = self.cc.undo(&self.window, cwnd);
        self.window.ssthresh = self.window.ssthresh.max(ssthresh);
    }

    /// The same, over a route that may reorder packets: with RACK it learns from that.
    pub fn over_reordering(mut self, profile: &Profile) -> Self {
        if let Some(board) = self.scoreboard.as_mut().filter(|_| profile.rack) {
            board.keep_reordering(Reordering::default());
        }
        self
    }

    /// RFC 6298, rules 5.2 and 5.3.
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Picos) {
        self.timer_at = if self.snd_una < self.snd_max { now + self.rtt.rto() } else { NEVER };
    }

    /// Starts the retransmission timer, after an ACK or in place of another timer: from `now`, or, where another timer ran,
    /// from `head_sent`, when the first outstanding segment was last sent; `None` of that, nothing is outstanding, stops it.
    #[inline]
    pub(super) fn rearm_rto<K: FlowKind>(&mut self, head_sent: Option<Picos>, now: Picos) {
        let from = if self.timer == Timer::Rto { Some(now) } else { head_sent };
        self.timer = Timer::Rto;
        self.timer_at = match head_sent.and(from) {
            Some(from) => {
                (from + self.rtt.rto()).max(now + MILLISECOND) + self.pacing_delay::<K>(now)
            }
            None => NEVER,
        };
    }

    /// Segments a second that the sender would pace at: Linux takes twice the window a round trip
    /// in the first half of slow start, else 1.2 times.
    pub fn sending_rate(&self) -> f64 {
        let window = &self.window;
        let factor = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
        let round_trip = self.rtt.srtt.max(1) as f64 / SECOND as f64;
        window.pacing_rate.unwrap_or(factor * window.cwnd / round_trip)
    }

    /// New segments that may go as far as the application's data and the receiver's window reach.
    #[inline]
    pub(super) fn new_allowed(&self, profile: &Profile) -> u64 {
        self.new_within(profile.max_window.min(self.receive_window))
    }

    /// New segments that may go as far as the application's data and a window of `most` segments reach.
    #[inline]
    pub(super) fn new_within(&self, most: u32) -> u64 {
        let room = u64::from(most).saturating_sub(self.snd_nxt - self.snd_una);
        room.min(self.app_limit - self.snd_nxt)
    }
}
