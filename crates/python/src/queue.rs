//! Queue disciplines as Python hands them over: a name, a limit, and parameters by name.

use forebay_sim::queue::spec::QueueSpec;
use forebay_sim::time::{Picos, SECOND};
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
    let unknown = || PyValueError::new_err(format!("unknown queue discipline {name:?}"));
    let mut spec = QueueSpec::by_name(name).ok_or_else(unknown)?.sized(packets, packet_bytes);
    for (key, value) in parameters.into_iter().flatten() {
        set(&mut spec, &key.extract::<String>()?, &value)?;
    }
    spec.check().map_err(|error| PyValueError::new_err(format!("{name}: {error}")))?;
    Ok(spec)
}

fn set(spec: &mut QueueSpec, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let span = || -> PyResult<Picos> { Ok((value.extract::<f64>()? * SECOND as f64) as Picos) };
    match (spec, key) {
        (QueueSpec::Red(red), "ecn") => red.ecn = value.extract()?,
        (QueueSpec::Red(red), "min") => red.min = Some(value.extract()?),
        (QueueSpec::Red(red), "max") => red.max = Some(value.extract()?),
        (QueueSpec::Red(red), "probability") => red.probability = value.extract()?,
        (QueueSpec::Red(red), "weight") => red.weight = Some(value.extract()?),
        (QueueSpec::Red(red), "gentle") => red.gentle = value.extract()?,
        (QueueSpec::Pie(pie), "ecn") => pie.ecn = value.extract()?,
        (QueueSpec::Pie(pie), "target") => pie.target = span()?,
        (QueueSpec::Codel(codel), "ecn") => codel.ecn = value.extract()?,
        (QueueSpec::Codel(codel), "target") => codel.target = span()?,
        (QueueSpec::Codel(codel), "interval") => codel.interval = span()?,
        (QueueSpec::FqCodel(fair), "ecn") => fair.ecn = value.extract()?,
        (QueueSpec::FqCodel(fair), "target") => fair.target = span()?,
        (QueueSpec::FqCodel(fair), "interval") => fair.interval = span()?,
        (QueueSpec::FqCodel(fair), "quantum") => fair.quantum = value.extract()?,
        (QueueSpec::FqCodel(fair), "buckets") => fair.flows = value.extract()?,
        (spec, _) => {
            let name = spec.name();
            return Err(PyValueError::new_err(format!("{name} has no parameter {key:?}")));
        }
    }
    Ok(())
}
