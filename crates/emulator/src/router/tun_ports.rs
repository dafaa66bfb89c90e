//! The router's devices, left and right, and the readings of delivered packets.

use super::burst::FRAMING;
use super::capture::Capture;
use super::channels::FarEndChannels;
use super::dsack_audit::DsackAudit;
use super::timing::{STALL, TimingStats};
use super::{Egress, Side, TimedPacket};
use crate::failure::Failure;
use forebay_sim::time::Picos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write, writev};
use std::io::IoSlice;
use std::os::fd::OwnedFd;

/// Packets read from one device before the other is checked.
const GLANCES_A_LOOK: u32 = 8;

/// A device.
pub struct TunPort<'a> {
    /// Its side.
    pub side: Side,
    device: &'a OwnedFd,
    /// Whether it may have packets.
    pub ready: bool,
    /// Whether a virtio-net header is before each packet, and packets are bursts.
    pub offload: bool,
}

impl<'a> TunPort<'a> {
    /// Makes the port of a device that has sent nothing yet.
    pub fn new(side: Side, device: &'a OwnedFd, offload: bool) -> Self {
        Self { side, device, ready: false, offload }
    }

    /// Reads a packet, or a frame of bursts; `None` if there is none.
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

    /// Writes a packet, which has all its checksums; false if the device refuses it.
    #[inline]
    fn write(&self, packet: &[u8]) -> bool {
        if self.offload {
            let complete = [0; FRAMING];
            return writev(self.device, &[IoSlice::new(&complete), IoSlice::new(packet)]).is_ok();
        }
        write(self.device, packet).is_ok()
    }

    /// Waits for a packet, so long at most.
    pub fn wait(&mut self, span: Picos) -> Result<(), Failure> {
        [self.ready] = wait_for([self.device], span)?;
        Ok(())
    }
}

/// Delivers a packet that was due `at` now, and records its timing if there is a recorder.
#[inline]
pub fn deliver(
    port: &mut TunPort<'_>,
    timing: Option<&mut TimingStats>,
    (at, now): (Picos, Picos),
    packet: &[u8],
) {
    let taken = port.write(packet);
    // If the stack there answers, it does so before the write returns.
    port.ready = true;
    if let Some(timing) = timing {
        timing.delivered(at, now);
        timing.hands(port.side, packet.len(), taken);
    }
}

/// Both TUN devices, and the statistics of what is written to them.
pub struct TunPorts<'a> {
    ports: [TunPort<'a>; 2],
    glances: u32,
    /// Latest reading of the clock.
    pub now: Picos,
    /// Whether the window has begun.
    pub measuring: bool,
    /// Timing of deliveries.
    pub timing: TimingStats,
    /// Causes of segments that are received twice.
    pub dsack_audit: DsackAudit,
    /// Capture of packets that leave the plan's links, if requested.
    pub capture: Option<Capture>,
    /// Channels to the thread of the right end, if there is one.
    pub far: Option<FarEndChannels>,
}

impl Egress for TunPorts<'_> {
    #[inline]
    fn deliver(&mut self, side: Side, at: Picos, packet: &[u8]) {
        let timing = self.measuring.then_some(&mut self.timing);
        self.dsack_audit.leaves(at, self.now, self.measuring, packet);
        deliver(&mut self.ports[side as usize], timing, (at, self.now), packet);
    }

    #[inline]
    fn takes_early(&self, side: Side) -> bool {
        side == Side::Right && self.far.is_some()
    }

    #[inline]
    fn post(&mut self, packet: TimedPacket) {
        if let Some(far) = &self.far {
            // A far end that has ended has reported its failure.
            let _ = far.out.send(packet);
        }
    }

    #[inline]
    fn departs(&mut self, link: usize, at: Picos, packet: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.take(link, at, packet);
        }
    }

    #[inline]
    fn returns(&mut self, at: Picos, packet: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.take_returning(at, packet);
        }
    }
}

impl<'a> TunPorts<'a> {
    /// Devices that have sent nothing yet.
    pub fn new(
        [left, right]: &'a [OwnedFd; 2],
        offload: [bool; 2],
        capture: Option<Capture>,
        far: Option<FarEndChannels>,
    ) -> Self {
        Self {
            ports: [
                TunPort::new(Side::Left, left, offload[0]),
                TunPort::new(Side::Right, right, offload[1]),
            ],
            glances: 0,
            now: 0,
            measuring: false,
            timing: TimingStats::default(),
            dsack_audit: DsackAudit::default(),
            capture,
            far,
        }
    }

    /// The router runs at `now`, and would have had to by `expected`. Returns how late it is.
    #[inline]
    pub fn runs(&mut self, expected: Picos, now: Picos) -> Picos {
        let late = self.timing.runs(expected, now);
        self.ran_late(now, late);
        self.now = now;
        late
    }

    /// A thread of the router ran at `now`, so much later than it should have.
    #[inline]
    pub fn ran_late(&mut self, now: Picos, late: Picos) {
        if late > STALL {
            self.dsack_audit.router_stalled(now);
        }
    }

    /// Whether a device may have a packet to read.
    #[inline]
    pub fn may_read(&self, side: Side) -> bool {
        self.ports[side as usize].ready
    }

    /// Whether the device of a side has frames of bursts instead of packets.
    #[inline]
    pub fn has_bursts(&self, side: Side) -> bool {
        self.ports[side as usize].offload
    }

    /// Reads a packet, or a frame of bursts; `None` if there is none.
    #[inline]
    pub fn read(&mut self, side: Side, buffer: &mut [u8]) -> Result<Option<usize>, Failure> {
        let port = &mut self.ports[side as usize];
        let framing = if port.offload { FRAMING } else { 0 };
        let read = port.read(&mut *buffer)?;
        if let Some(packet) = read.and_then(|bytes| buffer.get(framing..bytes)) {
            self.dsack_audit.enters(packet);
        }
        Ok(read)
    }

    /// Checks periodically if the other device has packets too.
    #[inline]
    pub fn poll_other(&mut self) -> Result<(), Failure> {
        if self.far.is_some() {
            return Ok(());
        }
        self.glances = (self.glances + 1) % GLANCES_A_LOOK;
        if self.glances == 0 { self.wait(0) } else { Ok(()) }
    }

    /// Waits for a packet, so long at most.
    pub fn wait(&mut self, span: Picos) -> Result<(), Failure> {
        let [left, right] = &mut self.ports;
        if self.far.is_some() {
            return left.wait(span);
        }
        [left.ready, right.ready] = wait_for([left.device, right.device], span)?;
        Ok(())
    }
}

/// The devices that have a packet, after at most this time.
fn wait_for<const N: usize>(devices: [&OwnedFd; N], span: Picos) -> Result<[bool; N], Failure> {
    let mut tun_ports = devices.map(|end| PollFd::new(end, PollFlags::IN));
    match poll(&mut tun_ports, Some(&timespec(span))) {
        Ok(_) | Err(Errno::INTR) => Ok(tun_ports.map(|end| !end.revents().is_empty())),
        Err(error) => {
            let hint = "this is a defect of forebay-emulator; please report it";
            Err(Failure::Kernel("waiting for packets".into(), error.into(), hint))
        }
    }
}

/// Rounded up, so that no wake-up is too early.
fn timespec(span: Picos) -> Timespec {
    let nanos = span.div_ceil(1_000);
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}
