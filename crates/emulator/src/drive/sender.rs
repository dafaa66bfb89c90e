//! A connection's sending end.

use super::drive_plan::DrivePlan;
use super::tcp_info::TcpInfo;
use forebay_sim::time::Picos;
use rustix::io::Errno;
use rustix::net::{SendFlags, send, sockopt};
use std::io;
use std::os::fd::OwnedFd;

/// What flows carry.
static NOTHING: [u8; 256 << 10] = [0; 256 << 10];

/// Writes at a time.
const WRITES: u32 = 8;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The handshake is under way.
    Connecting,
    /// It is done before its time.
    Waiting,
    /// Data flows.
    Flowing,
}

/// A connection's sending socket, and what it has yet to send.
pub(super) struct SenderSocket {
    pub(super) socket: OwnedFd,
    pub(super) flow: u32,
    /// Which of the flow's files it carries.
    pub(super) file: u32,
    pub(super) stage: Stage,
    /// When the first byte may go; `NEVER` while that is not known.
    pub(super) begins: Picos,
    /// As the connection was established.
    pub(super) base: TcpInfo,
    /// As it was last read.
    pub(super) seen: TcpInfo,
    /// Bytes that the kernel has yet to take; `None` for a flow without end.
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

    /// The first byte may go. As `write`.
    pub(super) fn begin(&mut self) -> io::Result<bool> {
        self.stage = Stage::Flowing;
        if self.left.is_some() {
            // Where the end that the receiver tells of is lost, it is asked for again.
            sockopt::set_socket_keepalive(&self.socket, true)?;
        }
        self.write()
    }

    /// Gives the kernel what it takes, but only so much at a time: over a device that delivers at
    /// once it would take without end. True if it would take more.
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
                // The event that tells of the end comes next.
                Err(Errno::CONNRESET | Errno::PIPE | Errno::TIMEDOUT) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// All data has been handed over: the receiver ends the connection once it has it.
    pub(super) fn has_sent_all(&self) -> bool {
        self.left == Some(0)
    }
}
