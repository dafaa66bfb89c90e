//! The router's devices, left and right, and what is read of the packets that go out there.

use super::capture::Capture;
use super::far_end::Post;
use super::gauge::Gauge;
use super::witness::Witness;
use super::{Egress, Posted, Side};
use crate::failure::Failure;
use forebay_sim::time::Picos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use std::os::fd::OwnedFd;

/// Packets read from one device before the other is asked whether it has any.
const GLANCES_A_LOOK: u32 = 8;

/// A device.
pub struct Door<'a> {
    /// Its side.
    pub side: Side,
    device: &'a OwnedFd,
    /// It may have packets.
    pub ready: bool,
}

impl<'a> Door<'a> {
    /// Of a device that has sent nothing yet.
    pub fn new(side: Side, device: &'a OwnedFd) -> Self {
        Self { side, device, ready: false }
    }

    /// Reads a packet; `None` if there is none.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Failure> {
        match read(self.device, buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Errno::AGAIN | Errno::INTR) => {
                self.ready = false;
                Ok(None)
            }
            Err(error) => Err(Failure::Kernel(
                "reading from a TUN device".into(),
                error.into(),
                "leave the testbed's namespaces alone while it runs",
            )),
        }
    }

    /// Waits for a packet, so long at most.
    pub fn wait(&mut self, span: Picos) -> Result<(), Failure> {
        [self.ready] = wait_for([self.device], span)?;
        Ok(())
    }
}

/// Hands a packet that was due `at` over `now`, and tells the gauge if there is one.
#[inline]
pub fn deliver(
    door: &mut Door<'_>,
    gauge: Option<&mut Gauge>,
    (at, now): (Picos, Picos),
    packet: &[u8],
) {
    let taken = write(door.device, packet).is_ok();
    // The stack there answers, if it does, before the write returns.
    door.ready = true;
    if let Some(gauge) = gauge {
        gauge.delivered(at, now);
        gauge.hands(door.side, packet.len(), taken);
    }
}

/// See the module's page.
pub struct Ends<'a> {
    doors: [Door<'a>; 2],
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
    /// The right is another thread's.
    pub far: Option<Post>,
}

impl Egress for Ends<'_> {
    #[inline]
    fn deliver(&mut self, side: Side, at: Picos, packet: &[u8]) {
        let gauge = self.measuring.then_some(&mut self.gauge);
        self.witness.leaves(at, self.now, self.measuring, packet);
        deliver(&mut self.doors[side as usize], gauge, (at, self.now), packet);
    }

    #[inline]
    fn takes_ahead(&self, side: Side) -> bool {
        side == Side::Right && self.far.is_some()
    }

    #[inline]
    fn post(&mut self, posted: Posted) {
        if let Some(far) = &self.far {
            // A far end that has gone has said why.
            let _ = far.out.send(posted);
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
    pub fn new(
        [left, right]: &'a [OwnedFd; 2],
        capture: Option<Capture>,
        far: Option<Post>,
    ) -> Self {
        Self {
            doors: [Door::new(Side::Left, left), Door::new(Side::Right, right)],
            glances: 0,
            now: 0,
            measuring: false,
            gauge: Gauge::default(),
            witness: Witness::default(),
            capture,
            far,
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
        self.doors[side as usize].ready
    }

    /// Reads a packet; `None` if there is none.
    #[inline]
    pub fn read(&mut self, side: Side, buffer: &mut [u8]) -> Result<Option<usize>, Failure> {
        let read = self.doors[side as usize].read(&mut *buffer)?;
        if let Some(bytes) = read {
            self.witness.enters(&buffer[..bytes]);
        }
        Ok(read)
    }

    /// From time to time, looks whether the other device has packets too.
    #[inline]
    pub fn glance(&mut self) -> Result<(), Failure> {
        if self.far.is_some() {
            return Ok(());
        }
        self.glances = (self.glances + 1) % GLANCES_A_LOOK;
        if self.glances == 0 { self.wait(0) } else { Ok(()) }
    }

    /// Waits for a packet, so long at most.
    pub fn wait(&mut self, span: Picos) -> Result<(), Failure> {
        let [left, right] = &mut self.doors;
        if self.far.is_some() {
            return left.wait(span);
        }
        [left.ready, right.ready] = wait_for([left.device, right.device], span)?;
        Ok(())
    }
}

/// Which of the devices have a packet, after so long at most.
fn wait_for<const N: usize>(devices: [&OwnedFd; N], span: Picos) -> Result<[bool; N], Failure> {
    let mut ends = devices.map(|end| PollFd::new(end, PollFlags::IN));
    match poll(&mut ends, Some(&timespec(span))) {
        Ok(_) | Err(Errno::INTR) => Ok(ends.map(|end| !end.revents().is_empty())),
        Err(error) => {
            let hint = "this is a defect of forebay-emulator; please report it";
            Err(Failure::Kernel("waiting for packets".into(), error.into(), hint))
        }
    }
}

/// Rounded up, so that nothing is woken before its time.
fn timespec(span: Picos) -> Timespec {
    let nanos = span.div_ceil(1_000);
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}
