//! The driver: runs the plan's flows on sockets in the two namespaces.
//!
//! Each side has a thread for all its connections (`host`), and one for the datagrams that it sends
//! (`emitter`). Each class has its senders on one side. The receiver ends a connection when it
//! has all data, with a reset, so that only data and ACKs cross the queues. A handshake is
//! made before a flow's start, so that its first byte leaves at the planned time.

mod connections;
mod counters;
mod drive_plan;
mod emitter;
mod host;
mod json;
mod limits;
mod poll;
mod reading;
mod readings;
mod sampling;
mod sender;
mod sink;
mod slot_map;
mod sockets;
mod stop;
mod sys;
mod tcp_info;
#[cfg(test)]
mod tests;
mod timer_queue;
mod udp_sink;

pub use readings::DriveReadings;

use crate::clock::Clock;
use crate::failure::Failure;
use crate::plan::Plan;
use drive_plan::{DrivePlan, Side, Source};
use emitter::{Emitted, Emitter};
use host::Host;
use readings::Sides;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use stop::Stop;

/// First listening port of receivers in our own namespaces; each class has the next ones, and
/// datagrams the last. In other namespaces the kernel chooses the ports.
const FIRST_PORT: u16 = 5001;

/// Runs the plan's flows.
pub struct Driver {
    drive_plan: Arc<DrivePlan>,
    stop: Arc<Stop>,
    hosts: Vec<JoinHandle<Result<Host, Failure>>>,
    emitters: Vec<JoinHandle<Result<Option<Emitted>, Failure>>>,
}

/// Arguments of a side's threads.
struct Place {
    side: Side,
    namespace: PathBuf,
    drive_plan: Arc<DrivePlan>,
    clock: Clock,
    stop: Arc<Stop>,
}

impl Driver {
    /// Enters the namespaces, listens there, and starts; the clock's zero is now or just before.
    pub fn start(plan: &Plan, clock: Clock) -> Result<Self, Failure> {
        let drive_plan = Arc::new(DrivePlan::new(plan)?);
        limits::raise_open_files(&drive_plan)?;
        let stop = Arc::new(Stop::new().map_err(sockets::no_socket)?);
        let place = |side, namespace: &Path| Place {
            side,
            namespace: namespace.to_owned(),
            drive_plan: drive_plan.clone(),
            clock,
            stop: stop.clone(),
        };
        let (left, left_listens, tell_left) = place(Side::Left, &plan.sender.netns).start_host();
        let (right, right_listens, tell_right) =
            place(Side::Right, &plan.receiver.netns).start_host();
        let hosts = vec![left, right];
        let mut driver =
            Self { drive_plan: drive_plan.clone(), stop: stop.clone(), hosts, emitters: vec![] };
        let (Ok(left), Ok(right)) = (left_listens.recv(), right_listens.recv()) else {
            drop((tell_left, tell_right)); // no side waits for the other's ports any more
            return Err(driver.stop().err().unwrap_or(Failure::Thread("flow driver")));
        };
        let (to_left, to_right) = (left[left.len() - 1], right[right.len() - 1]);
        // A side that has failed since then reports it when it is joined.
        let _ = (tell_left.send(right), tell_right.send(left));
        driver.emitters = vec![
            place(Side::Left, &plan.sender.netns).start_emitter(to_right),
            place(Side::Right, &plan.receiver.netns).start_emitter(to_left),
        ];
        Ok(driver)
    }

    /// Whether a side has failed; `stop` returns the reason.
    pub fn has_failed(&self) -> bool {
        self.stop.has_failed()
    }

    /// Ends every flow and returns the readings.
    pub fn stop(mut self) -> Result<DriveReadings, Failure> {
        self.stop.tell();
        let hosts = all(self.hosts.drain(..).map(joined).collect());
        let emitted = all(self.emitters.drain(..).map(joined).collect());
        let (hosts, emitted) = (hosts?, emitted?);
        // Only after both have read everything, because closing a socket ends the other side's.
        let hosts: Vec<_> = hosts.into_iter().map(Host::finish).collect();
        let hosts = hosts.try_into().map_err(|_| Failure::Thread("flow driver"))?;
        let emitted = emitted.into_iter().flatten().collect();
        Ok(Sides { hosts, emitted }.join(&self.drive_plan))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.stop.tell();
    }
}

type Started = (JoinHandle<Result<Host, Failure>>, Receiver<Vec<u16>>, Sender<Vec<u16>>);

impl Place {
    fn start_host(self) -> Started {
        let (listens, listening) = channel();
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let stop = self.stop.clone();
            self.host(&listens, &told).inspect_err(|_| stop.fail())
        });
        (thread, listening, tell)
    }

    fn host(self, listens: &Sender<Vec<u16>>, told: &Receiver<Vec<u16>>) -> Result<Host, Failure> {
        limits::enter(&self.namespace)?;
        let own = !self.namespace.as_os_str().is_empty();
        let port = if own { FIRST_PORT } else { 0 };
        let (mut host, ports) = Host::new(self.drive_plan, self.clock, self.side, port)?;
        let gone = Failure::Thread("flow driver");
        if listens.send(ports).is_err() {
            return Err(gone);
        }
        host.ports = told.recv().map_err(|_| gone)?;
        host.run(&self.stop)?;
        Ok(host)
    }

    fn start_emitter(self, port: u16) -> JoinHandle<Result<Option<Emitted>, Failure>> {
        std::thread::spawn(move || {
            let stop = self.stop.clone();
            self.emit(port).inspect_err(|_| stop.fail())
        })
    }

    fn emit(self, port: u16) -> Result<Option<Emitted>, Failure> {
        let open_loop = |source| matches!(source, Source::Packets(..));
        if !self.drive_plan.flows.iter().any(|flow| open_loop(flow.source)) {
            return Ok(None);
        }
        limits::enter(&self.namespace)?;
        let emitter = Emitter::new(&self.drive_plan, self.clock, self.side, port)?;
        emitter.map(|emitter| emitter.run(&self.stop)).transpose()
    }
}

/// If one has failed, others may fail as a consequence: the original cause comes first.
fn all<T>(results: Vec<Result<T, Failure>>) -> Result<Vec<T>, Failure> {
    let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let failures = bad.into_iter().filter_map(Result::err);
    match failures.min_by_key(|failure| matches!(failure, Failure::Thread(_))) {
        Some(failure) => Err(failure),
        None => good.into_iter().collect(),
    }
}

fn joined<T>(thread: JoinHandle<Result<T, Failure>>) -> Result<T, Failure> {
    thread.join().unwrap_or(Err(Failure::Thread("flow driver")))
}
