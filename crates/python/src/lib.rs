//! The Rust core as `forebay._core`: the only crate that knows Python.

mod simulate;

use pyo3::prelude::*;

/// The compiled core of Forebay.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CONGESTION_CONTROLS", forebay_sim::cc::NAMES.to_vec())?;
    module.add_class::<simulate::Run>()?;
    module.add_class::<simulate::Profile>()?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    Ok(())
}
