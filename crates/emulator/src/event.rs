//! Events on standard output, one JSON object in each line.

use crate::clock::Clock;
use crate::failure::Failure;
use forebay_sim::link::LinkInfo;
use forebay_sim::queue::Limit;
use serde_json::{Value, json};
use std::io::Write;

/// Reports the failure that ended the run.
pub fn failed(failure: &Failure) {
    say(&json!({
        "event": "error",
        "code": failure.code(),
        "message": failure.to_string().replace('\n', " "),
        "hint": failure.hint(),
    }));
}

/// Ignores a closed reader; the end of standard input stops the run in that case.
fn say(event: &Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{event}").and_then(|()| out.flush());
}

/// Reports that the router is ready, with these links and queues, and that traffic begins.
pub fn ready(links: &[LinkInfo], clock: Clock) {
    let links: Vec<Value> = links.iter().map(link_info).collect();
    say(&json!({"event": "ready", "links": links, "began_ns": clock.began}));
}

fn link_info(link: &LinkInfo) -> Value {
    json!({
        "discipline": link.discipline,
        "limit": match link.limit {
            Limit::Packets(packets) => json!({"packets": packets}),
            Limit::Bytes(bytes) => json!({"bytes": bytes}),
        },
        "transmit_ring": link.transmit_ring,
        "rate_bps": link.rate_bps,
        "delay_ps": link.delay,
        "alpha": link.alpha,
    })
}

/// Reports the run's progress and state.
pub fn progress(done: f64, utilization: f64, lateness_p99_s: f64) {
    say(&json!({
        "event": "progress",
        "done": done,
        "utilization": utilization,
        "lateness_p99_s": lateness_p99_s,
    }));
}

/// Reports that the result is written.
pub fn done() {
    say(&json!({"event": "done"}));
}
