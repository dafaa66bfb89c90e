//! Congestion controls from outside, for runs that name them.

use crate::python_control::PythonFactory;
use forebay_foreign::{HOOKS, Plugin};
use forebay_sim::cc::foreign::{Factory, ForeignCc, ForeignList};
use forebay_sim::cc::shadow::{CALLS, Difference, Maker, Shadow};
use forebay_sim::cc::{Cc, IncreaseRule, NAMES, Window, conformance, foreign};
use forebay_sim::config::Config;
use forebay_sim::time::{Picos, SECOND};
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
    plugin: Option<&'static Plugin>,
}

/// A control that steers, and one from outside that is called beside it; takes the place of a control.
#[pyclass(frozen, module = "forebay._core")]
pub struct ShadowedControl(Arc<Shadow>);

/// A control that a run may name besides those of the list.
#[derive(FromPyObject)]
pub enum AnyForeign<'py> {
    /// One alone.
    One(PyRef<'py, ForeignControl>),
    /// Two beside each other.
    Two(PyRef<'py, ShadowedControl>),
}

impl AnyForeign<'_> {
    fn factory(&self) -> Arc<dyn Factory> {
        match self {
            Self::One(control) => Arc::clone(&control.factory),
            Self::Two(pair) => Arc::clone(&pair.0) as Arc<dyn Factory>,
        }
    }
}

#[pymethods]
impl ShadowedControl {
    /// `ours` steers: a name of the list, or a control from outside.
    #[new]
    fn new(ours: Ours<'_>, other: &ForeignControl) -> PyResult<Self> {
        let ours = match ours {
            Ours::Listed(name) => {
                let known = NAMES.iter().find(|each| **each == name);
                Maker::Listed(known.ok_or_else(|| PyValueError::new_err(name))?)
            }
            Ours::Foreign(control) => Maker::Foreign(Arc::clone(&control.factory)),
        };
        let other = Maker::Foreign(Arc::clone(&other.factory));
        Ok(Self(Arc::new(Shadow::new(ours, other))))
    }

    /// Calls and differing calls by hook, and the first difference of each.
    fn tally<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tally = self.0.tally();
        let made = PyDict::new(py);
        let by_hook = PyDict::new(py);
        for (number, name) in CALLS.iter().enumerate() {
            by_hook.set_item(name, (tally.calls[number], tally.differing[number]))?;
        }
        made.set_item("calls", by_hook)?;
        let first = tally.first.iter().flatten().map(|first| difference(py, first));
        made.set_item("first", first.collect::<PyResult<Vec<_>>>()?)?;
        Ok(made)
    }
}

/// The control that steers.
#[derive(FromPyObject)]
enum Ours<'py> {
    Listed(String),
    Foreign(PyRef<'py, ForeignControl>),
}

fn difference<'py>(py: Python<'py>, first: &Difference) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("hook", CALLS[first.call])?;
    made.set_item("at_s", seconds(first.now))?;
    for (name, window) in
        [("before", &first.before), ("ours", &first.ours), ("other", &first.other)]
    {
        let Window { cwnd, ssthresh, pacing_rate } = *window;
        made.set_item(name, (cwnd, ssthresh.is_finite().then_some(ssthresh), pacing_rate))?;
    }
    if let Some((ack, details)) = &first.ack {
        let inputs = PyDict::new(py);
        inputs.set_item("acked", ack.segments)?;
        inputs.set_item("rtt_s", ack.rtt.map(seconds))?;
        inputs.set_item("srtt_s", seconds(ack.srtt))?;
        inputs.set_item("in_flight", ack.in_flight)?;
        inputs.set_item("snd_una", ack.snd_una)?;
        inputs.set_item("newly_lost", ack.newly_lost)?;
        inputs.set_item("marked", ack.marked)?;
        inputs.set_item("phase", format!("{:?}", details.phase))?;
        if let Some(rate) = &ack.rate {
            inputs.set_item("rate_delivered", rate.delivered)?;
            inputs.set_item("rate_interval_s", seconds(rate.interval))?;
        }
        made.set_item("inputs", inputs)?;
    }
    Ok(made)
}

fn seconds(time: Picos) -> f64 {
    time as f64 / SECOND as f64
}

#[pymethods]
impl ForeignControl {
    #[new]
    fn new(path: PathBuf, name: &str) -> PyResult<Self> {
        let plugin =
            Plugin::load(&path, name).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { factory: Arc::new(Borrowed(plugin)), plugin: Some(plugin) })
    }

    /// That of a Python class, whose objects are called once a round trip of a flow.
    #[staticmethod]
    fn of_class(name: &str, class: Py<PyAny>, paces: bool, controls_cwnd: bool) -> Self {
        let factory = PythonFactory::new(name, class, paces, controls_cwnd);
        Self { factory: Arc::new(factory), plugin: None }
    }

    /// What the library calls itself.
    #[getter]
    fn own_name(&self) -> &str {
        self.plugin.map_or("", Plugin::own_name)
    }

    /// What it asks for, and the bytes of a connection's state.
    #[getter]
    fn wants<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let foreign::Wants { paces, controls_cwnd, ecn, l4s, unlimited } = self.factory.wants();
        let made = PyDict::new(py);
        made.set_item("paces", paces)?;
        made.set_item("controls_cwnd", controls_cwnd)?;
        made.set_item("ecn", ecn)?;
        made.set_item("l4s", l4s)?;
        made.set_item("unlimited", unlimited)?;
        made.set_item("state_bytes", self.plugin.map_or(0, Plugin::state_bytes))?;
        Ok(made)
    }

    /// How often each hook was called; None for those that it lacks.
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        for (name, calls) in HOOKS.iter().zip(self.plugin.map_or([None; 8], Plugin::calls)) {
            made.set_item(name, calls)?;
        }
        Ok(made)
    }

    /// Each property of the conformance suite, and what was seen instead, or None.
    fn conforms(&self) -> Vec<(&'static str, Option<String>)> {
        let make = || Cc::Foreign(Box::new(ForeignCc::new(self.factory.as_ref())));
        let seen = |holds: conformance::Holds| holds(&make, IncreaseRule::PerWindow).err();
        conformance::PROPERTIES.iter().map(|&(name, holds)| (name, seen(holds))).collect()
    }

    /// The first that it did wrong, or None.
    fn fault(&self) -> Option<String> {
        self.factory.failure()
    }
}

/// A plugin, which lives as long as the process.
#[derive(Debug)]
struct Borrowed(&'static Plugin);

impl Factory for Borrowed {
    fn name(&self) -> &'static str {
        Factory::name(self.0)
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
pub fn list_of(given: &[AnyForeign<'_>]) -> ForeignList {
    ForeignList(given.iter().map(AnyForeign::factory).collect())
}

/// The name of a control by its number: those of the list first, then those given.
pub fn name_of(number: usize, given: &[AnyForeign<'_>]) -> Option<&'static str> {
    NAMES.get(number).copied().or_else(|| Some(given.get(number - NAMES.len())?.factory().name()))
}
