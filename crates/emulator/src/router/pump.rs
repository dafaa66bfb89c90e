//! Moves the router: reads packets, hands packets over when they are due, and sleeps between.

use super::capture::Capture;
use super::cpu::CpuTime;
use super::ends::Ends;
use super::far_end::{Back, Delivered, Post};
use super::gauge::Gauge;
use super::recorder::RouterReadings;
use super::rhythm::Rhythm;
use super::witness::Witness;
use super::{Posted, Router, Side};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::sys;
use forebay_sim::time::{Picos, SECOND};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Among real-time threads.
pub const PRIORITY: i32 = 10;

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
    /// Of segments that came twice.
    pub witness: Witness,
    /// Share of a core that each of its threads took in the window.
    pub cpu: Vec<f64>,
    /// It ran before all threads that are not real-time.
    pub real_time: bool,
    /// Packets that the kernel lost before the router saw them.
    pub lost_before: u64,
    /// Packets missing in the capture.
    pub capture_lost: u64,
}

impl Routed {
    /// Adds what the far end read of itself.
    pub fn join(&mut self, delivered: &Delivered, window: Picos) {
        self.cpu.push(delivered.cpu.share(window));
        self.gauge.join(&delivered.gauge);
    }
}

/// The router with its devices, left and right.
pub struct Pump<'a> {
    router: Router,
    ends: Ends<'a>,
    clock: Clock,
    watch: &'a Watch,
    warmup: Picos,
    window: Picos,
    rhythm: Rhythm,
    /// When it last woke.
    woken: Picos,
    cpu: CpuTime,
    next_report: Picos,
}

impl<'a> Pump<'a> {
    /// A router that has not begun.
    pub fn new(
        plan: &Plan,
        router: Router,
        devices: &'a [OwnedFd; 2],
        (capture, far): (Option<Capture>, Option<Post>),
        rhythm: Rhythm,
        clock: Clock,
        watch: &'a Watch,
    ) -> Self {
        Self {
            router,
            ends: Ends::new(devices, capture, far),
            clock,
            watch,
            warmup: plan.warmup_ps,
            window: plan.window_ps,
            rhythm,
            woken: 0,
            cpu: CpuTime::default(),
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
            self.take_back()?;
            self.work();
            match [Side::Left, Side::Right].map(|side| self.ends.may_read(side)) {
                [false, false] => self.sleep()?,
                // A side that goes on sending must not keep the other waiting.
                [true, true] => {}
                _ => self.ends.glance()?,
            }
            self.read(Side::Left)?;
            self.read(Side::Right)?;
        }
        Ok(Some(self.end(real_time)))
    }

    /// Does all that is due.
    #[inline]
    fn work(&mut self) {
        loop {
            let now = self.clock.now_ps();
            self.ends.runs(self.ends.now, now);
            if !self.router.step(now, &mut self.ends) {
                return;
            }
        }
    }

    /// Takes in a packet of a side that may have one.
    fn read(&mut self, side: Side) -> Result<(), Failure> {
        if !self.ends.may_read(side) {
            return Ok(());
        }
        let slot = self.router.take().map_err(Failure::Memory)?;
        match self.ends.read(side, self.router.buffer(slot))? {
            Some(bytes) => {
                self.work();
                self.router.arrive(self.ends.now, side, slot, bytes, &mut self.ends);
            }
            None => self.router.give(slot),
        }
        Ok(())
    }

    /// Takes in what the far end has read, and buffers that it no longer needs.
    #[inline]
    fn take_back(&mut self) -> Result<(), Failure> {
        loop {
            let Some(Ok(back)) = self.ends.far.as_ref().map(|far| far.back.try_recv()) else {
                return Ok(());
            };
            match back {
                Back::Spent(posted) => {
                    self.router.restore(posted.slot, posted.buffer);
                    self.router.give(posted.slot);
                }
                Back::KeptWaiting(at) => self.ends.witness.stalls(at),
                Back::Read(Posted { side, at, slot, bytes, buffer }) => {
                    self.ends.witness.enters(&buffer[..bytes]);
                    self.router.restore(slot, buffer);
                    self.router.arrive(at, side, slot, bytes, &mut self.ends);
                }
                Back::Failed(failure) => return Err(failure),
            }
        }
    }

    /// Waits for a packet or the next thing due, once the pause since it last woke is over.
    fn sleep(&mut self) -> Result<(), Failure> {
        let now = self.clock.now_ps();
        let rested = self.woken + self.rhythm.pause;
        let until = self.router.next_at().max(rested).min(now + self.rhythm.nap);
        self.ends.wait(until.saturating_sub(now))?;
        let now = self.clock.now_ps();
        self.ends.runs(until, now);
        self.woken = now;
        Ok(())
    }

    /// Notes the beginning of the window, and tells the watch from time to time.
    #[inline]
    fn look_around(&mut self) {
        let now = self.ends.now;
        if now >= self.warmup && !self.ends.measuring {
            self.cpu.begin();
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

    fn end(mut self, real_time: bool) -> Routed {
        self.cpu.end();
        Routed {
            readings: self.router.finish(),
            gauge: self.ends.gauge,
            witness: self.ends.witness,
            cpu: vec![self.cpu.share(self.window)],
            real_time,
            lost_before: 0,
            capture_lost: self.ends.capture.map_or(0, |capture| capture.lost),
        }
    }
}
