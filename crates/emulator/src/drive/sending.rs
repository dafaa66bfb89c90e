//! A connection's sending end.

use super::tcp_info::TcpInfo;
use forebay_sim::time::Picos;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::io;
use std::os::fd::OwnedFd;

/// What flows carry.
static NOTHING: [u8; 256 << 10] = [0; 256 << 10];

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

/// See the module's page.
pub(super) struct Sending {
    pub(super) socket: OwnedFd,
    pub(super) flow: u32,
    pub(super) stage: Stage,
    /// When the first byte may go.
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

impl Sending {
    /// For `bytes` bytes in segments of `payload`.
    pub(super) fn new(
        socket: OwnedFd,
        flow: u32,
        begins: Picos,
        bytes: Option<u64>,
        payload: u32,
    ) -> Self {
        let chunk = NOTHING.len() - NOTHING.len() % payload as usize;
        let (base, stage) = (TcpInfo::default(), Stage::Connecting);
        Self { socket, flow, stage, begins, base, seen: base, left: bytes, chunk }
    }

    /// Gives the kernel what it takes.
    pub(super) fn write(&mut self) -> io::Result<()> {
        loop {
            let most = self.left.map_or(self.chunk, |left| left.min(self.chunk as u64) as usize);
            if most == 0 {
                return Ok(());
            }
            match send(&self.socket, &NOTHING[..most], SendFlags::NOSIGNAL) {
                Ok(taken) => self.left = self.left.map(|left| left - taken as u64),
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                // The event that tells of the end comes next.
                Err(Errno::CONNRESET | Errno::PIPE | Errno::TIMEDOUT) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// All data has been handed over: the receiver ends the connection once it has it.
    pub(super) fn has_sent_all(&self) -> bool {
        self.left == Some(0)
    }
}
