//! What the core has, as lists that the Python catalogue compares with its own.

use forebay_sim::cc::record::{PerRound, Record};
use forebay_sim::cc::{Cc, NAMES};
use forebay_sim::queue::registry::{self, QueueSpec};
use forebay_sim::structure_bytes;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Every congestion control with what its record declares, in the order of `CONGESTION_CONTROLS`.
#[pyfunction]
pub fn controllers(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let records = NAMES.iter().filter_map(|name| Some((*name, *Cc::by_name(name)?.record())));
    records.map(|(name, record)| controller(py, name, &record)).collect()
}

fn controller<'py>(py: Python<'py>, name: &str, record: &Record) -> PyResult<Bound<'py, PyDict>> {
    let per_round = |it: PerRound| (it.segments, it.share, it.power);
    let made = PyDict::new(py);
    made.set_item("name", name)?;
    made.set_item("paced", record.paced)?;
    made.set_item("decrease", record.decrease.name())?;
    made.set_item("kept_after_loss", record.kept_after_loss())?;
    made.set_item("marks", record.marks.name())?;
    made.set_item("timeout_reduces_ssthresh", record.timeout_reduces_ssthresh)?;
    made.set_item(
        "growth",
        record.growth.map(|growth| (per_round(growth.least), per_round(growth.most))),
    )?;
    made.set_item("response", record.response.map(|response| response.name()))?;
    made.set_item("needs_every_ack", record.needs_every_ack)?;
    made.set_item("source", record.source)?;
    Ok(made)
}

/// Every queue discipline with its parameters and their defaults.
#[pyfunction]
pub fn disciplines(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    registry::NAMES
        .iter()
        .filter_map(|name| QueueSpec::by_name(name))
        .map(|spec| discipline(py, &spec))
        .collect()
}

fn discipline<'py>(py: Python<'py>, spec: &QueueSpec) -> PyResult<Bound<'py, PyDict>> {
    let parameters = PyDict::new(py);
    for (key, default) in spec.parameters() {
        parameters.set_item(key, default)?;
    }
    let made = PyDict::new(py);
    made.set_item("name", spec.name())?;
    made.set_item("decides_at_dequeue", spec.decides_at_dequeue())?;
    made.set_item("parameters", parameters)?;
    Ok(made)
}

/// Bytes of each structure whose number grows with a run.
#[pyfunction(name = "structure_bytes")]
pub fn bytes_of_structures(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let made = PyDict::new(py);
    for (name, bytes) in structure_bytes::structure_bytes() {
        made.set_item(name, bytes)?;
    }
    Ok(made)
}
