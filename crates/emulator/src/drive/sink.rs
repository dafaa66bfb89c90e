//! The receiving end of a connection: counts bytes without reading them.

use super::sockets::WAKES;
use super::sys::set_option;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// State of a sink after a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// More data is expected.
    Open,
    /// All data has arrived.
    Whole,
    /// The sender has closed the connection.
    Gone,
}

/// A connection's receiving socket.
pub(super) struct Sink {
    pub(super) socket: OwnedFd,
    pub(super) flow: u32,
    /// Missing bytes; `None` for an unlimited flow.
    left: Option<u64>,
    /// Bytes that wake it.
    wakes: u64,
    /// A window that is not set yet.
    clamp: Option<u32>,
}

impl Sink {
    /// For an accepted connection. A rest shorter than `WAKES` wakes it too.
    ///
    /// Linux (tcp_measure_rcv_mss) resets a window clamp at the first full segment, so
    /// `clamp` is set after that.
    pub(super) fn new(
        socket: OwnedFd,
        flow: u32,
        bytes: Option<u64>,
        clamp: Option<u32>,
    ) -> io::Result<Self> {
        let mut sink = Self { socket, flow, left: bytes, wakes: WAKES, clamp };
        sink.set_wakes()?;
        Ok(sink)
    }

    /// Reads the data that has arrived; the kernel discards it (MSG_TRUNC) without touching `room`.
    pub(super) fn read(&mut self, room: &mut [u8]) -> io::Result<Found> {
        loop {
            match recv(&self.socket, &mut *room, RecvFlags::TRUNC) {
                Ok((_, 0)) | Err(Errno::CONNRESET | Errno::TIMEDOUT) => return Ok(Found::Gone),
                Ok((_, taken)) => {
                    self.left = self.left.map(|left| left.saturating_sub(taken as u64));
                    if self.left == Some(0) {
                        return Ok(Found::Whole);
                    }
                    if taken < room.len() {
                        break;
                    }
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(clamp) = self.clamp.take() {
            set_option(
                self.socket.as_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_WINDOW_CLAMP,
                clamp as i32,
            )?;
        }
        self.set_wakes()?;
        Ok(Found::Open)
    }

    fn set_wakes(&mut self) -> io::Result<()> {
        let most = if self.clamp.is_some() { 1 } else { WAKES };
        let wakes = self.left.map_or(most, |left| left.min(most));
        if wakes == self.wakes {
            return Ok(());
        }
        self.wakes = wakes;
        set_option(self.socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, wakes as i32)
    }
}
