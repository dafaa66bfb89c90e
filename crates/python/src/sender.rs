//! The TCP stack of a traffic class, and what a scenario overrides of it.

use forebay_sim::tcp::offload::Offload;
use forebay_sim::tcp::profile;
use forebay_sim::time::Picos;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Set = fn(&mut profile::Profile, &Bound<'_, PyAny>) -> PyResult<()>;

macro_rules! sender_options {
    ($($name:literal, $stack:ident, $value:ident: $type:ty => $set:expr;)*) => {
        const OPTIONS: &[(&str, Set)] = &[$(($name, |$stack, given| {
            let $value: $type = given.extract()?;
            $set;
            Ok(())
        }),)*];
    };
}

// By their names in a scenario, in the order in which they are applied; times are in picoseconds.
sender_options! {
    "ecn", stack, value: bool => stack.ecn = value;
    "initial_window", stack, value: u32 => stack.initial_window = value;
    "sack", stack, value: bool => stack.sack = value;
    "delayed_ack", stack, value: bool => {
        let delay = stack.delayed_ack.or(profile::Profile::linux().delayed_ack);
        stack.delayed_ack = delay.filter(|_| value);
    };
    "delayed_ack_timeout", stack, value: Picos => {
        stack.delayed_ack = stack.delayed_ack.map(|_| value);
    };
    "min_rto", stack, value: Picos => stack.min_rto = value;
    "max_window", stack, value: u32 => stack.max_window = value;
    "jitter", stack, value: Picos => stack.jitter = value;
    "timer_tick", stack, value: Picos => stack.timer_tick = value;
    "offload", stack, value: bool => {
        stack.offload = if value { Offload::ON } else { Offload::OFF };
    };
    "segment", stack, value: u32 => stack.segment_bytes = Some(value);
}

/// Names of a sender's options.
pub fn sender_options() -> Vec<&'static str> {
    OPTIONS.iter().map(|(name, _)| *name).collect()
}

/// A TCP stack: "ns2" or "linux", with what a scenario overrides by name.
#[pyclass(frozen, module = "forebay._core")]
pub struct Profile(pub profile::Profile);

#[pymethods]
impl Profile {
    #[new]
    #[pyo3(signature = (name, options=None))]
    fn new(name: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut made = profile::Profile::by_name(name)
            .ok_or_else(|| PyValueError::new_err(format!("unknown sender profile {name:?}")))?;
        let mut left = options.map_or(0, |given| given.len());
        for (option, set) in OPTIONS {
            if let Some(value) = options.and_then(|given| given.get_item(option).transpose()) {
                set(&mut made, &value?)?;
                left -= 1;
            }
        }
        if left > 0 {
            return Err(PyValueError::new_err("an option that no sender has"));
        }
        Ok(Self(made))
    }
}
