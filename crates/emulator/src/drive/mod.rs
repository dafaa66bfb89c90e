//! The driver: sockets in the two namespaces that play the plan's flows.

use crate::clock::Clock;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::result::{histogram, spans};
use forebay_sim::probe::histogram::Histogram;
use forebay_sim::time::Picos;
use serde_json::{Value, json};

/// What endpoints read of the measured window. What the router sees (packets sent, dropped, queues)
/// is the router's.
#[derive(Default)]
pub struct DriveReadings {
    /// Bytes on the link of segments that receivers took in order; by batch, then class.
    pub delivered_bytes: Vec<Vec<u64>>,
    /// Retransmission timeouts; by batch, then class.
    pub timeouts: Vec<Vec<u64>>,
    /// Segments sent again; by batch, then class.
    pub retransmissions: Vec<Vec<u64>>,
    /// `delivered_bytes` of each flow over the window.
    pub flow_bytes: Vec<u64>,
    /// Round-trip times that senders measured, by class.
    pub rtt: Vec<Histogram>,
    /// Completion times of flows that ended in the window, by class.
    pub completions: Vec<Vec<Picos>>,
    /// Share of the senders' time limited by the receiver's window.
    pub rwnd_limited: f64,
    /// Share of the senders' time limited by their send buffers.
    pub sndbuf_limited: f64,
    /// Duplicate SACKs received.
    pub dsacks: u64,
}

impl DriveReadings {
    /// As they go into the result; what is inside `trace`, `gate` and `provenance` joins the
    /// router's.
    pub fn to_json(&self) -> Value {
        json!({
            "delivered_bytes": self.delivered_bytes,
            "timeouts": self.timeouts,
            "retransmissions": self.retransmissions,
            "flow_bytes": self.flow_bytes,
            "rtt": self.rtt.iter().map(histogram).collect::<Vec<_>>(),
            "completions_s": self.completions.iter().map(|each| spans(each)).collect::<Vec<_>>(),
            "gate": {
                "rwnd_limited": self.rwnd_limited,
                "sndbuf_limited": self.sndbuf_limited,
                "dsacks": self.dsacks,
            },
        })
    }
}

/// Plays the plan's flows.
pub struct Driver {}

impl Driver {
    /// Enters the namespaces and begins; the clock's zero is now or just past.
    pub fn start(_plan: &Plan, _clock: Clock) -> Result<Self, Failure> {
        Ok(Self {})
    }

    /// Ends every flow and gives what was read.
    pub fn stop(self) -> Result<DriveReadings, Failure> {
        Ok(DriveReadings::default())
    }
}
