//! Runs of the simulator, side by side on threads, with the GIL released.

use forebay_sim::cc;
use forebay_sim::config::{Config, FlowSpec};
use forebay_sim::probe::histogram::Histogram;
use forebay_sim::queue::drop_tail::DropTail;
use forebay_sim::report::Report;
use forebay_sim::simulation::{Control, run};
use forebay_sim::tcp::profile;
use forebay_sim::time::{Picos, SECOND};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks at Python's signals and progress.
const WATCH: Duration = Duration::from_millis(50);

/// A TCP stack: "ns2" or "linux", with what a scenario overrides.
#[pyclass(frozen, module = "forebay._core")]
pub struct Profile(profile::Profile);

#[pymethods]
impl Profile {
    #[new]
    #[pyo3(signature = (name, *, initial_window=None, sack=None, delayed_ack=None, min_rto_ps=None, max_window=None))]
    fn new(
        name: &str,
        initial_window: Option<u32>,
        sack: Option<bool>,
        delayed_ack: Option<bool>,
        min_rto_ps: Option<Picos>,
        max_window: Option<u32>,
    ) -> PyResult<Self> {
        let mut made = profile::Profile::by_name(name)
            .ok_or_else(|| PyValueError::new_err(format!("unknown sender profile {name:?}")))?;
        made.initial_window = initial_window.unwrap_or(made.initial_window);
        made.sack = sack.unwrap_or(made.sack);
        made.min_rto = min_rto_ps.unwrap_or(made.min_rto);
        made.max_window = max_window.unwrap_or(made.max_window);
        if let Some(delayed) = delayed_ack {
            let delay = made.delayed_ack.or(profile::Profile::linux().delayed_ack);
            made.delayed_ack = delay.filter(|_| delayed);
        }
        Ok(Self(made))
    }
}

/// One replication, ready to run.
#[pyclass(frozen, module = "forebay._core")]
pub struct Run(Config);

#[pymethods]
impl Run {
    #[new]
    #[pyo3(signature = (*, rate_bps, buffer_packets, profiles, traffic_class, congestion_control,
        rtt_ps, start_ps, segments, packet_bytes, access_bps, warmup_ps, window_ps, batches))]
    #[allow(clippy::too_many_arguments)] // keywords of a Python call
    fn new(
        rate_bps: f64,
        buffer_packets: u32,
        profiles: Vec<PyRef<'_, Profile>>,
        traffic_class: PyReadonlyArray1<'_, i32>,
        congestion_control: PyReadonlyArray1<'_, i32>,
        rtt_ps: PyReadonlyArray1<'_, i64>,
        start_ps: PyReadonlyArray1<'_, i64>,
        segments: PyReadonlyArray1<'_, i64>,
        packet_bytes: PyReadonlyArray1<'_, i32>,
        access_bps: PyReadonlyArray1<'_, f64>,
        warmup_ps: Picos,
        window_ps: Picos,
        batches: u32,
    ) -> PyResult<Self> {
        let n = traffic_class.len();
        let lengths = [congestion_control.len(), rtt_ps.len(), start_ps.len(), segments.len()];
        if lengths.iter().chain(&[packet_bytes.len(), access_bps.len()]).any(|&len| len != n) {
            return Err(PyValueError::new_err("flow arrays differ in length"));
        }
        let (class, control) = (traffic_class.as_array(), congestion_control.as_array());
        let (rtt, start, length) = (rtt_ps.as_array(), start_ps.as_array(), segments.as_array());
        let (bytes, access) = (packet_bytes.as_array(), access_bps.as_array());
        let flow = |i: usize| -> Option<FlowSpec> {
            Some(FlowSpec {
                class: class[i].try_into().ok()?,
                congestion_control: *cc::NAMES.get(usize::try_from(control[i]).ok()?)?,
                rtt: rtt[i].try_into().ok()?,
                start: start[i].try_into().ok()?,
                segments: if length[i] == 0 { u64::MAX } else { length[i].try_into().ok()? },
                packet_bytes: bytes[i].try_into().ok()?,
                access_bps: access[i],
            })
        };
        let flows = (0..n)
            .map(|i| {
                flow(i).ok_or_else(|| PyValueError::new_err(format!("flow {i} is out of range")))
            })
            .collect::<PyResult<_>>()?;
        let config = Config {
            rate_bps,
            queue: DropTail::Packets(buffer_packets),
            profiles: profiles.iter().map(|profile| profile.0.clone()).collect(),
            flows,
            warmup: warmup_ps,
            window: window_ps,
            batches,
        };
        config.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(config))
    }
}

/// Simulates `runs` on up to `jobs` threads and gives one dict of readings each, in their order.
///
/// `progress` is called about 20 times a second with the fraction done. An exception from it, or a
/// signal, stops all runs within milliseconds and is raised.
#[pyfunction]
#[pyo3(signature = (runs, *, jobs, progress=None))]
pub fn simulate<'py>(
    py: Python<'py>,
    runs: Vec<PyRef<'py, Run>>,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let configs: Vec<&Config> = runs.iter().map(|run| &run.0).collect();
    let batch = Batch::new(configs);
    let watched = py.detach(|| batch.run(jobs.max(1), || watch(&batch, progress.as_ref())));
    watched?;
    let dicts = batch.finished()?.into_iter().map(|(report, cpu)| readings(py, &report, cpu));
    PyList::new(py, dicts.collect::<PyResult<Vec<_>>>()?)
}

fn watch(batch: &Batch<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1(py, (batch.fraction(),))?;
        }
        Ok(())
    })
}

/// Runs that share a pool of threads.
struct Batch<'a> {
    configs: Vec<&'a Config>,
    controls: Vec<Control>,
    results: Vec<Mutex<Option<(Report, f64)>>>,
    next: AtomicUsize,
}

impl<'a> Batch<'a> {
    fn new(configs: Vec<&'a Config>) -> Self {
        let n = configs.len();
        Self {
            configs,
            controls: (0..n).map(|_| Control::default()).collect(),
            results: (0..n).map(|_| Mutex::new(None)).collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// Runs all; `watch` is called now and then, and its error stops them.
    fn run(&self, jobs: usize, watch: impl Fn() -> PyResult<()>) -> PyResult<()> {
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..jobs.min(self.configs.len())).map(|_| scope.spawn(|| self.work())).collect();
            let mut outcome = Ok(());
            while !workers.iter().all(|worker| worker.is_finished()) {
                if outcome.is_ok() {
                    outcome = watch();
                    if outcome.is_err() {
                        self.stop();
                    }
                }
                wait(|| workers.iter().all(|worker| worker.is_finished()));
            }
            outcome
        })
    }

    fn work(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(config) = self.configs.get(index) else {
                return;
            };
            let began = Instant::now();
            let Ok(Some(report)) = run(config, &self.controls[index]) else {
                return;
            };
            let result = (report, began.elapsed().as_secs_f64());
            *self.results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    }

    fn stop(&self) {
        self.next.store(self.configs.len(), Ordering::Relaxed);
        self.controls.iter().for_each(|control| control.stop.store(true, Ordering::Relaxed));
    }

    fn fraction(&self) -> f64 {
        let done = |(config, control): (&&Config, &Control)| {
            let reached = control.reached.load(Ordering::Relaxed) as f64;
            (reached / (config.warmup + config.window) as f64).min(1.0)
        };
        let sum: f64 = self.configs.iter().zip(&self.controls).map(done).sum();
        sum / self.configs.len().max(1) as f64
    }

    fn finished(self) -> PyResult<Vec<(Report, f64)>> {
        self.results
            .into_iter()
            .map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
            .map(|result| {
                result.ok_or_else(|| PyRuntimeError::new_err("a simulation thread failed"))
            })
            .collect()
    }
}

/// Sleeps for `WATCH`, less if `over` comes true: short runs are not held up.
fn wait(over: impl Fn() -> bool) {
    let began = Instant::now();
    while began.elapsed() < WATCH && !over() {
        std::thread::sleep(Duration::from_micros(500));
    }
}

fn seconds(span: Picos) -> f64 {
    span as f64 / SECOND as f64
}

/// The readings as arrays: (batches,), (batches, classes) or (batches, bins).
fn readings<'py>(py: Python<'py>, report: &Report, wall_s: f64) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let link = &report.link;
    let per_batch = |read: fn(&forebay_sim::probe::link::LinkBatch) -> f64| {
        PyArray1::from_vec(py, link.iter().map(read).collect())
    };
    dict.set_item("busy_s", per_batch(|batch| seconds(batch.busy)))?;
    dict.set_item("queue_packet_s", per_batch(|batch| batch.queue_area as f64 / SECOND as f64))?;
    dict.set_item("delay_sum_s", per_batch(|batch| batch.delay_sum as f64 / SECOND as f64))?;
    let queue: Vec<Vec<f64>> = link
        .iter()
        .map(|batch| batch.queue_time.iter().map(|&span| seconds(span)).collect())
        .collect();
    dict.set_item("queue_s", PyArray2::from_vec2(py, &queue)?)?;
    dict.set_item("queue_bin_width", report.queue_bin_width)?;
    let counts = |read: fn(&forebay_sim::probe::link::ClassCounts) -> u64| {
        let rows: Vec<Vec<i64>> = link
            .iter()
            .map(|batch| batch.classes.iter().map(|class| read(class) as i64).collect())
            .collect();
        PyArray2::from_vec2(py, &rows)
    };
    dict.set_item("arrivals", counts(|class| class.arrivals)?)?;
    dict.set_item("drops", counts(|class| class.drops)?)?;
    dict.set_item("sent_bytes", counts(|class| class.sent_bytes)?)?;
    let classes = |read: fn(&forebay_sim::report::ClassBatch) -> u64| {
        let rows: Vec<Vec<i64>> = report
            .classes
            .iter()
            .map(|batch| batch.iter().map(|class| read(class) as i64).collect())
            .collect();
        PyArray2::from_vec2(py, &rows)
    };
    dict.set_item("delivered_bytes", classes(|class| class.delivered_bytes)?)?;
    dict.set_item("timeouts", classes(|class| class.timeouts)?)?;
    dict.set_item("retransmissions", classes(|class| class.retransmissions)?)?;
    dict.set_item("flow_bytes", PyArray1::from_vec(py, report.flow_bytes.clone()))?;
    dict.set_item("delay", histogram(py, &report.delay))?;
    let rtt: Vec<_> = report.rtt.iter().map(|rtt| histogram(py, rtt)).collect();
    dict.set_item("rtt", rtt)?;
    let completions: Vec<_> = report
        .completions
        .iter()
        .map(|times| PyArray1::from_vec(py, times.iter().map(|&time| seconds(time)).collect()))
        .collect();
    dict.set_item("completions_s", completions)?;
    dict.set_item("packets", report.packets)?;
    dict.set_item("events", report.events)?;
    dict.set_item("wall_s", wall_s)?;
    Ok(dict)
}

type Arrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Edges in seconds, and counts.
fn histogram<'py>(py: Python<'py>, histogram: &Histogram) -> Arrays<'py> {
    let edges = histogram.edges().into_iter().map(seconds).collect();
    let counts = histogram.counts().iter().map(|&count| count as f64).collect();
    (PyArray1::from_vec(py, edges), PyArray1::from_vec(py, counts))
}
