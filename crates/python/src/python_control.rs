//! A congestion control as a Python class, called once a round trip of each flow.

use forebay_foreign::wrong_window;
use forebay_sim::cc::foreign::{Details, Factory, FinePhase, Hooks, Start, Wants};
use forebay_sim::cc::{Ack, CongestionEvent, Window};
use forebay_sim::time::{NEVER, Picos, SECOND};
use pyo3::prelude::*;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What a control steers.
#[pyclass(name = "Window", module = "forebay._core", get_all, set_all)]
pub struct PyWindow {
    cwnd: f64,
    ssthresh: f64,
    pacing_rate: Option<f64>,
}

/// What a flow saw in a round trip.
#[pyclass(frozen, module = "forebay._core", get_all)]
#[derive(Clone, Default)]
pub struct Round {
    /// Time at its end, seconds.
    now_s: f64,
    /// Segments delivered, judged lost, and marked in it.
    acked: u64,
    lost: u64,
    marked: u64,
    /// Least round trip of it, seconds; None if none was measured.
    rtt_s: Option<f64>,
    srtt_s: f64,
    /// Least of the connection; None before the first.
    min_rtt_s: Option<f64>,
    in_flight: u64,
    /// The last rate sample, segments a second; None without pacing.
    delivery_rate: Option<f64>,
    /// The window is what held the sender back.
    cwnd_limited: bool,
}

type Fault = Arc<Mutex<Option<String>>>;

/// The control of a class.
pub struct PythonFactory {
    name: &'static str,
    class: Py<PyAny>,
    wants: Wants,
    fault: Fault,
}

impl fmt::Debug for PythonFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PythonFactory({})", self.name)
    }
}

impl PythonFactory {
    /// Of `class`, whose objects have `on_round`; `name` is what scenarios call it.
    pub fn new(name: &str, class: Py<PyAny>, paces: bool, controls_cwnd: bool) -> Self {
        let name = Box::leak(name.to_owned().into_boxed_str());
        let wants = Wants { paces, controls_cwnd, unlimited: true, ..Wants::default() };
        Self { name, class, wants, fault: Fault::default() }
    }
}

impl Factory for PythonFactory {
    fn name(&self) -> &'static str {
        self.name
    }

    fn wants(&self) -> Wants {
        self.wants
    }

    fn make(&self) -> Box<dyn Hooks> {
        let object = Python::attach(|py| {
            self.class.call0(py).map_err(|error| note(&self.fault, "__init__", &error)).ok()
        });
        let (fault, paces) = (Arc::clone(&self.fault), self.wants.paces);
        let (round, round_end) = (Round::default(), 0);
        Box::new(PythonHooks { object, fault, paces, round, least: NEVER, round_end })
    }

    fn failure(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cold]
fn note(fault: &Fault, hook: &str, what: &dyn fmt::Display) {
    let text = format!("{hook} raises {what}");
    fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
}

struct PythonHooks {
    /// `None` once it has failed.
    object: Option<Py<PyAny>>,
    fault: Fault,
    paces: bool,
    round: Round,
    least: Picos,
    /// The segment whose acknowledgement ends the round trip.
    round_end: u64,
}

impl PythonHooks {
    fn gather(&mut self, ack: &Ack) {
        self.round.acked += ack.delivered;
        self.round.lost += ack.newly_lost;
        self.round.marked += ack.marked;
        self.least = ack.rtt.map_or(self.least, |rtt| self.least.min(rtt));
        if let Some(rate) = &ack.rate {
            let interval = seconds(rate.interval.max(1));
            self.round.delivery_rate = Some(rate.delivered as f64 / interval);
        }
    }

    fn end_round(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        let mut round = std::mem::take(&mut self.round);
        round.now_s = seconds(ack.now);
        round.rtt_s = (self.least != NEVER).then(|| seconds(self.least));
        round.srtt_s = seconds(ack.srtt);
        round.min_rtt_s = (ack.min_rtt != NEVER).then(|| seconds(ack.min_rtt));
        round.in_flight = ack.in_flight;
        round.cwnd_limited = details.cwnd_limited;
        (self.round_end, self.least) = (ack.snd_nxt, NEVER);
        self.call("on_round", window, |py, object, seen| {
            object.call_method1(py, "on_round", (seen, round)).map(drop)
        });
    }

    /// Lets the object change the window, and looks at what it made of it.
    fn call(
        &mut self,
        hook: &str,
        window: &mut Window,
        act: impl FnOnce(Python<'_>, &Py<PyAny>, Bound<'_, PyWindow>) -> PyResult<()>,
    ) {
        let Some(object) = &self.object else { return };
        let Window { cwnd, ssthresh, pacing_rate } = *window;
        let made = Python::attach(|py| {
            let seen = Bound::new(py, PyWindow { cwnd, ssthresh, pacing_rate })?;
            act(py, object, seen.clone())?;
            let seen = seen.borrow();
            Ok::<_, PyErr>((seen.cwnd, seen.ssthresh, seen.pacing_rate))
        });
        match made {
            Ok((cwnd, ssthresh, pacing_rate)) => {
                let wrong = wrong_window(cwnd, ssthresh, pacing_rate.unwrap_or(0.0), self.paces);
                match wrong {
                    None => *window = Window { cwnd, ssthresh, pacing_rate },
                    Some(wrong) => self.fail(&format!("{wrong} after {hook}")),
                }
            }
            Err(error) => {
                note(&self.fault, hook, &error);
                self.object = None;
            }
        }
    }

    fn fail(&mut self, text: &str) {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| text.to_owned());
        self.object = None;
    }
}

fn seconds(time: Picos) -> f64 {
    time as f64 / SECOND as f64
}

impl Hooks for PythonHooks {
    fn init(&mut self, _window: &mut Window, _start: Start) {}

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        self.gather(ack);
        let calm = matches!(details.phase, FinePhase::Open | FinePhase::Disorder | FinePhase::Loss);
        if ack.snd_una > self.round_end && (calm || self.paces) {
            self.end_round(window, ack, details);
        }
    }

    fn cong_avoid(&mut self, _window: &mut Window, _ack: &Ack, _details: &Details) {}

    fn ssthresh(&mut self, window: &Window, _now: Picos, event: CongestionEvent) -> f64 {
        let mut reduced = Window { ssthresh: (window.cwnd / 2.0).max(2.0), ..*window };
        let event = match event {
            CongestionEvent::Loss => "loss",
            CongestionEvent::Mark => "mark",
            CongestionEvent::Timeout => "timeout",
        };
        let before = window.ssthresh;
        let half = reduced.ssthresh;
        reduced.ssthresh = before;
        self.call("ssthresh", &mut reduced, |py, object, seen| {
            if !object.bind(py).hasattr("ssthresh")? {
                seen.borrow_mut().ssthresh = half;
                return Ok(());
            }
            let chosen: f64 = object.call_method1(py, "ssthresh", (&seen, event))?.extract(py)?;
            seen.borrow_mut().ssthresh = chosen;
            Ok(())
        });
        if self.object.is_none() { half } else { reduced.ssthresh }
    }

    fn on_loss_state(&mut self, _window: &mut Window, _ack: &Ack, _details: &Details) {}

    fn on_transmit_start(&mut self, _window: &mut Window, _now: Picos, _last_sent: Picos) {}

    fn undo(&mut self, window: &Window, prior_cwnd: f64) -> f64 {
        window.cwnd.max(prior_cwnd)
    }
}
