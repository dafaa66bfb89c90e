//! A connection's receiving end: counts bytes, looks at none.

use super::sockets::WAKES;
use super::sys::set_option;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// What a sink found when it was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// More is to come.
    Open,
    /// All has arrived.
    Whole,
    /// The sender has gone.
    Gone,
}

/// See the module's page.
pub(super) struct Sink {
    pub(super) socket: OwnedFd,
    pub(super) flow: u32,
    /// Bytes to come; `None` for a flow without end.
    left: Option<u64>,
    /// Bytes that wake it.
    wakes: u64,
}

impl Sink {
    /// For a connection that was accepted. A tail shorter than `WAKES` wakes it too.
    pub(super) fn new(socket: OwnedFd, flow: u32, bytes: Option<u64>) -> io::Result<Self> {
        let mut sink = Self { socket, flow, left: bytes, wakes: WAKES };
        sink.wake_at_the_tail()?;
        Ok(sink)
    }

    /// Takes what has arrived; the kernel throws it away (MSG_TRUNC), so that `room` is not touched.
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
        self.wake_at_the_tail()?;
        Ok(Found::Open)
    }

    fn wake_at_the_tail(&mut self) -> io::Result<()> {
        match self.left {
            Some(left) if left < self.wakes => {
                self.wakes = left;
                let fd = self.socket.as_fd();
                set_option(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, left as i32)
            }
            _ => Ok(()),
        }
    }
}
