//! Moves the router: reads packets, hands packets over when they are due, and sleeps between.

use super::capture::Capture;
use super::gauge::Gauge;
use super::recorder::RouterReadings;
use super::{Egress, Router, Side};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::sys;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const PRIORITY: i32 = 10;
/// The longest sleep: how soon the router sees that it is to stop.
const NAP: Picos = 50 * MILLISECOND;

/// What other threads may know of the router while it runs.
#[derive(Default)]
pub struct Watch {
    /// Time reached.
    pub reached: AtomicU64,
    /// Bytes that the first link has taken on.
    pub first_link_bytes: AtomicU64,
    /// Of lateness, so far.
    pub lateness_p99: AtomicU64,
    /// Set to end it early.
    pub stop: AtomicBool,
}

/// What the router read, and how well it kept its times.
pub struct Routed {
    /// Of links and classes.
    pub readings: RouterReadings,
    /// Over the window.
    pub gauge: Gauge,
    /// Share of a core that its thread took in the window.
    pub cpu: f64,
    /// It ran before all threads that are not real-time.
    pub real_time: bool,
    /// Packets that the kernel lost before the router saw them.
    pub lost_before: u64,
    /// Packets missing in the capture.
    pub capture_lost: u64,
}

/// The router with its devices, left and right.
pub struct Pump<'a> {
    router: Router,
    ends: Ends<'a>,
    clock: Clock,
    watch: &'a Watch,
    warmup: Picos,
    window: Picos,
    /// CPU time of the thread when the window began.
    cpu_before: Option<Duration>,
    next_report: Picos,
}

struct Ends<'a> {
    devices: &'a [OwnedFd; 2],
    now: Picos,
    measuring: bool,
    gauge: Gauge,
    capture: Option<Capture>,
}

impl Egress for Ends<'_> {
    #[inline]
    fn deliver(&mut self, side: Side, at: Picos, packet: &[u8]) {
        if self.measuring {
            self.gauge.delivered(at, self.now);
        }
        match write(&self.devices[side as usize], packet) {
            Ok(_) => {}
            Err(_) => self.gauge.write_errors += 1,
        }
    }

    #[inline]
    fn departs(&mut self, at: Picos, packet: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.take(at, packet);
        }
    }
}

impl<'a> Pump<'a> {
    /// A router that has not begun.
    pub fn new(
        plan: &Plan,
        router: Router,
        devices: &'a [OwnedFd; 2],
        capture: Option<Capture>,
        clock: Clock,
        watch: &'a Watch,
    ) -> Self {
        let gauge = Gauge::default();
        Self {
            router,
            ends: Ends { devices, now: 0, measuring: false, gauge, capture },
            clock,
            watch,
            warmup: plan.warmup_ps,
            window: plan.window_ps,
            cpu_before: None,
            next_report: 0,
        }
    }

    /// Routes until the window is over; `None` if it was told to stop.
    pub fn run(mut self) -> Result<Option<Routed>, Failure> {
        // Without the right to it the run goes on: the gate judges by lateness, not by rank.
        let real_time = sys::be_real_time(PRIORITY).is_ok();
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        while !self.router.finished() {
            if self.watch.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.look_around();
            let left = self.read(Side::Left)?;
            let right = self.read(Side::Right)?;
            self.work();
            if !left && !right {
                self.sleep()?;
            }
        }
        Ok(Some(self.end(real_time)))
    }

    /// Does all that is due.
    #[inline]
    fn work(&mut self) {
        loop {
            let now = self.clock.now_ps();
            self.ends.gauge.runs(self.ends.now, now);
            self.ends.now = now;
            if !self.router.step(now, &mut self.ends) {
                return;
            }
        }
    }

    /// Reads a packet from a side; false if there was none.
    fn read(&mut self, side: Side) -> Result<bool, Failure> {
        let slot = self.router.take().map_err(Failure::Memory)?;
        match read(&self.ends.devices[side as usize], self.router.buffer(slot)) {
            Ok(bytes) => {
                self.work();
                self.router.arrive(self.ends.now, side, slot, bytes, &mut self.ends);
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => {
                self.router.give(slot);
                Ok(false)
            }
            Err(error) => Err(Failure::Kernel(
                "reading from a TUN device".into(),
                error.into(),
                "leave the testbed's namespaces alone while it runs",
            )),
        }
    }

    /// Waits for a packet or the next thing due.
    fn sleep(&mut self) -> Result<(), Failure> {
        let due = self.router.next_at();
        let now = self.clock.now_ps();
        let until = due.min(now + NAP);
        if until > now {
            let [left, right] = self.ends.devices;
            let mut ends = [left, right].map(|end| PollFd::new(end, PollFlags::IN));
            match poll(&mut ends, Some(&timespec(until - now))) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => {
                    let hint = "this is a defect of forebay-emulator; please report it";
                    return Err(Failure::Kernel("waiting for packets".into(), error.into(), hint));
                }
            }
        }
        let now = self.clock.now_ps();
        self.ends.gauge.runs(until, now);
        self.ends.now = now;
        Ok(())
    }

    /// Notes the beginning of the window, and tells the watch from time to time.
    #[inline]
    fn look_around(&mut self) {
        let now = self.ends.now;
        if now >= self.warmup && self.cpu_before.is_none() {
            self.cpu_before = Some(cpu_time());
            self.ends.measuring = true;
            self.ends.gauge = Gauge::default();
        }
        if now >= self.next_report {
            self.report(now);
        }
    }

    #[cold]
    fn report(&mut self, now: Picos) {
        self.next_report = now + SECOND / 4;
        self.watch.reached.store(now, Ordering::Relaxed);
        self.watch.first_link_bytes.store(self.router.first_link_bytes, Ordering::Relaxed);
        self.watch.lateness_p99.store(self.ends.gauge.quantile(0.99), Ordering::Relaxed);
    }

    fn end(self, real_time: bool) -> Routed {
        let taken = cpu_time().saturating_sub(self.cpu_before.unwrap_or_default());
        Routed {
            readings: self.router.finish(),
            gauge: self.ends.gauge,
            cpu: taken.as_secs_f64() / (self.window as f64 / SECOND as f64),
            real_time,
            lost_before: 0,
            capture_lost: self.ends.capture.map_or(0, |capture| capture.lost),
        }
    }
}

fn cpu_time() -> Duration {
    let taken = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(taken.tv_sec as u64, taken.tv_nsec as u32)
}

/// Rounded up, so that nothing is woken before its time.
fn timespec(span: Picos) -> Timespec {
    let nanos = span.div_ceil(1_000);
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}
