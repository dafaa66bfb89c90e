//! Queue disciplines as passed by Python: a name, a limit, and parameters by name.

use forebay_sim::queue::classes::{ClassParams, MaxRate};
use forebay_sim::queue::parse::NamingError;
use forebay_sim::queue::registry::QueueSpec;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The discipline `name` (of Linux's tc) with a limit of `packets` of `packet_bytes`.
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
    QueueSpec::named(name, packets, packet_bytes, named).map_err(|error| refused(&error))
}

/// A class queue: name of its discipline, limit, the packet that it counts by, parameters, priority,
/// weight, and rates.
pub type ClassQueue<'py> = (String, u32, u32, Bound<'py, PyDict>, u32, f64, ClassRates);

/// Guaranteed rate of a class, bit/s; its maximum rate, with the burst in bytes.
type ClassRates = (Option<f64>, Option<(f64, Option<u64>)>);

/// Several class queues, and for each traffic class the index of its own.
pub fn classes_spec(queues: &[ClassQueue<'_>], of_traffic: Vec<u16>) -> PyResult<QueueSpec> {
    let class =
        |(name, packets, packet_bytes, parameters, priority, weight, rates): &ClassQueue<'_>| {
            let queue = queue_spec(name, *packets, *packet_bytes, Some(parameters))?;
            let queue = queue.try_into().map_err(|error| refused(&error))?;
            let (min_rate_bps, max_rate) = *rates;
            let max_rate =
                max_rate.map(|(rate_bps, burst_bytes)| MaxRate { rate_bps, burst_bytes });
            Ok(ClassParams { queue, priority: *priority, weight: *weight, min_rate_bps, max_rate })
        };
    let classes = queues.iter().map(class).collect::<PyResult<Vec<_>>>()?;
    QueueSpec::of_classes(classes, of_traffic).map_err(|error| refused(&error))
}

fn refused(error: &NamingError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
