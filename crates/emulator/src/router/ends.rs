//! The router's devices, left and right, and what is read of the packets that go out there.

use super::capture::Capture;
use super::gauge::Gauge;
use super::witness::Witness;
use super::{Egress, Side};
use crate::failure::Failure;
use forebay_sim::time::Picos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use std::os::fd::OwnedFd;

/// Packets read from one device before the other is asked whether it has any.
const GLANCES_A_LOOK: u32 = 8;

/// See the module's page.
pub struct Ends<'a> {
    devices: &'a [OwnedFd; 2],
    /// A device may have packets.
    ready: [bool; 2],
    glances: u32,
    /// When the router last looked at the clock.
    pub now: Picos,
    /// The window has begun.
    pub measuring: bool,
    /// How well times are kept.
    pub gauge: Gauge,
    /// Who is to blame for what comes twice.
    pub witness: Witness,
    /// Where packets that leave the plan's links go, if asked for.
    pub capture: Option<Capture>,
}

impl Egress for Ends<'_> {
    #[inline]
    fn deliver(&mut self, side: Side, at: Picos, packet: &[u8]) {
        if self.measuring {
            self.gauge.delivered(at, self.now);
        }
        self.witness.leaves(at, self.now, self.measuring, packet);
        match write(&self.devices[side as usize], packet) {
            Ok(_) if self.measuring => self.gauge.hands(side, packet.len()),
            Ok(_) => {}
            Err(_) => self.gauge.write_errors += 1,
        }
    }

    #[inline]
    fn departs(&mut self, link: usize, at: Picos, packet: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.take(link, at, packet);
        }
    }
}

impl<'a> Ends<'a> {
    /// Devices that have sent nothing yet.
    pub fn new(devices: &'a [OwnedFd; 2], capture: Option<Capture>) -> Self {
        Self {
            devices,
            ready: [false; 2],
            glances: 0,
            now: 0,
            measuring: false,
            gauge: Gauge::default(),
            witness: Witness::default(),
            capture,
        }
    }

    /// The router runs at `now`, and would have had to by `expected`.
    #[inline]
    pub fn runs(&mut self, expected: Picos, now: Picos) {
        if self.gauge.runs(expected, now) {
            self.witness.stalls(now);
        }
        self.now = now;
    }

    /// Whether a device may have a packet to read.
    #[inline]
    pub fn may_read(&self, side: Side) -> bool {
        self.ready[side as usize]
    }

    /// Reads a packet; `None` if there is none.
    #[inline]
    pub fn read(&mut self, side: Side, buffer: &mut [u8]) -> Result<Option<usize>, Failure> {
        match read(&self.devices[side as usize], &mut *buffer) {
            Ok(bytes) => {
                self.witness.enters(&buffer[..bytes]);
                Ok(Some(bytes))
            }
            Err(Errno::AGAIN | Errno::INTR) => {
                self.ready[side as usize] = false;
                Ok(None)
            }
            Err(error) => Err(Failure::Kernel(
                "reading from a TUN device".into(),
                error.into(),
                "leave the testbed's namespaces alone while it runs",
            )),
        }
    }

    /// From time to time, looks whether the other device has packets too.
    #[inline]
    pub fn glance(&mut self) -> Result<(), Failure> {
        self.glances = (self.glances + 1) % GLANCES_A_LOOK;
        if self.glances == 0 { self.wait(0) } else { Ok(()) }
    }

    /// Waits for a packet, so long at most.
    pub fn wait(&mut self, span: Picos) -> Result<(), Failure> {
        let [left, right] = self.devices;
        let mut ends = [left, right].map(|end| PollFd::new(end, PollFlags::IN));
        match poll(&mut ends, Some(&timespec(span))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                let hint = "this is a defect of forebay-emulator; please report it";
                return Err(Failure::Kernel("waiting for packets".into(), error.into(), hint));
            }
        }
        self.ready = ends.map(|end| !end.revents().is_empty());
        Ok(())
    }
}

/// Rounded up, so that nothing is woken before its time.
fn timespec(span: Picos) -> Timespec {
    let nanos = span.div_ceil(1_000);
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}
