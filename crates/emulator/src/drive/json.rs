//! The driver's readings as JSON of the result.

use super::readings::DriveReadings;
use crate::result::{histogram, seconds, spans};
use forebay_sim::meters::trace::{EventCount, FlowTrace, State, Trace};
use serde_json::{Value, json};

impl DriveReadings {
    /// Contents of `trace`, `gate` and `provenance` are merged with the router's.
    pub fn to_json(&self) -> Value {
        let mut all = json!({
            "delivered_bytes": self.delivered_bytes,
            "timeouts": self.timeouts,
            "retransmissions": self.retransmissions,
            "flow_bytes": self.flow_bytes,
            "completions_s": self.completions.iter().map(|each| spans(each)).collect::<Vec<_>>(),
            "unfinished_s": self.unfinished.iter().map(|each| spans(each)).collect::<Vec<_>>(),
            "streams": {
                "flow": self.streams.iter().map(|stream| stream.flow).collect::<Vec<_>>(),
                "sent": self.streams.iter().map(|stream| stream.sent).collect::<Vec<_>>(),
                "received": self.streams.iter().map(|stream| stream.received).collect::<Vec<_>>(),
            },
            "samples": samples(&self.trace),
            "gate": {
                "rwnd_limited": self.rwnd_limited,
                "sndbuf_limited": self.sndbuf_limited,
                "dsacks": self.dsacks,
                "failed_connections": self.failures,
                "refused_datagrams": self.refused,
            },
            "provenance": {
                "driver_cpu": self.cpu,
                "sent_by_hosts": self.sent,
                "datagram_lateness": histogram(&self.lateness),
            },
        });
        // The moments of all flows' windows exist only with a trace.
        if !self.trace.windows.is_empty() {
            all["trace"] = trace(&self.trace);
        }
        all
    }
}

fn samples(read: &Trace) -> Value {
    json!({
        "at_s": spans(&read.at),
        "window_sum": read.window_sum,
        "in_avoidance": read.in_avoidance,
    })
}

fn trace(read: &Trace) -> Value {
    let moments =
        |which: fn(&(f64, f64)) -> f64| read.windows.iter().map(which).collect::<Vec<_>>();
    let states = |flow: &FlowTrace| flow.state.iter().map(|&one| number(one)).collect::<Vec<_>>();
    json!({
        "window_sum": read.window_sum,
        "in_avoidance": read.in_avoidance,
        "cwnd": read.flows.iter().map(|flow| &flow.cwnd).collect::<Vec<_>>(),
        "srtt_s": read.flows.iter().map(|flow| spans(&flow.srtt)).collect::<Vec<_>>(),
        "state": read.flows.iter().map(states).collect::<Vec<_>>(),
        "window_mean": moments(|moments| moments.0),
        "window_variance": moments(|moments| moments.1),
        "reductions": incidents(&read.reductions),
    })
}

fn incidents(read: &[EventCount]) -> Value {
    json!({
        "at_s": read.iter().map(|incident| seconds(incident.at)).collect::<Vec<_>>(),
        "flow": read.iter().map(|incident| incident.flow).collect::<Vec<_>>(),
        "count": read.iter().map(|incident| incident.count).collect::<Vec<_>>(),
    })
}

/// In the order of Python's `outcome.trace.STATES`.
fn number(state: State) -> u8 {
    match state {
        State::Idle => 0,
        State::SlowStart => 1,
        State::Avoidance => 2,
        State::Recovery => 3,
        State::Loss => 4,
    }
}
