//! What a controller declares of itself: one record a controller, in its file. The
//! conformance suite measures each property, so that a record cannot say what its controller does not do.

/// What a controller does. No field has a default: a property left out fails the build at the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// It sets `Window::pacing_rate`. Its sender spaces segments, and each ACK has a rate sample.
    pub paced: bool,
    /// What a loss does.
    pub decrease: Decrease,
    /// What a congestion mark does.
    pub marks: Marks,
    /// Whether a retransmission timeout lowers ssthresh (RFC 5681, section 3.1).
    pub timeout_reduces_ssthresh: bool,
    /// Segments a round trip in congestion avoidance; `None` where a model of the path sets the window.
    pub growth: Option<Growth>,
    /// Its mean window as a function of the loss rate, if that has a published form.
    pub response: Option<Response>,
    /// `Controller::on_ack_received` is called with every ACK, also in recovery; else only with those
    /// that `cong_avoid_fast` leaves and that mark.
    pub needs_every_ack: bool,
    /// Where it is specified.
    pub source: &'static str,
}

/// A controller of the list: it declares what it does.
pub trait Declared {
    /// What it does.
    const RECORD: Record;
}

impl<T: Declared> Declared for Box<T> {
    const RECORD: Record = T::RECORD;
}

/// What a loss does to the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decrease {
    /// This share of the window is kept.
    Share(f64),
    /// The window becomes the measured bandwidth times the least round-trip time.
    Bandwidth,
    /// Nothing at a single loss: the controller sets cwnd on every ACK, also in recovery
    /// (`on_ack_received`), without fast recovery's halving and without PRR.
    Model,
}

/// What a congestion mark does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// The same as a loss, once a round trip (RFC 3168, section 6.1.2), where the scenario has ECN.
    Loss,
    /// It takes half of the marked share (RFC 8257). Packets are always ECN-capable.
    Fraction,
    /// Packets are ECT(1) (RFC 9331); the controller answers marks in `on_ack_received`.
    L4s,
    /// Nothing.
    Ignored,
}

/// The least and the most that a window grows by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Segments a round trip, at the least.
    pub least: PerRound,
    /// Segments a round trip, at the most.
    pub most: PerRound,
}

/// Segments a round trip as a function of the window: max(segments, share cwnd^power).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerRound {
    /// At any window.
    pub segments: f64,
    /// Factor of the window's power.
    pub share: f64,
    /// Exponent of the window.
    pub power: f64,
}

impl PerRound {
    /// So many segments whatever the window.
    pub const fn constant(segments: f64) -> Self {
        Self { segments, share: 0.0, power: 0.0 }
    }

    /// Segments a round trip at a window of `cwnd`.
    pub fn at(&self, cwnd: f64) -> f64 {
        self.segments.max(self.share * cwnd.powf(self.power))
    }
}

impl Growth {
    /// Reno's one segment a round trip (RFC 5681, section 3.1).
    pub const RENO: Self = Self { least: PerRound::constant(1.0), most: PerRound::constant(1.0) };
}

/// A published response function: mean window against loss rate. Its parameter is the share kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// One segment a round trip: sqrt((1 + b) / (2 (1 - b) p)), b the share kept (RFC 5348, section 3.1).
    Reno,
    /// RFC 9438, section 5, and Reno's where that is larger.
    Cubic,
    /// Kelly 2003: in proportion to 1 / p; Reno's growth below 100 segments.
    Scalable,
}

impl Record {
    /// Whether the sender leaves cwnd to the controller in recovery and at marks.
    pub const fn controls_cwnd(&self) -> bool {
        matches!(self.decrease, Decrease::Model)
    }

    /// Whether packets are ECN-capable whatever the scenario says.
    pub const fn needs_ecn(&self) -> bool {
        matches!(self.marks, Marks::Fraction | Marks::L4s)
    }

    /// Whether packets are ECT(1), and the sender leaves marks to the controller.
    pub const fn l4s(&self) -> bool {
        matches!(self.marks, Marks::L4s)
    }

    /// The share of the window that a loss leaves, where that is a constant.
    pub const fn kept_after_loss(&self) -> Option<f64> {
        match self.decrease {
            Decrease::Share(kept) => Some(kept),
            Decrease::Bandwidth | Decrease::Model => None,
        }
    }
}

impl Decrease {
    /// Its name outside of this crate.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Share(_) => "share",
            Self::Bandwidth => "bandwidth",
            Self::Model => "model",
        }
    }
}

impl Marks {
    /// Its name outside of this crate.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Fraction => "fraction",
            Self::L4s => "l4s",
            Self::Ignored => "ignored",
        }
    }
}

impl Response {
    /// Its name outside of this crate.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Scalable => "scalable",
        }
    }
}
