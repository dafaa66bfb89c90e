//! Queue disciplines as Python hands them over: a name, a limit, and parameters by name.

use forebay_sim::queue::registry::QueueSpec;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The discipline `name` (as Linux's tc has it) that holds `packets` of `packet_bytes`.
pub fn queue_spec(
    name: &str,
    packets: u32,
    packet_bytes: u32,
    parameters: Option<&Bound<'_, PyDict>>,
) -> PyResult<QueueSpec> {
    let pairs = parameters.into_iter().flatten();
    let values = pairs
        .map(|(key, value)| Ok((key.extract::<String>()?, value.extract::<f64>()?)))
        .collect::<PyResult<Vec<_>>>()?;
    let named = values.iter().map(|(key, value)| (key.as_str(), *value));
    QueueSpec::named(name, packets, packet_bytes, named)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
