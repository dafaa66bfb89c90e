//! The driver over the loopback device: no root, no router, hence no queue and hardly any delay.

mod datagrams;
mod tcp;

use super::{DriveReadings, Driver};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::plan::Plan;
use forebay_sim::time::{MILLISECOND, Picos};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One class with flows that start at `starts`; the window is from 100 ms to 300 ms.
fn plan(kind: &str, starts: &[Picos], segments: u64) -> Value {
    let n = starts.len();
    json!({
        "schema": 1, "seed": 1, "warmup_ps": 100 * MILLISECOND, "window_ps": 200 * MILLISECOND,
        "batches": 4, "result": "", "sender": {"netns": "", "tun": ""},
        "receiver": {"netns": "", "tun": ""},
        "first_sender": "127.1.0.0", "first_receiver": "127.2.0.0",
        "links": [{
            "name": "bottleneck", "rate_bps": 1e8, "buffer_packets": 100, "packet_bytes": 1500,
            "discipline": "pfifo", "parameters": {}, "transmit_ring": 0, "delay_ps": 0,
            "alpha": null
        }],
        "memory_bytes": null, "routes": [[[0], []]],
        "classes": [{
            "kind": kind, "ecn": false, "max_window": null, "reverse": false, "last_link": 0
        }],
        "flows": {
            "class": vec![0; n], "route": vec![0; n], "congestion_control": vec![0; n],
            "rtt_ps": vec![MILLISECOND; n], "start_ps": starts, "segments": vec![segments; n],
            "packet_bytes": vec![1500; n], "access_bps": vec![1e9; n],
            "access_group": (0..n).collect::<Vec<_>>()
        },
        "congestion_controls": ["reno"], "packets": null, "sessions": null,
        "sample_ps": 20 * MILLISECOND, "trace": null, "capture": null
    })
}

fn parse(plan: Value) -> Plan {
    serde_json::from_value(plan).expect("a plan")
}

/// Where a machine is busy, a thread may sleep for a tenth of a second: a check that what happened
/// at its time is made again, some times and ever later, before it counts. One at a time: they would
/// disturb each other.
fn steadily(check: impl Fn() + std::panic::RefUnwindSafe) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let passes = |tries: u64| {
        std::thread::sleep(Duration::from_millis(100 * tries));
        std::panic::catch_unwind(&check).is_ok()
    };
    if !(0..15).any(passes) {
        check();
    }
}

/// Plays a plan to its end.
fn play(plan: Value) -> Result<DriveReadings, Failure> {
    let plan = parse(plan);
    let clock = Clock::start();
    let driver = Driver::start(&plan, clock)?;
    while clock.now_ps() < plan.end_ps() && !driver.has_failed() {
        std::thread::sleep(clock.until(plan.end_ps().min(clock.now_ps() + 20 * MILLISECOND)));
    }
    driver.stop()
}

fn ms(times: &[u64]) -> Vec<Picos> {
    times.iter().map(|time| time * MILLISECOND).collect()
}
