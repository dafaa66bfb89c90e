//! Congestion controllers. Adding one is a file here and a record in src/forebay/catalogue/controls.py.
//!
//! A controller sees its flow through `Ack` and steers it through `Window`. It never sees a packet.

// Begin: from src/forebay/catalogue/controls.py, by `make generated`.
mod bbr;
mod bbr3;
mod bic;
mod compound;
mod cubic;
mod dctcp;
mod prague;
mod reno;
mod scalable;
mod westwood;
// End

mod ai_counter;
mod bounds;
mod extra_acked;
pub mod foreign;
mod hash_choice;
mod list;
mod max_filter;
mod pacing;
pub mod record;
mod rounding;
pub mod shadow;

pub use list::{Cc, NAMES};

use crate::time::{Picos, SECOND};
use rounding::{double, whole_below};

/// What a controller steers, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold; infinite until the first loss.
    pub ssthresh: f64,
    /// Rate in segments a second at which segments are spaced; `None` for a sender clocked by ACKs.
    pub pacing_rate: Option<f64>,
}

impl Window {
    /// RFC 5681, section 3.1: below ssthresh the sender is in slow start.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// RFC 5681, section 3.1, up to ssthresh; gives back the segments beyond it.
    #[inline(never)]
    pub fn slow_start(&mut self, segments: u32) -> u32 {
        let target = (self.cwnd + f64::from(segments)).min(self.ssthresh.max(self.cwnd));
        let used = (target - self.cwnd).ceil() as u32;
        self.cwnd = target;
        segments - used.min(segments)
    }
}

/// Two readings of "one segment a round trip" (RFC 5681, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncreaseRule {
    #[default]
    /// Each ACK adds 1/cwnd (equation 3 of the RFC; ns-2).
    PerAck,
    /// A whole segment once a window of segments is acknowledged (Linux).
    PerWindow,
}

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

/// A delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Segments delivered over `interval`.
    pub delivered: u64,
    /// The longer of the send and the ACK interval.
    pub interval: Picos,
    /// `Ack::delivered_total` when the newest segment that this ACK covers was sent.
    pub prior_delivered: u64,
    /// Segments in flight when that segment was sent, itself included.
    pub tx_in_flight: u64,
    /// Segments marked lost so far when that segment was sent.
    pub prior_lost: u64,
    /// The sender had nothing to send at the time, so the sample is a lower bound.
    pub app_limited: bool,
}

impl RateSample {
    /// With `delivered` segments more.
    pub fn and(self, delivered: u32) -> Self {
        Self { delivered: self.delivered + u64::from(delivered), ..self }
    }
}

/// What a controller learns with an ACK.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Time at the sender.
    pub now: Picos,
    /// Segments that count towards growth: newly acknowledged, or 1 for `IncreaseRule::PerAck`.
    pub segments: u32,
    /// See `IncreaseRule`.
    pub increase_rule: IncreaseRule,
    /// Round-trip time that this ACK measured, of the last segment that it covers: a delayed ACK's
    /// wait is no part of it.
    pub rtt: Option<Picos>,
    /// Smoothed round-trip time; 0 before the first sample.
    pub srtt: Picos,
    /// Least round-trip time seen by the flow; `NEVER` before the first sample.
    pub min_rtt: Picos,
    /// Segments in flight after this ACK.
    pub in_flight: u64,
    /// Oldest segment not acknowledged, after this ACK.
    pub snd_una: u64,
    /// Next new segment: an ACK beyond it marks the end of a round trip.
    pub snd_nxt: u64,
    /// Segments newly delivered, by the cumulative ACK or by SACK.
    pub delivered: u64,
    /// All segments delivered so far.
    pub delivered_total: u64,
    /// Segments newly judged lost.
    pub newly_lost: u64,
    /// All segments judged lost so far, for controllers that ask for `rate`; else 0. It also grows where a timer judges.
    pub lost_total: u64,
    /// Of the segments judged lost since the last call, the first in whose flight too many were lost (`too_many_lost`):
    /// how many were in flight when it was sent, itself included. For controllers that ask for `rate`.
    pub lost_flight: Option<u64>,
    /// When the pacer lets the next segment go; a time in the past where it does not hold any.
    pub next_departure: Picos,
    /// Of `delivered`, those whose ACK echoed a congestion mark (RFC 3168, RFC 8257).
    pub marked: u64,
    /// Where the sender stands after this ACK.
    pub phase: Phase,
    /// The delivery rate, for controllers that ask for it (`Controller::WANTS_RATE`).
    pub rate: Option<RateSample>,
}

impl Ack {
    /// Segments in flight before it.
    #[inline]
    pub fn in_flight_before(&self) -> f64 {
        double(self.in_flight + self.delivered + self.newly_lost)
    }

    /// It reports something beyond a gap, or delivers nothing: Linux's header prediction fails.
    pub fn on_slow_path(&self) -> bool {
        self.delivered_total > self.snd_una || self.delivered == 0
    }

    /// How many segments a path of bandwidth `bw` delivers until the pacer lets the next burst go (Linux,
    /// bbr_packets_in_net_at_edt): those in flight less these are on the path then.
    #[inline]
    pub fn delivered_until_departure(&self, bw: f64) -> f64 {
        let wait = self.next_departure.saturating_sub(self.now);
        whole_below(bw * double(wait) / SECOND as f64)
    }
}

/// What is at hand of an ACK of new data while the window may grow.
#[derive(Clone, Copy, Debug)]
pub struct PlainAck {
    /// `Ack::now`.
    pub now: Picos,
    /// `Ack::segments`.
    pub segments: u32,
    /// `Ack::increase_rule`.
    pub increase_rule: IncreaseRule,
    /// `Ack::rtt`.
    pub rtt: Option<Picos>,
}

impl From<&Ack> for PlainAck {
    fn from(&Ack { now, segments, increase_rule, rtt, .. }: &Ack) -> Self {
        Self { now, segments, increase_rule, rtt }
    }
}

/// A path that loses more of a flight, 5/256, bears no flight of that size (Linux, bbr_loss_thresh in tcp_bbr.c of version 3).
#[inline]
pub fn too_many_lost(lost: u64, in_flight: u64) -> bool {
    lost > in_flight * 5 / 256
}

/// What made a sender back off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionEvent {
    /// Duplicate ACKs or SACK told of a loss.
    Loss,
    /// An ACK echoed a congestion mark: at most once a round trip (RFC 3168, section 6.1.2).
    Mark,
    /// The retransmission timer expired.
    Timeout,
}

/// The hooks of a congestion controller. A hook that a controller does not need does nothing. What it does
/// as a whole its `record::Record` declares.
pub trait Controller {
    /// Called first with an ACK of new data while the window may grow, without what is costly to know of it.
    /// Returns true if that was all that the controller wants of the ACK; then neither `on_ack_received` nor
    /// `cong_avoid` is called.
    #[inline]
    fn cong_avoid_fast(&mut self, _window: &mut Window, _ack: PlainAck) -> bool {
        false
    }
    /// Called with an ACK of new data outside recovery, while the window may grow.
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack);
    /// Called with every ACK, before the sender acts on it.
    fn on_ack_received(&mut self, _window: &mut Window, _ack: &Ack) {}
    /// Called on a loss, a mark or a timeout; returns the new slow-start threshold in segments.
    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64;
    /// Called on a retransmission timeout, after `ssthresh` and before cwnd becomes one segment.
    fn on_timeout(&mut self, _window: &mut Window, _now: Picos) {}
    /// Called on a retransmission timeout once the outstanding segments are marked lost, with the totals
    /// after that; only for controllers with `Record::needs_every_ack`.
    fn on_loss_state(&mut self, _window: &mut Window, _ack: &Ack) {}
    /// What was repaired was not lost: returns the window, which was `prior_cwnd` before it was reduced (Linux, undo_cwnd).
    fn undo(&mut self, window: &Window, prior_cwnd: f64) -> f64 {
        window.cwnd.max(prior_cwnd)
    }
    /// Returns whether the flow is in slow start, or in the start-up of a model of the path.
    fn in_startup(&self, window: &Window) -> bool {
        window.in_slow_start()
    }
    /// Called once, before any other hook. `seed` differs for each connection and follows from the run's;
    /// random choices follow from it alone.
    fn set_seed(&mut self, _seed: u64) {}
    /// Called once, before any hook but `set_seed`, with the payload of a segment: for what a controller
    /// counts in bytes. Until then a segment has 1448.
    fn set_segment_bytes(&mut self, _bytes: u32) {}
    /// Calls what most ACKs touch into the cache, where that does not lie in the flow itself.
    #[inline(always)]
    fn prefetch(&self) {}
}

pub mod conformance;
mod testing;
