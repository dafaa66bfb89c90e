//! Controllers that are not in the list: their hooks come from outside of this crate, as an object with
//! `Hooks`. They learn more than `Ack` has, at the price of a path of their own through the sender.

use super::record::{Decrease, Marks, Record};
use super::{Ack, CongestionEvent, Controller, Phase, Window};
use crate::time::Picos;
use std::fmt::Debug;
use std::sync::Arc;

/// Makes the hooks of each connection.
pub trait Factory: Debug + Send + Sync {
    /// The control's name in `FlowSpec`; none of `NAMES`.
    fn name(&self) -> &'static str;
    /// What its controllers ask for.
    fn wants(&self) -> Wants;
    /// The hooks of a connection.
    fn make(&self) -> Box<dyn Hooks>;
    /// What one of its controllers did wrong: runs with it are of no use.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// What a foreign controller asks of its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// It sets `Window::pacing_rate`, and gets rate samples; without both of them a sender is clocked by ACKs.
    pub paces: bool,
    /// It sets cwnd itself on every ACK, also in recovery: no fast recovery, no PRR.
    pub controls_cwnd: bool,
    /// Packets are ECN-capable whatever the scenario says (RFC 8257).
    pub ecn: bool,
    /// Packets are ECT(1), and marks are left to the controller (RFC 9331).
    pub l4s: bool,
    /// `Hooks::cong_avoid` is called though the window is not what holds the sender back, too.
    pub unlimited: bool,
}

/// Where a sender stands, as Linux tells it: finer than `Phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FinePhase {
    /// Nothing is missing.
    Open = 0,
    /// Something was SACKed beyond a gap, and nothing is judged lost yet.
    Disorder = 1,
    /// The window yields to a mark.
    Cwr = 2,
    /// Fast recovery.
    Recovery = 3,
    /// After a retransmission timeout.
    Loss = 4,
}

/// What such a controller learns besides `Ack`.
#[derive(Clone, Copy, Debug)]
pub struct Details {
    /// Where the sender stands.
    pub phase: FinePhase,
    /// Segments sent and not acknowledged in order; of these SACKed, judged lost, and sent again.
    pub packets_out: u32,
    /// See `packets_out`.
    pub sacked_out: u32,
    /// See `packets_out`.
    pub lost_out: u32,
    /// See `packets_out`.
    pub retrans_out: u32,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// The most segments that were out in this round trip, where the window was not full.
    pub max_packets_out: u32,
    /// The window is what holds the sender back (RFC 7661, section 4.3).
    pub cwnd_limited: bool,
    /// The window may grow with this ACK, as far as marks and losses are concerned.
    pub grows: bool,
    /// And as far as it is used.
    pub room: bool,
    /// Window and threshold before the last reduction.
    pub prior_cwnd_ssthresh: (f64, f64),
}

impl Details {
    /// Those that follow from an ACK alone, of a path without surprises.
    pub fn of(ack: &Ack) -> Self {
        let out = (ack.snd_nxt - ack.snd_una) as u32;
        Self {
            phase: match ack.phase {
                Phase::Open => FinePhase::Open,
                Phase::Recovery => FinePhase::Recovery,
                Phase::Loss => FinePhase::Loss,
            },
            packets_out: out,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            prior_in_flight: ack.in_flight_before() as u32,
            max_packets_out: out,
            cwnd_limited: true,
            grows: ack.phase != Phase::Recovery,
            room: true,
            prior_cwnd_ssthresh: (0.0, f64::INFINITY),
        }
    }
}

/// The hooks of one connection's controller.
pub trait Hooks: Send {
    /// Called once, when the first segment is about to be sent.
    fn init(&mut self, window: &mut Window, start: Start);
    /// Called with every ACK.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack, details: &Details);
    /// Called after it with an ACK with which the window may grow.
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack, details: &Details);
    /// See `Controller::ssthresh`.
    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64;
    /// See `Controller::on_timeout`.
    fn on_timeout(&mut self, _window: &mut Window, _now: Picos) {}
    /// See `Controller::on_loss_state`.
    fn on_loss_state(&mut self, window: &mut Window, ack: &Ack, details: &Details);
    /// A segment is sent while none is in flight; another was sent at `last_sent`, 0 if none was.
    fn on_transmit_start(&mut self, window: &mut Window, now: Picos, last_sent: Picos);
    /// See `Controller::undo`.
    fn undo(&mut self, window: &Window, prior_cwnd: f64) -> f64;
}

/// What a connection begins with.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Time at the sender.
    pub now: Picos,
    /// Differs for each connection and follows from the run's.
    pub seed: u64,
    /// Payload of a segment.
    pub segment_bytes: u32,
}

/// A foreign controller as one of `Cc`.
pub struct ForeignCc {
    hooks: Box<dyn Hooks>,
    /// What it asks for.
    pub(crate) wants: Wants,
    record: Record,
    start: Start,
    begun: bool,
    last_sent: Picos,
    /// Segments in flight before the ACK in hand.
    pub(crate) prior_in_flight: u32,
}

impl ForeignCc {
    /// That of a new connection.
    pub fn new(factory: &dyn Factory) -> Self {
        let wants = factory.wants();
        let start = Start { now: 0, seed: 0, segment_bytes: 1448 };
        let (hooks, record) = (factory.make(), record_of(wants));
        Self { hooks, wants, record, start, begun: false, last_sent: 0, prior_in_flight: 0 }
    }

    /// What `wants` comes to.
    pub(super) fn record(&self) -> &Record {
        &self.record
    }

    /// A connection begins, unless it has.
    pub(crate) fn begin(&mut self, window: &mut Window, now: Picos) {
        if !self.begun {
            self.begun = true;
            self.hooks.init(window, Start { now, ..self.start });
        }
    }

    /// A segment is sent now, of a sender with none in flight or not.
    pub(crate) fn sends(&mut self, window: &mut Window, now: Picos, idle: bool) {
        if idle {
            self.transmits_from_idle(window, now, self.last_sent);
        }
        self.last_sent = now;
    }

    pub(crate) fn transmits_from_idle(&mut self, window: &mut Window, now: Picos, last: Picos) {
        self.begin(window, now);
        self.hooks.on_transmit_start(window, now, last);
    }

    pub(crate) fn on_ack(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        self.begin(window, ack.now);
        self.hooks.on_ack(window, ack, details);
    }

    pub(crate) fn on_growth(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        if !self.wants.controls_cwnd {
            self.hooks.cong_avoid(window, ack, details);
        }
    }

    pub(crate) fn on_loss(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        self.hooks.on_loss_state(window, ack, details);
    }
}

/// The sender asks a controller of the list nothing else than what this says.
fn record_of(wants: Wants) -> Record {
    Record {
        paced: wants.paces,
        decrease: if wants.controls_cwnd { Decrease::Model } else { Decrease::Share(0.5) },
        marks: match (wants.l4s, wants.ecn) {
            (true, _) => Marks::L4s,
            (false, true) => Marks::Fraction,
            (false, false) => Marks::Loss,
        },
        timeout_reduces_ssthresh: true,
        growth: None,
        response: None,
        needs_every_ack: true,
        source: "foreign",
    }
}

/// As the conformance suite calls it, without a sender; a sender calls what needs `Details` itself.
impl Controller for ForeignCc {
    #[cold]
    #[inline(never)]
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        self.on_growth(window, ack, &Details::of(ack));
    }

    #[cold]
    #[inline(never)]
    fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
        self.on_ack(window, ack, &Details::of(ack));
    }

    #[cold]
    #[inline(never)]
    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
        self.begin(&mut window.clone(), now);
        self.hooks.ssthresh(window, now, event)
    }

    #[cold]
    #[inline(never)]
    fn on_timeout(&mut self, window: &mut Window, now: Picos) {
        self.hooks.on_timeout(window, now);
    }

    #[cold]
    #[inline(never)]
    fn on_loss_state(&mut self, window: &mut Window, ack: &Ack) {
        self.on_loss(window, ack, &Details::of(ack));
    }

    #[cold]
    #[inline(never)]
    fn undo(&mut self, window: &Window, prior_cwnd: f64) -> f64 {
        self.hooks.undo(window, prior_cwnd)
    }

    #[cold]
    #[inline(never)]
    fn set_seed(&mut self, seed: u64) {
        self.start.seed = seed;
    }

    #[cold]
    #[inline(never)]
    fn set_segment_bytes(&mut self, bytes: u32) {
        self.start.segment_bytes = bytes;
    }
}

/// The foreign controls of a run.
#[derive(Clone, Debug, Default)]
pub struct ForeignList(pub Vec<Arc<dyn Factory>>);

impl ForeignList {
    /// That of a name.
    pub fn find(&self, name: &str) -> Option<&dyn Factory> {
        self.0.iter().map(AsRef::as_ref).find(|each| each.name() == name)
    }
}
