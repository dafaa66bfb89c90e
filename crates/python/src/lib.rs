//! The Rust core as `forebay._core`: the only crate that knows Python.

mod arrays;
mod capture;
mod csv_rows;
mod flow_records;
mod foreign;
mod lists;
mod packet_log;
mod packets;
mod python_control;
mod readings;
mod run;
mod sender;
mod simulate;
mod tracing;

use numpy::PyArray1;
use pyo3::prelude::*;

/// The compiled core of Forebay.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    if std::env::var_os("FOREBAY_DEBUG").is_none() {
        // Python prints a panic's text in its own line.
        std::panic::set_hook(Box::new(|_| {}));
    }
    // An array made here loads NumPy's C API within the import, which a signal does not interrupt; a signal
    // while the first array of an answer loads it is a panic.
    drop(PyArray1::<f64>::zeros(module.py(), 0, false));
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CONGESTION_CONTROLS", forebay_sim::cc::NAMES.to_vec())?;
    module.add("SENDER_OPTIONS", sender::sender_options())?;
    module.add_class::<sender::Profile>()?;
    module.add_class::<run::Link>()?;
    module.add_class::<run::Flows>()?;
    module.add_class::<run::Sources>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<foreign::ForeignControl>()?;
    module.add_class::<foreign::ShadowedControl>()?;
    module.add_class::<python_control::PyWindow>()?;
    module.add_class::<python_control::Round>()?;
    module.add("ControlFault", module.py().get_type::<foreign::ControlFault>())?;
    module.add_class::<flow_records::FlowRecords>()?;
    module.add_class::<packets::Packets>()?;
    module.add_class::<packet_log::PacketLog>()?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(lists::controllers, module)?)?;
    module.add_function(wrap_pyfunction!(lists::disciplines, module)?)?;
    module.add_function(wrap_pyfunction!(lists::bytes_of_structures, module)?)?;
    module.add_function(wrap_pyfunction!(capture::measure_capture, module)?)?;
    module.add_function(wrap_pyfunction!(capture::measure_exports, module)?)?;
    module.add_function(wrap_pyfunction!(csv_rows::csv_rows, module)?)?;
    Ok(())
}
