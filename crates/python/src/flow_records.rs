//! Records of flows, as NumPy arrays of as many as are asked for.

use crate::arrays::seconds;
use forebay_sim::meters::flow_records::FlowRecord;
use forebay_sim::time::{NEVER, Picos, SECOND};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Records of flows in memory; arrays of them are made block by block.
#[pyclass(frozen, module = "forebay._core")]
pub struct FlowRecords(pub Vec<FlowRecord>);

#[pymethods]
impl FlowRecords {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The columns of some records, all if not said: an array each, one entry a record; NaN, and -1 for segments, where
    /// there is none. `names` says which columns, all if not.
    #[pyo3(signature = (first=0, end=None, names=None))]
    fn columns<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        end: Option<usize>,
        names: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let end = end.map_or(self.0.len(), |end| end.min(self.0.len()));
        let records = &self.0[first.min(end)..end];
        let wanted =
            |name: &str| names.as_ref().is_none_or(|names| names.iter().any(|each| each == name));
        let dict = PyDict::new(py);
        for &(name, read) in COUNTS.iter().filter(|(name, _)| wanted(name)) {
            let values = records.iter().map(read).collect();
            dict.set_item(name, PyArray1::<i64>::from_vec(py, values))?;
        }
        for &(name, read) in TIMES.iter().filter(|(name, _)| wanted(name)) {
            let values = records.iter().map(read).collect();
            dict.set_item(name, PyArray1::<f64>::from_vec(py, values))?;
        }
        Ok(dict)
    }
}

type Count = fn(&FlowRecord) -> i64;
const COUNTS: [(&str, Count); 9] = [
    ("flow", |record| record.flow as i64),
    ("transfer", |record| record.transfer as i64),
    ("segments", |record| record.segments.map_or(-1, |segments| segments as i64)),
    ("window_bytes", |record| record.window_bytes as i64),
    ("sent", |record| record.sent as i64),
    ("lost", |record| record.lost as i64),
    ("retransmitted", |record| record.retransmissions as i64),
    ("timeouts", |record| record.timeouts as i64),
    ("marks", |record| record.marks as i64),
];
type Time = fn(&FlowRecord) -> f64;
const TIMES: [(&str, Time); 6] = [
    ("start_s", |record| seconds(record.start)),
    ("first_byte_s", |record| known(record.first_byte)),
    ("last_byte_s", |record| known(record.last_byte)),
    ("min_rtt_s", |record| known(record.min_rtt)),
    ("mean_rtt_s", mean_rtt),
    ("ideal_s", |record| record.segments.map_or(f64::NAN, |_| seconds(record.ideal))),
];

fn known(at: Picos) -> f64 {
    if at == NEVER { f64::NAN } else { seconds(at) }
}

/// NaN without a measurement.
fn mean_rtt(record: &FlowRecord) -> f64 {
    record.rtt_sum as f64 / record.rtt_samples as f64 / SECOND as f64
}
