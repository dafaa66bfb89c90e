//! The log of packets as NumPy arrays, and as captures of its links.

use crate::packets::Packets;
use forebay_sim::config::{Config, FlowSpec, Source};
use forebay_sim::packet_log::{EVENT_NAMES, PacketEvent, captured};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// What became of each packet of the measured window at each logged link, by time.
#[pyclass(frozen, module = "forebay._core")]
pub struct PacketLog {
    events: Vec<PacketEvent>,
    /// By flow: bytes of a segment, including headers, and whether it sends datagrams.
    sizes: Vec<u32>,
    open_loop: Vec<bool>,
}

impl PacketLog {
    /// Of a run.
    pub fn new(events: Vec<PacketEvent>, config: &Config) -> Self {
        let open_loop = |flow: &FlowSpec| matches!(flow.source, Source::Datagrams(..));
        Self {
            events,
            sizes: config.flows.iter().map(|flow| flow.packet_bytes).collect(),
            open_loop: config.flows.iter().map(open_loop).collect(),
        }
    }
}

#[pymethods]
impl PacketLog {
    /// Names of the events, which column `event` counts.
    #[classattr]
    const EVENTS: [&'static str; 4] = EVENT_NAMES;

    fn __len__(&self) -> usize {
        self.events.len()
    }

    /// The rows from `first` to before `end` as arrays, one a column.
    fn columns<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        end: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let end = end.min(self.events.len());
        let rows = &self.events[first.min(end)..end];
        let dict = PyDict::new(py);
        type Count = fn(&PacketEvent) -> i64;
        let counts: [(&str, Count); 8] = [
            ("at_ps", |row| row.at as i64),
            ("link", |row| row.link.into()),
            ("event", |row| row.kind as i64),
            ("flow", |row| row.flow.into()),
            ("connection", |row| row.connection.into()),
            ("sequence", |row| row.number as i64),
            ("ack", |row| row.is_ack.into()),
            ("bytes", |row| row.bytes.into()),
        ];
        for (name, read) in counts {
            let values = rows.iter().map(read).collect();
            dict.set_item(name, PyArray1::<i64>::from_vec(py, values))?;
        }
        Ok(dict)
    }

    /// Writes what left each link to a pcapng file, an interface a link. Raises OSError.
    fn write_capture(
        &self,
        py: Python<'_>,
        path: PathBuf,
        links: Vec<String>,
        comment: String,
    ) -> PyResult<()> {
        let packets = py.detach(|| captured(&self.events, &self.open_loop));
        Packets::new(packets, self.sizes.clone(), false).write(py, path, links, comment)
    }
}
