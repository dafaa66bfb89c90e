//! Reports as dicts of NumPy arrays.

use forebay_sim::cc::Phase;
use forebay_sim::probe::histogram::Histogram;
use forebay_sim::probe::link::{ClassCounts, LinkBatch};
use forebay_sim::probe::trace::Trace;
use forebay_sim::report::{ClassBatch, LinkReport, Report};
use forebay_sim::time::{Picos, SECOND};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn seconds(span: Picos) -> f64 {
    span as f64 / SECOND as f64
}

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
    let counts: [(&str, Read); 5] = [
        ("sent", |class| class.sent_segments),
        ("drops", |class| class.drops),
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
    let rtt: Vec<_> = report.rtt.iter().map(|rtt| histogram(py, rtt)).collect();
    dict.set_item("rtt", rtt)?;
    let completions = report.completions.iter().map(|times| spans(py, times));
    dict.set_item("completions_s", completions.collect::<Vec<_>>())?;
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
    dict.set_item("delay", histogram(py, &report.delay))?;
    type Read = fn(&ClassCounts) -> u64;
    let counts: [(&str, Read); 3] = [
        ("arrivals", |class| class.arrivals),
        ("drops", |class| class.drops),
        ("sent_bytes", |class| class.sent_bytes),
    ];
    for (name, read) in counts {
        let row =
            |batch: &LinkBatch| batch.classes.iter().map(|class| read(class) as i64).collect();
        dict.set_item(name, table(py, batches.iter().map(row).collect())?)?;
    }
    Ok(dict)
}

fn trace<'py>(py: Python<'py>, read: &Trace) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("at_s", spans(py, &read.at))?;
    let queue = |link: &Vec<u32>| link.iter().map(|&packets| i64::from(packets)).collect();
    dict.set_item("queue", table(py, read.queue.iter().map(queue).collect())?)?;
    dict.set_item("window_sum", PyArray1::from_slice(py, &read.window_sum))?;
    let avoiding = read.in_avoidance.iter().map(|&flows| i64::from(flows)).collect();
    dict.set_item("in_avoidance", PyArray1::from_vec(py, avoiding))?;
    let cwnd: Vec<Vec<f64>> = read.flows.iter().map(|flow| flow.cwnd.clone()).collect();
    dict.set_item("cwnd", PyArray2::from_vec2(py, &cwnd)?)?;
    let srtt: Vec<Vec<f64>> =
        read.flows.iter().map(|flow| flow.srtt.iter().map(|&rtt| seconds(rtt)).collect()).collect();
    dict.set_item("srtt_s", PyArray2::from_vec2(py, &srtt)?)?;
    let phase = |phase: &Phase| match phase {
        Phase::Open => 0,
        Phase::Recovery => 1,
        Phase::Loss => 2,
    };
    let phases = read.flows.iter().map(|flow| flow.phase.iter().map(phase).collect()).collect();
    dict.set_item("phase", table(py, phases)?)?;
    Ok(dict)
}

fn table(py: Python<'_>, rows: Vec<Vec<i64>>) -> PyResult<Bound<'_, PyArray2<i64>>> {
    Ok(PyArray2::from_vec2(py, &rows)?)
}

fn spans<'py>(py: Python<'py>, spans: &[Picos]) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, spans.iter().map(|&span| seconds(span)).collect())
}

type Arrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Edges in seconds, and counts.
fn histogram<'py>(py: Python<'py>, histogram: &Histogram) -> Arrays<'py> {
    let counts = histogram.counts().iter().map(|&count| count as f64).collect();
    (spans(py, &histogram.edges()), PyArray1::from_vec(py, counts))
}
