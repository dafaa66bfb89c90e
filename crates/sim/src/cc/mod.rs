//! Congestion controllers. Adding one is a file here and a line in `controllers!` below.
//!
//! A controller sees its flow through `Ack` and steers it through `Window`. It never sees a packet.

mod ai_counter;
mod bbr;
mod bbr3;
mod bic;
mod bounds;
mod compound;
mod cubic;
mod dctcp;
mod hash_choice;
mod max_filter;
mod prague;
mod reno;
mod rounding;
mod scalable;
mod westwood;

use crate::time::Picos;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncreaseRule {
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
    /// All segments judged lost so far, for controllers that ask for `rate`; else 0.
    pub lost_total: u64,
    /// Of `delivered`, those whose ACK echoed a congestion mark (RFC 3168, RFC 8257).
    pub marked: u64,
    /// Where the sender stands after this ACK.
    pub phase: Phase,
    /// The delivery rate, for controllers that ask for it (`Controller::WANTS_RATE`).
    pub rate: Option<RateSample>,
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

/// The hooks of a congestion controller. A hook that a controller does not need does nothing.
pub trait Controller: Default {
    /// Sends each ACK with a rate sample.
    const WANTS_RATE: bool = false;
    /// Sets cwnd itself on every ACK, also in recovery (`on_ack_received`): no halving, no PRR.
    const CONTROLS_CWND: bool = false;
    /// Sends ECN-capable packets whatever the scenario says.
    const NEEDS_ECN: bool = false;
    /// Sends ECT(1) (RFC 9331), and answers marks itself (`on_ack_received`): the sender cuts nothing.
    const L4S: bool = false;

    /// Wants every ACK (`on_ack_received`), not only those that let the window grow.
    const WANTS_ALL_ACKS: bool = false;

    /// Growth that needs no more of an ACK than how much it acknowledges: true if that was all
    /// that the controller wants of it, and `cong_avoid` is not called.
    #[inline]
    fn cong_avoid_fast(
        &mut self,
        _window: &mut Window,
        _segments: u32,
        _growth: IncreaseRule,
    ) -> bool {
        false
    }
    /// New data was acknowledged while the window may grow: outside recovery.
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack);
    /// Every ACK, before anything else is made of it.
    fn on_ack_received(&mut self, _window: &mut Window, _ack: &Ack) {}
    /// The slow-start threshold after what is noticed now.
    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64;
    /// The retransmission timer expired; cwnd is about to be set to one.
    fn on_timeout(&mut self, _window: &mut Window, _now: Picos) {}
    /// The same, once segments have been given up: totals as they are then. For controllers that
    /// hear every ACK.
    fn on_loss_state(&mut self, _window: &mut Window, _ack: &Ack) {}
    /// It is at its start, and looks for what the path holds.
    fn in_startup(&self, window: &Window) -> bool {
        window.in_slow_start()
    }
    /// What its random choices are to follow from; before anything else. Each connection has a seed of its
    /// own, made from the run's.
    fn set_seed(&mut self, _seed: u64) {}
}

/// Large controllers live on the heap, so that a flow with a small one stays small.
impl<T: Controller> Controller for Box<T> {
    const WANTS_RATE: bool = T::WANTS_RATE;
    const CONTROLS_CWND: bool = T::CONTROLS_CWND;
    const NEEDS_ECN: bool = T::NEEDS_ECN;
    const L4S: bool = T::L4S;
    const WANTS_ALL_ACKS: bool = T::WANTS_ALL_ACKS;

    #[inline]
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        (**self).cong_avoid(window, ack);
    }
    #[inline]
    fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
        (**self).on_ack_received(window, ack);
    }
    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
        (**self).ssthresh(window, now, event)
    }
    fn on_timeout(&mut self, window: &mut Window, now: Picos) {
        (**self).on_timeout(window, now);
    }
    fn on_loss_state(&mut self, window: &mut Window, ack: &Ack) {
        (**self).on_loss_state(window, ack);
    }
    fn in_startup(&self, window: &Window) -> bool {
        (**self).in_startup(window)
    }
    fn set_seed(&mut self, seed: u64) {
        (**self).set_seed(seed);
    }
}

macro_rules! controllers {
    ($($name:literal => $variant:ident($type:ty)),+ $(,)?) => {
        /// Any of the controllers, dispatched without a table of functions.
        pub enum Cc { $(#[doc = $name] $variant($type)),+ }

        /// Their names in a scenario: Linux names where Linux has them.
        pub const NAMES: &[&str] = &[$($name),+];

        impl Cc {
            /// A fresh controller by its name.
            pub fn by_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant(Default::default())),)+ _ => None }
            }
            /// `Controller::WANTS_RATE`.
            pub fn wants_rate(&self) -> bool {
                match self { $(Self::$variant(_) => <$type>::WANTS_RATE),+ }
            }
            /// `Controller::CONTROLS_CWND`.
            #[inline]
            pub fn controls_cwnd(&self) -> bool {
                match self { $(Self::$variant(_) => <$type>::CONTROLS_CWND),+ }
            }
            /// `Controller::NEEDS_ECN`.
            pub fn needs_ecn(&self) -> bool {
                match self { $(Self::$variant(_) => <$type>::NEEDS_ECN),+ }
            }
            /// `Controller::L4S`.
            pub fn l4s(&self) -> bool {
                match self { $(Self::$variant(_) => <$type>::L4S),+ }
            }
            /// `Controller::WANTS_ALL_ACKS`.
            #[inline]
            pub fn wants_all_acks(&self) -> bool {
                match self { $(Self::$variant(_) => <$type>::WANTS_ALL_ACKS),+ }
            }
            /// `Controller::cong_avoid_fast`.
            #[inline]
            pub fn cong_avoid_fast(&mut self, window: &mut Window, segments: u32, increase_rule: IncreaseRule) -> bool {
                match self { $(Self::$variant(cc) => cc.cong_avoid_fast(window, segments, increase_rule)),+ }
            }
            /// `Controller::cong_avoid`.
            #[inline]
            pub fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$variant(cc) => cc.cong_avoid(window, ack)),+ }
            }
            /// `Controller::on_ack_received`.
            #[inline]
            pub fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$variant(cc) => cc.on_ack_received(window, ack)),+ }
            }
            /// `Controller::ssthresh`.
            pub fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
                match self { $(Self::$variant(cc) => cc.ssthresh(window, now, event)),+ }
            }
            /// `Controller::on_timeout`.
            pub fn on_timeout(&mut self, window: &mut Window, now: Picos) {
                match self { $(Self::$variant(cc) => cc.on_timeout(window, now)),+ }
            }
            /// `Controller::on_loss_state`.
            pub fn on_loss_state(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$variant(cc) => cc.on_loss_state(window, ack)),+ }
            }
            /// `Controller::in_startup`.
            pub fn in_startup(&self, window: &Window) -> bool {
                match self { $(Self::$variant(cc) => cc.in_startup(window)),+ }
            }
            /// `Controller::set_seed`.
            pub fn set_seed(&mut self, seed: u64) {
                match self { $(Self::$variant(cc) => cc.set_seed(seed)),+ }
            }
        }
    };
}

controllers! {
    "reno" => Reno(reno::Reno),
    "scalable" => Scalable(scalable::Scalable),
    "bic" => Bic(Box<bic::Bic>),
    "cubic" => Cubic(Box<cubic::Cubic<717, true>>),
    "cubic-beta-0.8" => CubicBeta08(Box<cubic::Cubic<819, false>>),
    "cubic-beta-0.7" => CubicBeta07(Box<cubic::Cubic<717, false>>),
    "compound" => Compound(Box<compound::Compound>),
    "dctcp" => Dctcp(Box<dctcp::Dctcp>),
    "bbr" => Bbr(Box<bbr::Bbr>),
    "bbr3" => Bbr3(Box<bbr3::Bbr3>),
    "westwood" => Westwood(Box<westwood::Westwood>),
    "prague" => Prague(Box<prague::Prague>),
}

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod testing;
