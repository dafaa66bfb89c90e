//! Two controllers beside each other: one steers, the other is called with the same window and ACKs, and what it
//! would have done otherwise is counted.

use super::foreign::{Details, Factory, ForeignCc, Hooks, Start, Wants};
use super::rounding::whole_below;
use super::{Ack, Cc, CongestionEvent, Controller, Window};
use crate::time::Picos;
use std::sync::{Arc, Mutex, PoisonError};

/// Rates may differ by this share: integers in whole microseconds make no better.
const RATE_TOLERANCE: f64 = 1e-3;

/// Names of what is compared.
pub const CALLS: [&str; 7] =
    ["init", "on_ack", "cong_avoid", "ssthresh", "on_loss_state", "undo", "on_transmit_start"];

/// Makes the pairs of a run.
#[derive(Debug)]
pub struct Shadow {
    ours: Maker,
    other: Maker,
    tally: Arc<Mutex<Tally>>,
}

/// How one of the two is made.
#[derive(Clone, Debug)]
pub enum Maker {
    /// By its name in `NAMES`.
    Listed(&'static str),
    /// From outside.
    Foreign(Arc<dyn Factory>),
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Calls of each of `CALLS`.
    pub calls: [u64; CALLS.len()],
    /// Those with which the two differed.
    pub differing: [u64; CALLS.len()],
    /// The earliest of these.
    pub first: [Option<Difference>; CALLS.len()],
}

/// A call with which the two differed.
#[derive(Clone, Debug)]
pub struct Difference {
    /// When.
    pub now: Picos,
    /// Which: a place in `CALLS`.
    pub call: usize,
    /// The window before it.
    pub before: Window,
    /// What ours made of it; of `ssthresh` and `undo` what it returned is in `ssthresh` or `cwnd`.
    pub ours: Window,
    /// What the other made of it.
    pub other: Window,
    /// The ACK, where there is one.
    pub ack: Option<(Ack, Details)>,
}

impl Shadow {
    /// `ours` steers.
    pub fn new(ours: Maker, other: Maker) -> Self {
        Self { ours, other, tally: Arc::default() }
    }

    /// What connections that have ended counted.
    pub fn tally(&self) -> Tally {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Maker {
    fn make(&self) -> Driven {
        let cc = match self {
            Self::Listed(name) => Cc::by_name(name).expect("listed"),
            Self::Foreign(factory) => Cc::Foreign(Box::new(ForeignCc::new(factory.as_ref()))),
        };
        Driven { cc, waits: false }
    }

    fn failure(&self) -> Option<String> {
        match self {
            Self::Listed(_) => None,
            Self::Foreign(factory) => factory.failure(),
        }
    }

    fn wants(&self) -> Wants {
        match self {
            Self::Listed(name) => {
                let cc = Cc::by_name(name).expect("listed");
                Wants {
                    paces: cc.paced(),
                    controls_cwnd: cc.controls_cwnd(),
                    ecn: cc.needs_ecn(),
                    l4s: cc.l4s(),
                    unlimited: false,
                }
            }
            Self::Foreign(factory) => factory.wants(),
        }
    }
}

impl Factory for Shadow {
    fn name(&self) -> &'static str {
        "(shadow)"
    }

    fn wants(&self) -> Wants {
        Wants { unlimited: true, ..self.ours.wants() }
    }

    fn make(&self) -> Box<dyn Hooks> {
        Box::new(Pair {
            ours: self.ours.make(),
            other: self.other.make(),
            now: 0,
            waits: None,
            counted: Tally::default(),
            total: Arc::clone(&self.tally),
        })
    }

    fn failure(&self) -> Option<String> {
        self.ours.failure().or_else(|| self.other.failure())
    }
}

/// A controller as a sender drives it, whichever it is.
struct Driven {
    cc: Cc,
    /// One of the list waits for `cong_avoid`: that ACK may be all it wants.
    waits: bool,
}

impl Driven {
    fn begin(&mut self, window: &mut Window, start: Start) {
        self.cc.set_seed(start.seed);
        self.cc.set_segment_bytes(start.segment_bytes);
        if let Cc::Foreign(cc) = &mut self.cc {
            cc.begin(window, start.now);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        if let Cc::Foreign(cc) = &mut self.cc {
            return cc.on_ack(window, ack, details);
        }
        let grows = details.grows && details.room && !self.cc.controls_cwnd();
        self.waits = grows && ack.marked == 0;
        if !self.waits && (ack.marked > 0 || self.cc.needs_every_ack()) {
            self.cc.on_ack_received(window, ack);
        }
    }

    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        match &mut self.cc {
            Cc::Foreign(cc) if cc.wants.unlimited || details.room => {
                cc.on_growth(window, ack, details)
            }
            Cc::Foreign(_) => {}
            cc if self.waits => {
                let done = cc.cong_avoid_fast(window, ack.into());
                if !done {
                    cc.on_ack_received(window, ack);
                    cc.cong_avoid(window, ack);
                }
            }
            cc if details.room => cc.cong_avoid(window, ack),
            _ => {}
        }
    }

    fn on_loss_state(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        match &mut self.cc {
            Cc::Foreign(cc) => cc.on_loss(window, ack, details),
            cc if cc.needs_every_ack() => cc.on_loss_state(window, ack),
            _ => {}
        }
    }
}

struct Pair {
    ours: Driven,
    other: Driven,
    now: Picos,
    /// An ACK of which ours waits for `cong_avoid`: the window before it, and what the other has made of it.
    waits: Option<(Window, Window)>,
    counted: Tally,
    total: Arc<Mutex<Tally>>,
}

impl Pair {
    /// Lets both act on the window that ours has, and compares what they made of it.
    fn both(
        &mut self,
        call: usize,
        window: &mut Window,
        ack: Option<(&Ack, &Details)>,
        act: impl Fn(&mut Driven, &mut Window),
    ) {
        let before = *window;
        let mut copy = before;
        act(&mut self.ours, window);
        act(&mut self.other, &mut copy);
        self.count(call, before, (*window, copy), ack);
    }

    fn count(
        &mut self,
        call: usize,
        before: Window,
        (ours, other): (Window, Window),
        ack: Option<(&Ack, &Details)>,
    ) {
        self.counted.calls[call] += 1;
        if alike(&ours, &other) {
            return;
        }
        self.counted.differing[call] += 1;
        let now = self.now;
        self.counted.first[call].get_or_insert_with(|| {
            let ack = ack.map(|(ack, details)| (*ack, *details));
            Difference { now, call, before, ours, other, ack }
        });
    }
}

/// They are the same to a sender that counts whole segments.
fn alike(ours: &Window, other: &Window) -> bool {
    let whole = |one: f64, other: f64| {
        one == other || whole_below(one.min(1e15)) == whole_below(other.min(1e15))
    };
    let (rate, others) = (ours.pacing_rate.unwrap_or(0.0), other.pacing_rate.unwrap_or(0.0));
    whole(ours.cwnd, other.cwnd)
        && whole(ours.ssthresh, other.ssthresh)
        && (rate - others).abs() <= RATE_TOLERANCE * rate.max(others)
}

impl Hooks for Pair {
    fn init(&mut self, window: &mut Window, start: Start) {
        self.now = start.now;
        self.both(0, window, None, |cc, window| cc.begin(window, start));
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        self.now = ack.now;
        let (before, mut copy) = (*window, *window);
        self.ours.on_ack(window, ack, details);
        self.other.on_ack(&mut copy, ack, details);
        if self.ours.waits {
            self.waits = Some((before, copy));
        } else {
            self.count(1, before, (*window, copy), Some((ack, details)));
        }
    }

    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        let (before, mut copy) = self.waits.take().unwrap_or((*window, *window));
        self.ours.cong_avoid(window, ack, details);
        self.other.cong_avoid(&mut copy, ack, details);
        self.count(2, before, (*window, copy), Some((ack, details)));
    }

    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
        self.now = now;
        let [ours, other] =
            [&mut self.ours, &mut self.other].map(|it| it.cc.ssthresh(window, now, event));
        let with = |ssthresh| Window { ssthresh, ..*window };
        self.count(3, *window, (with(ours), with(other)), None);
        ours
    }

    fn on_timeout(&mut self, window: &mut Window, now: Picos) {
        self.ours.cc.on_timeout(window, now);
        self.other.cc.on_timeout(&mut window.clone(), now);
    }

    fn on_loss_state(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        self.now = ack.now;
        let seen = Some((ack, details));
        self.both(4, window, seen, |cc, window| cc.on_loss_state(window, ack, details));
    }

    fn on_transmit_start(&mut self, window: &mut Window, now: Picos, last_sent: Picos) {
        self.now = now;
        self.both(6, window, None, |cc, window| {
            if let Cc::Foreign(cc) = &mut cc.cc {
                cc.transmits_from_idle(window, now, last_sent);
            }
        });
    }

    fn undo(&mut self, window: &Window, prior_cwnd: f64) -> f64 {
        let [ours, other] =
            [&mut self.ours, &mut self.other].map(|it| it.cc.undo(window, prior_cwnd));
        let with = |cwnd| Window { cwnd, ..*window };
        self.count(5, *window, (with(ours), with(other)), None);
        ours
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        for call in 0..CALLS.len() {
            total.calls[call] += self.counted.calls[call];
            total.differing[call] += self.counted.differing[call];
        }
        for (known, mine) in total.first.iter_mut().zip(&mut self.counted.first) {
            let earlier = |it: &Difference| known.as_ref().is_none_or(|other| it.now < other.now);
            if mine.as_ref().is_some_and(earlier) {
                *known = mine.take();
            }
        }
    }
}
