//! The sending end of a connection.

use super::drive_plan::DrivePlan;
use super::tcp_info::TcpInfo;
use forebay_sim::time::Picos;
use rustix::io::Errno;
use rustix::net::{SendFlags, send, sockopt};
use std::io;
use std::os::fd::OwnedFd;

/// Payload of all flows.
static NOTHING: [u8; 256 << 10] = [0; 256 << 10];

/// Maximum number of writes at a time.
const WRITES: u32 = 8;

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// In the handshake.
    Connecting,
    /// Established, before its start time.
    Waiting,
    /// Sending data.
    Flowing,
}

/// A connection's sending socket, and its unsent data.
pub(super) struct SenderSocket {
    pub(super) socket: OwnedFd,
    pub(super) flow: u32,
    /// Index of the flow's file.
    pub(super) file: u32,
    pub(super) stage: Stage,
    /// Time of the first byte; `NEVER` while it is unknown.
    pub(super) begins: Picos,
    /// TCP_INFO when the connection was established.
    pub(super) base: TcpInfo,
    /// The latest TCP_INFO.
    pub(super) seen: TcpInfo,
    /// Bytes not yet passed to the kernel; `None` for an unlimited flow.
    left: Option<u64>,
    /// The largest write: whole segments.
    chunk: usize,
}

impl SenderSocket {
    /// For a flow's file that may begin at `begins`.
    pub(super) fn new(
        socket: OwnedFd,
        drive_plan: &DrivePlan,
        flow: u32,
        file: u32,
        begins: Picos,
    ) -> Self {
        let payload = drive_plan.flows[flow as usize].payload();
        let left = drive_plan.segments(flow, file).map(|segments| segments * u64::from(payload));
        let chunk = NOTHING.len() - NOTHING.len() % payload as usize;
        let (base, stage) = (TcpInfo::default(), Stage::Connecting);
        Self { socket, flow, file, stage, begins, base, seen: base, left, chunk }
    }

    /// Sends the first bytes, like `write`.
    pub(super) fn begin(&mut self) -> io::Result<bool> {
        self.stage = Stage::Flowing;
        if self.left.is_some() {
            // If the receiver's reset is lost, keepalive causes another one.
            sockopt::set_socket_keepalive(&self.socket, true)?;
        }
        self.write()
    }

    /// Writes what the kernel accepts, up to a limit: over a device that delivers at
    /// once it would accept without limit. True if it would accept more.
    pub(super) fn write(&mut self) -> io::Result<bool> {
        for _ in 0..WRITES {
            let most = self.left.map_or(self.chunk, |left| left.min(self.chunk as u64) as usize);
            if most == 0 {
                return Ok(false);
            }
            match send(&self.socket, &NOTHING[..most], SendFlags::NOSIGNAL) {
                Ok(taken) => self.left = self.left.map(|left| left - taken as u64),
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                // The event of the end follows.
                Err(Errno::CONNRESET | Errno::PIPE | Errno::TIMEDOUT) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Whether the kernel has all data: the receiver ends the connection when it has received it.
    pub(super) fn has_sent_all(&self) -> bool {
        self.left == Some(0)
    }
}
