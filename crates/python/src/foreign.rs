//! Congestion controls from outside, for runs that name them.

use forebay_foreign::{HOOKS, Plugin};
use forebay_sim::cc::foreign::{Factory, ForeignList};
use forebay_sim::cc::{NAMES, foreign};
use forebay_sim::config::Config;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

pyo3::create_exception!(
    _core,
    ControlFault,
    PyException,
    "A control from outside did what none may."
);

/// Raises what a control of these runs did wrong: its name, and what.
pub fn check_faults(configs: &[&Config]) -> PyResult<()> {
    for foreign in configs.iter().flat_map(|config| &config.foreign.0) {
        if let Some(what) = foreign.failure() {
            return Err(ControlFault::new_err((foreign.name(), what)));
        }
    }
    Ok(())
}

/// A control of a library, loaded into this process: what it does to a process, it does to this one.
#[pyclass(frozen, module = "forebay._core")]
pub struct ForeignControl {
    pub factory: Arc<dyn Factory>,
    plugin: &'static Plugin,
}

#[pymethods]
impl ForeignControl {
    #[new]
    fn new(path: PathBuf, name: &str) -> PyResult<Self> {
        let plugin =
            Plugin::load(&path, name).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { factory: Arc::new(Borrowed(plugin)), plugin })
    }

    /// What the library calls itself.
    #[getter]
    fn own_name(&self) -> &str {
        self.plugin.own_name()
    }

    /// What it asks for, and the bytes of a connection's state.
    #[getter]
    fn wants<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let foreign::Wants { paces, controls_cwnd, ecn, l4s, unlimited } = self.plugin.wants();
        let made = PyDict::new(py);
        made.set_item("paces", paces)?;
        made.set_item("controls_cwnd", controls_cwnd)?;
        made.set_item("ecn", ecn)?;
        made.set_item("l4s", l4s)?;
        made.set_item("unlimited", unlimited)?;
        made.set_item("state_bytes", self.plugin.state_bytes())?;
        Ok(made)
    }

    /// How often each hook was called; None for those that it lacks.
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        for (name, calls) in HOOKS.iter().zip(self.plugin.calls()) {
            made.set_item(name, calls)?;
        }
        Ok(made)
    }

    /// The first that it did wrong, or None.
    fn fault(&self) -> Option<String> {
        self.plugin.fault()
    }
}

/// A plugin, which lives as long as the process.
#[derive(Debug)]
struct Borrowed(&'static Plugin);

impl Factory for Borrowed {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn wants(&self) -> foreign::Wants {
        self.0.wants()
    }

    fn make(&self) -> Box<dyn foreign::Hooks> {
        self.0.make()
    }

    fn failure(&self) -> Option<String> {
        self.0.failure()
    }
}

/// The foreign controls of a run.
pub fn list_of(given: &[PyRef<'_, ForeignControl>]) -> ForeignList {
    ForeignList(given.iter().map(|each| Arc::clone(&each.factory)).collect())
}

/// The name of a control by its number: those of the list first, then those given.
pub fn name_of(number: usize, given: &[PyRef<'_, ForeignControl>]) -> Option<&'static str> {
    NAMES.get(number).copied().or_else(|| Some(given.get(number - NAMES.len())?.factory.name()))
}
