//! Times, rows and histograms of the simulator as NumPy arrays.

use forebay_sim::meters::histogram::Histogram;
use forebay_sim::time::{Picos, SECOND};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

pub(crate) fn seconds(span: Picos) -> f64 {
    span as f64 / SECOND as f64
}

pub(crate) fn table(py: Python<'_>, rows: Vec<Vec<i64>>) -> PyResult<Bound<'_, PyArray2<i64>>> {
    Ok(PyArray2::from_vec2(py, &rows)?)
}

pub(crate) fn spans<'py>(py: Python<'py>, spans: &[Picos]) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, spans.iter().map(|&span| seconds(span)).collect())
}

pub(crate) type Arrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Edges in seconds, and counts.
pub(crate) fn histogram<'py>(py: Python<'py>, histogram: &Histogram) -> Arrays<'py> {
    let counts = histogram.counts().iter().map(|&count| count as f64).collect();
    (spans(py, &histogram.edges()), PyArray1::from_vec(py, counts))
}
