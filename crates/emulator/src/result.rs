//! Readings as Python takes them: names and shapes of the simulator's.

use crate::drive::DriveReadings;
use crate::router::gauge::{Gauge, Handed};
use crate::router::pump::Routed;
use crate::router::recorder::{Counts, QueueTrace};
use forebay_sim::probe::histogram::Histogram;
use forebay_sim::probe::link::{ClassCounts, LinkBatch, LinkDetail};
use forebay_sim::probe::periods::Stretches;
use forebay_sim::report::LinkReport;
use forebay_sim::time::{Picos, SECOND};
use serde_json::{Map, Value, json};

/// Everything that a run read.
pub fn readings(routed: &Routed, driven: &DriveReadings, wall_s: f64) -> Value {
    let router = &routed.readings;
    let mut all = json!({
        "links": router.links.iter().map(link).collect::<Vec<_>>(),
        "sent": table(&router.classes, |counts: &Counts| counts.sent),
        "drops": table(&router.classes, |counts: &Counts| counts.drops),
        "passed": table(&router.classes, |counts: &Counts| counts.passed),
        "flow_drops": router.flows.iter().map(|flow| flow.drops).collect::<Vec<_>>(),
        "flow_passed": router.flows.iter().map(|flow| flow.passed).collect::<Vec<_>>(),
        "packets": router.packets,
        "events": router.events,
        "wall_s": wall_s,
        "trace": router.trace.as_ref().map(trace),
        "gate": gate(routed),
        "provenance": provenance(routed),
    });
    merge(&mut all, driven.to_json());
    all
}

/// What the driver read goes beside what the router read, and inside where both read parts.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Object(Map::new())), value);
            }
        }
        (into, from) => *into = from,
    }
}

fn link(report: &LinkReport) -> Value {
    let batches = &report.batches;
    let each = |read: fn(&LinkBatch) -> f64| batches.iter().map(read).collect::<Vec<_>>();
    let queue = |batch: &LinkBatch| spans(&batch.queue_time);
    let classes: Vec<&[ClassCounts]> = batches.iter().map(|batch| &batch.classes[..]).collect();
    json!({
        "busy_s": each(|batch| seconds(batch.busy)),
        "queue_packet_s": each(|batch| batch.queue_area as f64 / SECOND as f64),
        "delay_sum_s": each(|batch| batch.delay_sum as f64 / SECOND as f64),
        "queue_s": batches.iter().map(queue).collect::<Vec<_>>(),
        "queue_bin_width": report.queue_bin_width,
        "delay": histogram(&report.delay),
        "longest_s": seconds(report.longest),
        "delays": report.delays.iter().map(histogram).collect::<Vec<_>>(),
        "held": held(report),
        "arrivals": table(&classes, |class| class.arrivals),
        "drops": table(&classes, |class| class.drops),
        "marks": table(&classes, |class| class.marks),
        "accepted": table(&classes, |class| class.accepted),
        "sent": table(&classes, |class| class.sent),
        "sent_bytes": table(&classes, |class| class.sent_bytes),
        "class_busy_s": classes.iter().map(|row| busy(row)).collect::<Vec<_>>(),
        "detail": report.detail.as_deref().map(detail),
    })
}

/// Packets before the wire as the window begins, and as each batch ends.
fn held(report: &LinkReport) -> Vec<u64> {
    let ends = report.batches.iter().map(|batch| batch.held);
    std::iter::once(report.held_at_first).chain(ends).collect()
}

fn busy(row: &[ClassCounts]) -> Vec<f64> {
    row.iter().map(|class| seconds(class.busy)).collect()
}

fn detail(read: &LinkDetail) -> Value {
    let stretches = |of: &Stretches| json!([seconds(of.total), histogram(&of.lengths)]);
    json!({
        "seen": read.seen,
        "busy": stretches(&read.periods.busy),
        "idle": stretches(&read.periods.idle),
    })
}

fn trace(read: &QueueTrace) -> Value {
    let drops = &read.drops;
    json!({
        "at_s": spans(&read.at),
        "queue": read.queue,
        "drops": {
            "at_s": drops.iter().map(|drop| seconds(drop.at)).collect::<Vec<_>>(),
            "flow": drops.iter().map(|drop| drop.flow).collect::<Vec<_>>(),
            "count": drops.iter().map(|drop| drop.count).collect::<Vec<_>>(),
        },
    })
}

fn gate(routed: &Routed) -> Value {
    let gauge: &Gauge = &routed.gauge;
    json!({
        "lateness_p50_s": seconds(gauge.quantile(0.5)),
        "lateness_p99_s": seconds(gauge.quantile(0.99)),
        "lateness_max_s": seconds(gauge.worst),
        "tun_tx_drops": routed.lost_before,
        "write_errors": gauge.write_errors,
        "doubled_segments": routed.witness.doubled,
        "late_segments": routed.witness.late,
        "router_cpu": routed.cpu.iter().copied().fold(0.0, f64::max),
        "stalls": gauge.stalls,
    })
}

fn provenance(routed: &Routed) -> Value {
    let [sender, receiver] = routed.gauge.handed;
    json!({
        "handed_to_sender": handed(sender),
        "handed_to_receiver": handed(receiver),
        "emulator": env!("CARGO_PKG_VERSION"),
        "real_time": routed.real_time,
        "router_threads": routed.cpu,
        "lateness": histogram(&routed.gauge.lateness),
        "stray_packets": routed.readings.strays,
        "capture_lost": routed.capture_lost,
    })
}

fn handed(to: Handed) -> Value {
    json!({"packets": to.packets, "octets": to.bytes})
}

/// Shape (batches, classes).
fn table<Cell>(rows: &[impl AsRef<[Cell]>], read: fn(&Cell) -> u64) -> Vec<Vec<u64>> {
    rows.iter().map(|row| row.as_ref().iter().map(read).collect()).collect()
}

/// Edges in seconds, and counts.
pub fn histogram(histogram: &Histogram) -> Value {
    json!([spans(&histogram.edges()), histogram.counts()])
}

/// Spans of time in seconds.
pub fn spans(spans: &[Picos]) -> Vec<f64> {
    spans.iter().map(|&span| seconds(span)).collect()
}

/// A span of time in seconds.
pub fn seconds(span: Picos) -> f64 {
    span as f64 / SECOND as f64
}
