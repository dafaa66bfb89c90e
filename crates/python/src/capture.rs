//! Captures as dicts of NumPy arrays.

use forebay_capture::error::CaptureError;
use forebay_capture::exports::collector::Collector;
use forebay_capture::flows::tally::{Count, Tally};
use forebay_capture::histogram::LogHistogram;
use forebay_capture::meter::{Finished, Meter, Options};
use forebay_capture::reading::Reading;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::net::IpAddr;
use std::path::PathBuf;

/// Frames between two checks of Python's signals: about a fifth of a second.
const SLICE: u64 = 500_000;

/// Reads captures one after another and returns the readings of the link. See the type stubs.
///
/// `progress` is called with the bytes read so far of all files; an exception from it, or a
/// signal, ends the reading and is raised.
#[pyfunction]
#[pyo3(signature = (paths, *, interface=None, toward=Vec::new(), overhead=0, idle_s=60.0,
    most_flows=1 << 20, listed=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn measure_capture<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    interface: Option<String>,
    toward: Vec<(IpAddr, u8)>,
    overhead: u32,
    idle_s: f64,
    most_flows: usize,
    listed: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let toward = toward.into_iter().map(mapped).collect();
    let idle_ns = (idle_s * 1e9) as u64;
    let mut meter = Meter::new(Options { toward, overhead, idle_ns, most_flows, listed });
    let files =
        read_all(py, paths, interface, progress, |reading| reading.advance(SLICE, &mut meter))?;
    let (meter, finished) = py.detach(|| meter.finish());
    let dict = link(py, &meter)?;
    dict.set_item("files", files)?;
    dict.set_item("flows", flows(py, &finished.tally)?)?;
    rest(&dict, &finished)?;
    Ok(dict)
}

/// Reads captures of exported flow records and returns the link's readings. See the type stubs.
#[pyfunction]
#[pyo3(signature = (paths, *, progress=None))]
pub fn measure_exports<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut collector = Collector::default();
    let step = |reading: &mut Reading| reading.collect(SLICE / 16, &mut collector);
    let files = read_all(py, paths, None, progress, step)?;
    let dict = exports(py, &collector)?;
    dict.set_item("files", files)?;
    Ok(dict)
}

/// Reads files one after another by `step`, which returns whether there is more.
fn read_all<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    interface: Option<String>,
    progress: Option<Py<PyAny>>,
    mut step: impl FnMut(&mut Reading) -> bool + Send,
) -> PyResult<Bound<'py, PyList>> {
    let (files, mut before) = (PyList::empty(py), 0);
    for path in paths {
        let opened = py.detach(|| Reading::open(&path, interface.clone()));
        let mut reading = opened.map_err(|error| refused(&path, &error))?;
        loop {
            let more = py.detach(|| step(&mut reading));
            py.check_signals()?;
            if let Some(progress) = &progress {
                progress.call1(py, (before + reading.progress.bytes(),))?;
            }
            if !more {
                break;
            }
        }
        before += reading.progress.bytes();
        files.append(file(py, &path, &reading)?)?;
    }
    Ok(files)
}

fn exports<'py>(py: Python<'py>, read: &Collector) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let counts = [
        ("records", read.records),
        ("bytes", read.bytes),
        ("packets", read.packets),
        ("tcp_bytes", read.tcp_bytes),
        ("sampling", read.sampling),
        ("drawn", read.drawn),
        ("lost", read.sequences.lost),
        ("arrived", read.sequences.arrived),
        ("reordered", read.sequences.reordered),
        ("without_template", read.unusable.0),
        ("incomplete", read.unusable.1),
        ("not_exports", read.not_exports),
        ("continued", read.chains.continued),
        ("cut_early", read.chains.cut_before(read.timeouts_s.0)),
        ("forgotten", read.chains.forgotten),
        ("finer", read.finer),
    ];
    counts.into_iter().try_for_each(|(name, count)| dict.set_item(name, count))?;
    dict.set_item("base_ms", read.base_ms())?;
    dict.set_item("span_ms", read.span_ms)?;
    dict.set_item("timeouts_s", read.timeouts_s)?;
    let (width_ns, load) = read.load();
    dict.set_item("load_width_s", width_ns as f64 * 1e-9)?;
    dict.set_item("load_bytes", PyArray1::from_vec(py, load))?;
    let series =
        [("concurrent", &read.concurrent), ("long", &read.long[0]), ("perhaps", &read.long[1])];
    for (name, count) in series {
        let changes = PyArray1::from_slice(py, &count.changes.bins);
        dict.set_item(name, (count.changes.width_ns as f64 * 1e-9, changes))?;
    }
    let (values, counts) = read.lengths.filled();
    let counts = counts.into_iter().map(|count| count as i64);
    dict.set_item("lengths", (PyArray1::from_vec(py, values), PyArray1::from_iter(py, counts)))?;
    Ok(dict)
}

fn mapped((address, length): (IpAddr, u8)) -> ([u8; 16], u8) {
    match address {
        IpAddr::V4(four) => (four.to_ipv6_mapped().octets(), 96 + length.min(32)),
        IpAddr::V6(six) => (six.octets(), length),
    }
}

fn refused(path: &std::path::Path, error: &CaptureError) -> PyErr {
    PyValueError::new_err(format!("{}: {error}", path.display()))
}

fn file<'py>(
    py: Python<'py>,
    path: &std::path::Path,
    reading: &Reading,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("path", path.display().to_string())?;
    dict.set_item("frames", reading.read)?;
    dict.set_item("not_ip", reading.other.0)?;
    dict.set_item("not_ip_bytes", reading.other.1)?;
    dict.set_item("not_ip_kinds", reading.other_kinds.clone())?;
    dict.set_item("cut_short", reading.cut_short)?;
    dict.set_item("unusable", reading.unusable())?;
    dict.set_item("interfaces", reading.interfaces())?;
    dict.set_item("unread_link_types", reading.unread_link_types())?;
    dict.set_item("ending", reading.ending_in_words())?;
    Ok(dict)
}

fn link<'py>(py: Python<'py>, meter: &Meter) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("start_ns", meter.start_ns())?;
    dict.set_item("duration_s", meter.duration_ns() as f64 * 1e-9)?;
    dict.set_item("packets", meter.packets)?;
    dict.set_item("bytes", meter.bytes)?;
    dict.set_item("returning", meter.returning)?;
    dict.set_item("back_in_time", meter.back_in_time)?;
    dict.set_item("both_ways", meter.both_ways)?;
    dict.set_item("ecn_capable", meter.ecn.0)?;
    dict.set_item("ecn_marked", meter.ecn.1)?;
    let (at, bytes): (Vec<i64>, Vec<i64>) =
        meter.list.iter().map(|&(at_ns, bytes)| (at_ns as i64, i64::from(bytes))).unzip();
    dict.set_item("list", (PyArray1::from_vec(py, at), PyArray1::from_vec(py, bytes)))?;
    dict.set_item("unlisted", meter.unlisted)?;
    dict.set_item("load_width_s", meter.load.width_ns as f64 * 1e-9)?;
    dict.set_item("load_bytes", PyArray1::from_slice(py, &meter.load.bins))?;
    let sizes: Vec<_> = (0i64..).zip(&meter.sizes).filter(|(_, count)| **count > 0).collect();
    let columns = (sizes.iter().map(|size| size.0), sizes.iter().map(|size| *size.1 as i64));
    dict.set_item("packet_bytes", PyArray1::from_iter(py, columns.0))?;
    dict.set_item("packet_counts", PyArray1::from_iter(py, columns.1))?;
    Ok(dict)
}

fn rest(dict: &Bound<'_, PyDict>, finished: &Finished) -> PyResult<()> {
    let py = dict.py();
    let row = |scale: &forebay_capture::series::Scale| {
        vec![scale.width_ns as f64 * 1e-9, scale.intervals as f64, scale.sum, scale.squares]
    };
    let rows: Vec<Vec<f64>> = finished.scales.iter().map(row).collect();
    dict.set_item("scales", PyArray2::from_vec2(py, &rows)?)?;
    dict.set_item("crowded_out", finished.crowded_out)?;
    dict.set_item("peak_flows", finished.peak_flows)
}

fn flows<'py>(py: Python<'py>, tally: &Tally) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let counts = [
        ("tuples", tally.tuples),
        ("flows", tally.flows),
        ("censored", tally.censored),
        ("long", tally.long_flows),
        ("long_bytes", tally.long_bytes),
        ("short_bytes", tally.short_bytes),
        ("short_begun", tally.short_begun),
        ("data_segments", tally.segments.data),
        ("lost_before", tally.segments.lost_before),
        ("repeated", tally.segments.repeated),
        ("late", tally.segments.late),
    ];
    counts.into_iter().try_for_each(|(name, count)| dict.set_item(name, count))?;
    let names = ["tcp_bytes", "quic_bytes", "udp_bytes", "other_bytes"];
    names.into_iter().zip(tally.kinds).try_for_each(|(name, bytes)| dict.set_item(name, bytes))?;
    let histograms: [(&str, &LogHistogram); 9] = [
        ("lengths", &tally.lengths),
        ("short_packets", &tally.short_packets),
        ("rtt_us", &tally.rtt_us),
        ("rtt_us_at_least", &tally.rtt_ends_us[0]),
        ("rtt_us_at_most", &tally.rtt_ends_us[1]),
        ("unstamped_rtt_us", &tally.unstamped_rtt_us),
        ("least_rtt_us", &tally.least_rtt_us),
        ("handshake_us", &tally.handshake_us),
        ("recovery_us", &tally.recovery_us),
    ];
    for (name, histogram) in histograms {
        let (values, counts) = histogram.filled();
        let counts = counts.into_iter().map(|count| count as i64);
        let pair = (PyArray1::from_vec(py, values), PyArray1::from_iter(py, counts));
        dict.set_item(name, pair)?;
    }
    let series: [(&str, &Count); 4] = [
        ("concurrent", &tally.concurrent),
        ("lossy", &tally.lossy),
        ("avoiding", &tally.avoiding),
        ("brief", &tally.brief),
    ];
    for (name, count) in series {
        let changes = PyArray1::from_slice(py, &count.changes.bins);
        dict.set_item(name, (count.changes.width_ns as f64 * 1e-9, changes))?;
    }
    dict.set_item("longest", PyArray1::from_vec(py, tally.longest()))?;
    dict.set_item("bursts", PyArray1::from_slice(py, &tally.bursts))?;
    dict.set_item("left_after_loss", PyArray1::from_slice(py, &tally.left_after_loss))?;
    Ok(dict)
}
