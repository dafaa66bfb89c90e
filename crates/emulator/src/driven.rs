//! What the driver read, as it goes into the result.

use crate::drive::{DriveReadings, Stream};
use crate::result::{histogram, seconds, spans};
use forebay_sim::probe::trace::{FlowTrace, Incident, State, Trace};
use serde_json::{Value, json};

/// What is inside `gate`, `provenance` and, where one was asked for, `trace` joins the router's.
pub fn driven(read: &DriveReadings, traced: bool) -> Value {
    let completions = read.completions.iter().map(|each| spans(each));
    let mut all = json!({
        "delivered_bytes": read.delivered_bytes,
        "timeouts": read.timeouts,
        "retransmissions": read.retransmissions,
        "flow_bytes": read.flow_bytes,
        "rtt": read.rtt.iter().map(histogram).collect::<Vec<_>>(),
        "completions_s": completions.collect::<Vec<_>>(),
        "streams": streams(&read.streams),
        "window_samples": { "at_s": spans(&read.trace.at), "sum": read.trace.window_sum },
        "gate": {
            "rwnd_limited": read.rwnd_limited,
            "sndbuf_limited": read.sndbuf_limited,
            "dsacks": read.dsacks,
            "failed_connections": read.failures,
            "datagrams_refused": read.refused,
        },
        "provenance": {
            "driver_cpu_s": seconds(read.cpu),
            "datagram_lateness": histogram(&read.lateness),
        },
    });
    if traced {
        all["trace"] = trace(&read.trace);
    }
    all
}

fn streams(read: &[Stream]) -> Value {
    let column = |of: fn(&Stream) -> u64| read.iter().map(of).collect::<Vec<_>>();
    json!({
        "flow": column(|stream| stream.flow.into()),
        "sent": column(|stream| stream.sent),
        "received": column(|stream| stream.received),
    })
}

/// The instants, the queues and the drops are the router's.
fn trace(read: &Trace) -> Value {
    let moments = |of: fn(&(f64, f64)) -> f64| read.windows.iter().map(of).collect::<Vec<_>>();
    let flows = &read.flows;
    json!({
        "window_sum": read.window_sum,
        "in_avoidance": read.in_avoidance,
        "cwnd": flows.iter().map(|flow| &flow.cwnd).collect::<Vec<_>>(),
        "srtt_s": flows.iter().map(|flow| spans(&flow.srtt)).collect::<Vec<_>>(),
        "state": flows.iter().map(states).collect::<Vec<_>>(),
        "window_mean": moments(|window| window.0),
        "window_variance": moments(|window| window.1),
        "reductions": incidents(&read.reductions),
    })
}

fn incidents(read: &[Incident]) -> Value {
    json!({
        "at_s": read.iter().map(|each| seconds(each.at)).collect::<Vec<_>>(),
        "flow": read.iter().map(|each| each.flow).collect::<Vec<_>>(),
        "count": read.iter().map(|each| each.count).collect::<Vec<_>>(),
    })
}

/// In the order of `outcome.trace.STATES`.
fn states(flow: &FlowTrace) -> Vec<u8> {
    let number = |state: &State| match state {
        State::Idle => 0,
        State::SlowStart => 1,
        State::Avoidance => 2,
        State::Recovery => 3,
        State::Loss => 4,
    };
    flow.state.iter().map(number).collect()
}
