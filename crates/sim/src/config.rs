//! What to simulate.

use crate::queue::drop_tail::DropTail;
use crate::tcp::profile::Profile;
use crate::time::Picos;

/// One flow, as the workload drew it.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Index into `Config::profiles`, and into the readings by class.
    pub class: u16,
    /// Linux name of the congestion controller.
    pub congestion_control: &'static str,
    /// Two-way propagation delay.
    pub rtt: Picos,
    /// When its first packet reaches the queue, if its access link is idle.
    pub start: Picos,
    /// Segments to send; `u64::MAX` for a flow that never ends.
    pub segments: u64,
    /// Size of a data packet on the link, headers included.
    pub packet_bytes: u32,
    /// Rate of the sender's own access link.
    pub access_bps: f64,
}

/// A dumbbell and its traffic.
#[derive(Clone, Debug)]
pub struct Config {
    /// Rate of the bottleneck.
    pub rate_bps: f64,
    /// Its queue.
    pub queue: DropTail,
    /// One profile a traffic class.
    pub profiles: Vec<Profile>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// Time before readings begin.
    pub warmup: Picos,
    /// Length of the measured window.
    pub window: Picos,
    /// Equal parts of the window, each read on its own.
    pub batches: u32,
}

/// What makes a configuration impossible to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// There is no flow, no class, no batch or no window.
    Empty(&'static str),
    /// More flows than event nodes can be numbered.
    TooManyFlows(usize),
    /// A flow names a congestion controller that does not exist.
    UnknownCongestionControl(String),
    /// A flow names a traffic class that does not exist.
    UnknownClass(u16),
    /// A rate or size that must be positive is not.
    NotPositive(&'static str),
    /// The run would outlast the clock (about 26 days).
    TooLong,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty(what) => write!(f, "nothing to simulate: no {what}"),
            Self::TooManyFlows(n) => write!(f, "{n} flows: at most {MOST_FLOWS} fit"),
            Self::UnknownCongestionControl(name) => {
                write!(f, "unknown congestion control {name:?}")
            }
            Self::UnknownClass(class) => write!(f, "unknown traffic class {class}"),
            Self::NotPositive(what) => write!(f, "{what} must be positive"),
            Self::TooLong => write!(f, "the run is longer than the clock's 26 days"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Flows that event nodes can be numbered for.
pub const MOST_FLOWS: usize = 1 << 29;
/// Segment records keep their time in 61 bits.
const LAST_INSTANT: Picos = 1 << 60;

impl Config {
    /// Refuses what cannot be simulated.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (missing, what) in [
            (self.flows.is_empty(), "flow"),
            (self.profiles.is_empty(), "traffic class"),
            (self.batches == 0, "batch"),
            (self.window < u64::from(self.batches), "measured window"),
        ] {
            if missing {
                return Err(ConfigError::Empty(what));
            }
        }
        if self.flows.len() > MOST_FLOWS {
            return Err(ConfigError::TooManyFlows(self.flows.len()));
        }
        if self.warmup.saturating_add(self.window) > LAST_INSTANT {
            return Err(ConfigError::TooLong);
        }
        positive(self.rate_bps, "link rate")?;
        self.flows.iter().try_for_each(|flow| self.check_flow(flow))
    }

    fn check_flow(&self, flow: &FlowSpec) -> Result<(), ConfigError> {
        if flow.class as usize >= self.profiles.len() {
            return Err(ConfigError::UnknownClass(flow.class));
        }
        if !crate::cc::NAMES.contains(&flow.congestion_control) {
            return Err(ConfigError::UnknownCongestionControl(flow.congestion_control.into()));
        }
        positive(flow.access_bps, "access rate")?;
        positive(f64::from(flow.packet_bytes), "packet size")
    }
}

fn positive(value: f64, what: &'static str) -> Result<(), ConfigError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(ConfigError::NotPositive(what)) }
}
