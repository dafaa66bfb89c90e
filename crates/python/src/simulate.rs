//! Runs of the simulator, in parallel threads, with the GIL released.

use crate::flow_records::FlowRecords;
use crate::foreign::check_faults;
use crate::packet_log::PacketLog;
use crate::packets::Packets;
use crate::readings::readings;
use crate::run::Run;
use forebay_sim::config::Config;
use forebay_sim::report::Report;
use forebay_sim::simulation::{Control, run_on};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two checks of Python's signals and progress.
const WATCH: Duration = Duration::from_millis(50);

/// Simulates `runs` on up to `jobs` threads and gives one dict of readings each, in their order. Where there are more
/// threads than runs, a run over a network that can be split uses several.
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
    let batch = Batch::new(configs, jobs.max(1));
    let watched = py.detach(|| batch.run(|| watch(&batch, progress.as_ref())));
    watched?;
    check_faults(&runs.iter().map(|run| &run.0).collect::<Vec<_>>())?;
    let reports = batch.finished()?.into_iter().zip(&runs);
    let dicts = reports.map(|((mut report, cpu), run)| {
        let packets = report.capture.take().map(|packets| {
            let sizes = run.0.flows.iter().map(|flow| flow.packet_bytes).collect();
            Packets::new(packets, sizes, true)
        });
        let dict = readings(py, &report, cpu)?;
        dict.set_item("capture", packets)?;
        dict.set_item("flow_records", report.flow_records.take().map(FlowRecords))?;
        let log = report.packet_log.take().map(|events| PacketLog::new(events, &run.0));
        dict.set_item("packet_log", log)?;
        Ok(dict)
    });
    PyList::new(py, dicts.collect::<PyResult<Vec<_>>>()?)
}

fn watch(batch: &Batch<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        check_faults(&batch.configs)?;
        if let Some(progress) = progress {
            progress.call1(py, (batch.fraction(),))?;
        }
        Ok(())
    })
}

/// Runs that share a pool of threads.
struct Batch<'a> {
    configs: Vec<&'a Config>,
    /// Runs at a time.
    workers: usize,
    /// The most threads of a run.
    threads: usize,
    controls: Vec<Control>,
    results: Vec<Mutex<Option<(Report, f64)>>>,
    next: AtomicUsize,
}

impl<'a> Batch<'a> {
    fn new(configs: Vec<&'a Config>, jobs: usize) -> Self {
        let n = configs.len();
        let workers = jobs.min(n);
        Self {
            configs,
            workers,
            threads: jobs / workers.max(1),
            controls: (0..n).map(|_| Control::default()).collect(),
            results: (0..n).map(|_| Mutex::new(None)).collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// Runs all; `watch` is called periodically, and its error stops them.
    fn run(&self, watch: impl Fn() -> PyResult<()>) -> PyResult<()> {
        std::thread::scope(|scope| {
            // Nothing is ever sent: the channel closes when all workers have ended.
            let (working, ended) = mpsc::channel::<Infallible>();
            for _ in 0..self.workers {
                let working = working.clone();
                scope.spawn(move || {
                    self.work();
                    drop(working);
                });
            }
            drop(working);
            let mut outcome = Ok(());
            loop {
                if outcome.is_ok() {
                    outcome = watch();
                    if outcome.is_err() {
                        self.stop();
                    }
                }
                if ended.recv_timeout(WATCH) != Err(RecvTimeoutError::Timeout) {
                    return outcome;
                }
            }
        })
    }

    fn work(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(config) = self.configs.get(index) else {
                return;
            };
            let began = Instant::now();
            let Ok(Some(report)) = run_on(config, &self.controls[index], self.threads) else {
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
