//! Reports as dicts of NumPy arrays.

use crate::arrays::{histogram, seconds, spans, table};
use crate::tracing::trace;
use forebay_sim::meters::link::{ClassCounts, LinkBatch, LinkDetail};
use forebay_sim::meters::periods::PeriodStats;
use forebay_sim::report::{ClassBatch, LinkReport, Report};
use forebay_sim::time::SECOND;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// See `Readings` in the type stubs for names and shapes.
pub fn readings<'py>(
    py: Python<'py>,
    report: &Report,
    wall_s: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let links = report.links.iter().map(|report| link(py, report)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("links", links)?;
    type Read = fn(&ClassBatch) -> u64;
    let counts: [(&str, Read); 6] = [
        ("sent", |class| class.sent_segments),
        ("drops", |class| class.drops),
        ("passed", |class| class.passed),
        ("delivered_bytes", |class| class.delivered_bytes),
        ("timeouts", |class| class.timeouts),
        ("retransmissions", |class| class.retransmissions),
    ];
    for (name, read) in counts {
        let row = |batch: &Vec<ClassBatch>| batch.iter().map(|class| read(class) as i64).collect();
        dict.set_item(name, table(py, report.classes.iter().map(row).collect())?)?;
    }
    let bytes = report.flow_bytes.iter().map(|&bytes| bytes as i64).collect();
    dict.set_item("flow_bytes", PyArray1::from_vec(py, bytes))?;
    type Packets = (u64, u64);
    let packets = |read: fn(&Packets) -> u64| {
        PyArray1::from_vec(py, report.flow_packets.iter().map(|each| read(each) as i64).collect())
    };
    dict.set_item("flow_drops", packets(|each| each.0))?;
    dict.set_item("flow_passed", packets(|each| each.1))?;
    let rtt: Vec<_> = report.rtt.iter().map(|rtt| histogram(py, rtt)).collect();
    dict.set_item("rtt", rtt)?;
    let completions = report.completions.iter().map(|times| spans(py, times));
    dict.set_item("completions_s", completions.collect::<Vec<_>>())?;
    let unfinished = report.unfinished.iter().map(|times| spans(py, times));
    dict.set_item("unfinished_s", unfinished.collect::<Vec<_>>())?;
    for (name, times) in
        [("requests_s", &report.requests), ("unfinished_requests_s", &report.unfinished_requests)]
    {
        dict.set_item(name, times.iter().map(|times| spans(py, times)).collect::<Vec<_>>())?;
    }
    dict.set_item("trace", report.trace.as_ref().map(|read| trace(py, read)).transpose()?)?;
    dict.set_item("packets", report.packets)?;
    dict.set_item("events", report.events)?;
    dict.set_item("wall_s", wall_s)?;
    Ok(dict)
}

fn link<'py>(py: Python<'py>, report: &LinkReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let batches = &report.batches;
    let per_batch =
        |read: fn(&LinkBatch) -> f64| PyArray1::from_vec(py, batches.iter().map(read).collect());
    dict.set_item("busy_s", per_batch(|batch| seconds(batch.busy)))?;
    dict.set_item("queue_packet_s", per_batch(|batch| batch.queue_area as f64 / SECOND as f64))?;
    dict.set_item("delay_sum_s", per_batch(|batch| batch.delay_sum as f64 / SECOND as f64))?;
    let row = |batch: &LinkBatch| batch.queue_time.iter().map(|&span| seconds(span)).collect();
    let rows: Vec<Vec<f64>> = batches.iter().map(row).collect();
    dict.set_item("queue_s", PyArray2::from_vec2(py, &rows)?)?;
    dict.set_item("queue_bin_width", report.queue_bin_width)?;
    let classes = report.classes.iter().map(|&class| i64::from(class)).collect();
    dict.set_item("classes", PyArray1::from_vec(py, classes))?;
    dict.set_item("delay", histogram(py, &report.delay))?;
    dict.set_item("longest_s", seconds(report.longest))?;
    let delays: Vec<_> = report.delays.iter().map(|delay| histogram(py, delay)).collect();
    dict.set_item("delays", delays)?;
    let ends = batches.iter().map(|batch| batch.held as i64);
    let held = std::iter::once(report.held_at_first as i64).chain(ends).collect();
    let lost = batches.iter().map(|batch| batch.lost as i64).collect();
    dict.set_item("lost", PyArray1::from_vec(py, lost))?;
    dict.set_item("held", PyArray1::from_vec(py, held))?;
    let busy = |batch: &LinkBatch| batch.classes.iter().map(|class| seconds(class.busy)).collect();
    let rows: Vec<Vec<f64>> = batches.iter().map(busy).collect();
    dict.set_item("class_busy_s", PyArray2::from_vec2(py, &rows)?)?;
    let detail = report.detail.as_deref().map(|read| detail(py, read)).transpose()?;
    dict.set_item("detail", detail)?;
    type Read = fn(&ClassCounts) -> u64;
    let counts: [(&str, Read); 6] = [
        ("arrivals", |class| class.arrivals),
        ("drops", |class| class.drops),
        ("marks", |class| class.marks),
        ("accepted", |class| class.accepted),
        ("sent", |class| class.sent),
        ("sent_bytes", |class| class.sent_bytes),
    ];
    for (name, read) in counts {
        let row =
            |batch: &LinkBatch| batch.classes.iter().map(|class| read(class) as i64).collect();
        dict.set_item(name, table(py, batches.iter().map(row).collect())?)?;
    }
    Ok(dict)
}

fn detail<'py>(py: Python<'py>, read: &LinkDetail) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let seen = read.queue_seen_by_arrivals.iter().map(|&packets| packets as i64).collect();
    dict.set_item("seen", PyArray1::from_vec(py, seen))?;
    let stretches = |of: &PeriodStats| (seconds(of.total), histogram(py, &of.lengths));
    dict.set_item("busy", stretches(&read.periods.busy))?;
    dict.set_item("idle", stretches(&read.periods.idle))?;
    Ok(dict)
}
