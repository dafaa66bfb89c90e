//! Runs the router: reads packets, delivers packets when they are due, and sleeps between.

use super::burst::{Burst, BurstCounts, LARGEST_FRAME};
use super::capture::Capture;
use super::channels::{FarEndChannels, FarEndMessage, PRIORITY, Progress};
use super::cpu::CpuTime;
use super::dsack_audit::DsackAudit;
use super::far_end::Delivered;
use super::recorder::RouterReadings;
use super::timing::TimingStats;
use super::tun_ports::TunPorts;
use super::wake_policy::WakePolicy;
use super::{Router, Side, TimedPacket};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::sys;
use forebay_sim::time::{Picos, SECOND};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

/// The router's readings, and its timing.
pub struct RouterResult {
    /// Readings of links and classes.
    pub readings: RouterReadings,
    /// Timing in the window.
    pub timing: TimingStats,
    /// Audit of segments that were received twice.
    pub dsack_audit: DsackAudit,
    /// Share of a core of each of its threads in the window.
    pub cpu: Vec<f64>,
    /// Whether it had real-time priority.
    pub real_time: bool,
    /// Packets that the kernel dropped before the router read them.
    pub lost_before: u64,
    /// Packets missing in the capture.
    pub capture_lost: u64,
    /// Of senders with offload in the window.
    pub bursts: BurstCounts,
}

impl RouterResult {
    /// Adds the far end's readings of itself.
    pub fn join(&mut self, delivered: &Delivered, window: Picos) {
        self.cpu.push(delivered.cpu.share(window));
        self.timing.join(&delivered.timing);
    }
}

/// The router with its devices, left and right.
pub struct RouterLoop<'a> {
    router: Router,
    tun_ports: TunPorts<'a>,
    clock: Clock,
    progress: &'a Progress,
    warmup: Picos,
    window: Picos,
    wake_policy: WakePolicy,
    /// Time of the last wake-up.
    woken: Picos,
    cpu: CpuTime,
    next_report: Picos,
    /// A frame of bursts that is being cut.
    frame: Box<[u8]>,
    bursts: BurstCounts,
}

impl<'a> RouterLoop<'a> {
    /// A router that has not begun.
    pub fn new(
        plan: &Plan,
        router: Router,
        devices: &'a [OwnedFd; 2],
        (capture, far): (Option<Capture>, Option<FarEndChannels>),
        wake_policy: WakePolicy,
        clock: Clock,
        progress: &'a Progress,
    ) -> Self {
        let offload = [plan.sender.offload, plan.receiver.offload];
        Self {
            router,
            tun_ports: TunPorts::new(devices, offload, capture, far),
            clock,
            progress,
            warmup: plan.warmup_ps,
            window: plan.window_ps,
            wake_policy,
            woken: 0,
            cpu: CpuTime::default(),
            next_report: 0,
            frame: vec![0; LARGEST_FRAME].into_boxed_slice(),
            bursts: BurstCounts::default(),
        }
    }

    /// Routes until the window is over; `None` if it was stopped.
    pub fn run(mut self) -> Result<Option<RouterResult>, Failure> {
        // Without permission the run continues: the gate checks lateness, not priority.
        let real_time = sys::be_real_time(PRIORITY).is_ok();
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        while !self.router.finished() {
            if self.progress.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.housekeep();
            self.drain_far_end()?;
            self.work();
            match [Side::Left, Side::Right].map(|side| self.tun_ports.may_read(side)) {
                [false, false] => self.sleep()?,
                // A side that keeps sending must not block the other.
                [true, true] => {}
                _ => self.tun_ports.poll_other()?,
            }
            self.read(Side::Left)?;
            self.read(Side::Right)?;
        }
        Ok(Some(self.end(real_time)))
    }

    /// Handles all events that are due.
    #[inline]
    fn work(&mut self) {
        loop {
            let now = self.clock.now_ps();
            let late = self.tun_ports.runs(self.tun_ports.now, now);
            self.router.ran_late(now, late);
            if !self.router.step(now, &mut self.tun_ports) {
                return;
            }
        }
    }

    /// Reads a packet, or a burst, of a side that may have one.
    fn read(&mut self, side: Side) -> Result<(), Failure> {
        if !self.tun_ports.may_read(side) {
            return Ok(());
        }
        if self.tun_ports.has_bursts(side) {
            return self.read_burst(side);
        }
        let slot = self.router.take().map_err(Failure::Memory)?;
        match self.tun_ports.read(side, self.router.buffer(slot))? {
            Some(bytes) => {
                self.work();
                self.router.arrive(self.tun_ports.now, side, slot, bytes, &mut self.tun_ports);
            }
            None => self.router.give(slot),
        }
        Ok(())
    }

    /// All packets of a burst arrive when it is read; access links spread them.
    fn read_burst(&mut self, side: Side) -> Result<(), Failure> {
        let Some(bytes) = self.tun_ports.read(side, &mut self.frame)? else { return Ok(()) };
        self.work();
        let mut burst = Burst::read(&self.frame[..bytes]);
        let mut packets = 0;
        loop {
            let slot = self.router.take().map_err(Failure::Memory)?;
            let next = burst.as_mut().and_then(|burst| burst.next(self.router.buffer(slot)));
            // A frame without a packet that could be cut from it counts as one of no flow.
            let Some(bytes) = next.or((packets == 0).then_some(0)) else {
                self.router.give(slot);
                break;
            };
            self.router.arrive(self.tun_ports.now, side, slot, bytes, &mut self.tun_ports);
            packets += 1;
        }
        if self.tun_ports.measuring {
            self.bursts.frames += 1;
            self.bursts.packets += packets;
        }
        Ok(())
    }

    /// Receives packets that the far end has read, and buffers that it no longer needs.
    #[inline]
    fn drain_far_end(&mut self) -> Result<(), Failure> {
        loop {
            let Some(Ok(back)) = self.tun_ports.far.as_ref().map(|far| far.back.try_recv()) else {
                return Ok(());
            };
            match back {
                FarEndMessage::Spent(packet) => {
                    self.router.restore(packet.slot, packet.buffer);
                    self.router.give(packet.slot);
                }
                FarEndMessage::Late(at) => self.tun_ports.dsack_audit.router_stalled(at),
                FarEndMessage::RanLate(at, late) => {
                    self.tun_ports.ran_late(at, late);
                    self.router.ran_late(at, late);
                }
                FarEndMessage::Read(TimedPacket { side, at, slot, bytes, buffer }) => {
                    self.tun_ports.dsack_audit.enters(&buffer[..bytes]);
                    self.router.restore(slot, buffer);
                    self.router.arrive(at, side, slot, bytes, &mut self.tun_ports);
                }
                FarEndMessage::Failed(failure) => return Err(failure),
            }
        }
    }

    /// Waits for a packet or the next event, at least until the minimum interval is over.
    fn sleep(&mut self) -> Result<(), Failure> {
        let now = self.clock.now_ps();
        let rested = self.woken + self.wake_policy.min_interval;
        let until = self.router.next_at().max(rested).min(now + self.wake_policy.max_sleep);
        self.tun_ports.wait(until.saturating_sub(now))?;
        let now = self.clock.now_ps();
        let late = self.tun_ports.runs(until, now);
        self.router.ran_late(now, late);
        self.woken = now;
        Ok(())
    }

    /// Records the start of the window, and updates the progress periodically.
    #[inline]
    fn housekeep(&mut self) {
        let now = self.tun_ports.now;
        if now >= self.warmup && !self.tun_ports.measuring {
            self.cpu.begin();
            self.tun_ports.measuring = true;
            self.tun_ports.timing = TimingStats::default();
        }
        if now >= self.next_report {
            self.report(now);
        }
    }

    #[cold]
    fn report(&mut self, now: Picos) {
        self.next_report = now + SECOND / 4;
        self.progress.reached.store(now, Ordering::Relaxed);
        self.progress.first_link_bytes.store(self.router.first_link_bytes, Ordering::Relaxed);
        self.progress.lateness_p99.store(self.tun_ports.timing.quantile(0.99), Ordering::Relaxed);
    }

    fn end(mut self, real_time: bool) -> RouterResult {
        self.cpu.end();
        RouterResult {
            readings: self.router.finish(),
            timing: self.tun_ports.timing,
            dsack_audit: self.tun_ports.dsack_audit,
            cpu: vec![self.cpu.share(self.window)],
            real_time,
            lost_before: 0,
            bursts: self.bursts,
            capture_lost: self.tun_ports.capture.map_or(0, |capture| capture.lost),
        }
    }
}
