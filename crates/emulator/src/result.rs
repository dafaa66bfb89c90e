//! Readings in the form for Python: with the simulator's names and shapes.

use crate::drive::DriveReadings;
use crate::router::recorder::{Counts, QueueTrace};
use crate::router::router_loop::RouterResult;
use crate::router::timing::{Handed, TimingStats};
use forebay_sim::meters::histogram::Histogram;
use forebay_sim::meters::link::{ClassCounts, LinkBatch, LinkDetail};
use forebay_sim::meters::periods::PeriodStats;
use forebay_sim::report::LinkReport;
use forebay_sim::time::{Picos, SECOND};
use serde_json::{Map, Value, json};

/// All readings of a run.
pub fn readings(router_result: &RouterResult, driven: &DriveReadings, wall_s: f64) -> Value {
    let router = &router_result.readings;
    let mut all = json!({
        "links": router.links.iter().map(link).collect::<Vec<_>>(),
        "sent": table(&router.classes, |counts: &Counts| counts.sent),
        "drops": table(&router.classes, |counts: &Counts| counts.drops),
        "passed": table(&router.classes, |counts: &Counts| counts.passed),
        "flow_drops": router.flows.iter().map(|flow| flow.drops).collect::<Vec<_>>(),
        "flow_passed": router.flows.iter().map(|flow| flow.passed).collect::<Vec<_>>(),
        "rtt": router.rtt.iter().map(histogram).collect::<Vec<_>>(),
        "packets": router.packets,
        "events": router.events,
        "wall_s": wall_s,
        "trace": router.trace.as_ref().map(trace),
        "gate": gate(router_result),
        "provenance": provenance(router_result),
    });
    merge(&mut all, driven.to_json());
    all
}

/// Merges the driver's readings with the router's, and tables that both have, recursively.
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
        "lost": batches.iter().map(|batch| batch.lost).collect::<Vec<_>>(),
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

/// Packets before the wire at the start of the window, and at the end of each batch.
fn held(report: &LinkReport) -> Vec<u64> {
    let ends = report.batches.iter().map(|batch| batch.held);
    std::iter::once(report.held_at_first).chain(ends).collect()
}

fn busy(row: &[ClassCounts]) -> Vec<f64> {
    row.iter().map(|class| seconds(class.busy)).collect()
}

fn detail(read: &LinkDetail) -> Value {
    let stretches = |of: &PeriodStats| json!([seconds(of.total), histogram(&of.lengths)]);
    json!({
        "seen": read.queue_seen_by_arrivals,
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

fn gate(router_result: &RouterResult) -> Value {
    let timing: &TimingStats = &router_result.timing;
    json!({
        "lateness_p50_s": seconds(timing.quantile(0.5)),
        "lateness_p99_s": seconds(timing.quantile(0.99)),
        "lateness_max_s": seconds(timing.worst),
        "tun_tx_drops": router_result.lost_before,
        "write_errors": timing.write_errors,
        "doubled_segments": router_result.dsack_audit.doubled,
        "late_segments": router_result.dsack_audit.late,
        "router_cpu": router_result.cpu.iter().copied().fold(0.0, f64::max),
        "stalls": timing.stalls,
        "drops": router_result.readings.classes.iter().flatten().map(|class| class.drops).sum::<u64>(),
        "stall_drops": router_result.readings.stall_drops,
    })
}

fn provenance(router_result: &RouterResult) -> Value {
    let [sender, receiver] = router_result.timing.handed;
    json!({
        "handed_to_sender": handed(sender),
        "handed_to_receiver": handed(receiver),
        "emulator": env!("CARGO_PKG_VERSION"),
        "real_time": router_result.real_time,
        "router_threads": router_result.cpu,
        "lateness": histogram(&router_result.timing.lateness),
        "stray_packets": router_result.readings.unmatched,
        "capture_lost": router_result.capture_lost,
        "bursts": json!({
            "frames": router_result.bursts.frames, "packets": router_result.bursts.packets,
        }),
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

/// Durations in seconds.
pub fn spans(spans: &[Picos]) -> Vec<f64> {
    spans.iter().map(|&span| seconds(span)).collect()
}

/// A duration in seconds.
pub fn seconds(span: Picos) -> f64 {
    span as f64 / SECOND as f64
}
