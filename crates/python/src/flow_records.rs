//! Records of flows as NumPy arrays.

use crate::arrays::seconds;
use forebay_sim::meters::flow_records::FlowRecord;
use forebay_sim::time::{NEVER, Picos, SECOND};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One array a column, one entry a record; NaN, and -1 for segments, where there is none.
pub fn columns<'py>(py: Python<'py>, records: &[FlowRecord]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    type Count = fn(&FlowRecord) -> i64;
    let counts: [(&str, Count); 9] = [
        ("flow", |record| record.flow.into()),
        ("transfer", |record| record.transfer.into()),
        ("segments", |record| record.segments.map_or(-1, |segments| segments as i64)),
        ("window_bytes", |record| record.window_bytes as i64),
        ("sent", |record| record.sent as i64),
        ("lost", |record| record.lost as i64),
        ("retransmitted", |record| record.retransmissions as i64),
        ("timeouts", |record| record.timeouts as i64),
        ("marks", |record| record.marks as i64),
    ];
    for (name, read) in counts {
        let values = records.iter().map(read).collect();
        dict.set_item(name, PyArray1::<i64>::from_vec(py, values))?;
    }
    type Time = fn(&FlowRecord) -> f64;
    let times: [(&str, Time); 6] = [
        ("start_s", |record| seconds(record.start)),
        ("first_byte_s", |record| known(record.first_byte)),
        ("last_byte_s", |record| known(record.last_byte)),
        ("min_rtt_s", |record| known(record.min_rtt)),
        ("mean_rtt_s", mean_rtt),
        ("ideal_s", |record| record.segments.map_or(f64::NAN, |_| seconds(record.ideal))),
    ];
    for (name, read) in times {
        let values = records.iter().map(read).collect();
        dict.set_item(name, PyArray1::<f64>::from_vec(py, values))?;
    }
    Ok(dict)
}

fn known(at: Picos) -> f64 {
    if at == NEVER { f64::NAN } else { seconds(at) }
}

/// NaN without a measurement.
fn mean_rtt(record: &FlowRecord) -> f64 {
    record.rtt_sum as f64 / record.rtt_samples as f64 / SECOND as f64
}
