//! Traces as dicts of NumPy arrays.

use crate::arrays::{seconds, spans, table};
use forebay_sim::meters::trace::{EventCount, FlowTrace, State, Trace};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// See `TraceReadings` in the type stubs for names and shapes.
pub fn trace<'py>(py: Python<'py>, read: &Trace) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("at_s", spans(py, &read.at))?;
    let queue = read.queue.iter().map(|link| whole(link)).collect();
    dict.set_item("queue", table(py, queue)?)?;
    dict.set_item("window_sum", PyArray1::from_slice(py, &read.window_sum))?;
    dict.set_item("in_avoidance", PyArray1::from_vec(py, whole(&read.in_avoidance)))?;
    flows(py, &dict, &read.flows)?;
    let moments = |which: fn(&(f64, f64)) -> f64| {
        PyArray1::from_vec(py, read.windows.iter().map(which).collect())
    };
    dict.set_item("window_mean", moments(|windows| windows.0))?;
    dict.set_item("window_variance", moments(|windows| windows.1))?;
    dict.set_item("drops", incidents(py, &read.drops)?)?;
    dict.set_item("reductions", incidents(py, &read.reductions)?)?;
    Ok(dict)
}

fn flows(py: Python<'_>, dict: &Bound<'_, PyDict>, read: &[FlowTrace]) -> PyResult<()> {
    let cwnd: Vec<Vec<f64>> = read.iter().map(|flow| flow.cwnd.clone()).collect();
    dict.set_item("cwnd", PyArray2::from_vec2(py, &cwnd)?)?;
    let srtt = |flow: &FlowTrace| flow.srtt.iter().map(|&rtt| seconds(rtt)).collect();
    let srtt: Vec<Vec<f64>> = read.iter().map(srtt).collect();
    dict.set_item("srtt_s", PyArray2::from_vec2(py, &srtt)?)?;
    let state = |flow: &FlowTrace| flow.state.iter().map(|&state| number(state)).collect();
    dict.set_item("state", table(py, read.iter().map(state).collect())?)
}

/// In the order of `outcome.trace.STATES`.
fn number(state: State) -> i64 {
    match state {
        State::Idle => 0,
        State::SlowStart => 1,
        State::Avoidance => 2,
        State::Recovery => 3,
        State::Loss => 4,
    }
}

fn incidents<'py>(py: Python<'py>, read: &[EventCount]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let at: Vec<_> = read.iter().map(|incident| incident.at).collect();
    dict.set_item("at_s", spans(py, &at))?;
    let column = |which: fn(&EventCount) -> u32| {
        PyArray1::from_vec(py, read.iter().map(|incident| i64::from(which(incident))).collect())
    };
    dict.set_item("flow", column(|incident| incident.flow))?;
    dict.set_item("count", column(|incident| incident.count))?;
    Ok(dict)
}

fn whole(values: &[u32]) -> Vec<i64> {
    values.iter().map(|&value| i64::from(value)).collect()
}
