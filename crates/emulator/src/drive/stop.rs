//! A stop flag for threads.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A flag that wakes threads that wait for it with epoll, and stays set.
pub(super) struct Stop {
    told: AtomicBool,
    failed: AtomicBool,
    event: OwnedFd,
}

impl Stop {
    pub(super) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { told: AtomicBool::new(false), failed: AtomicBool::new(false), event })
    }

    /// Sets the flag.
    pub(super) fn tell(&self) {
        self.told.store(true, SeqCst);
        // It cannot fail: the counter is far from full.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }

    pub(super) fn is_told(&self) -> bool {
        self.told.load(SeqCst)
    }

    /// Sets the flag because a thread has failed.
    pub(super) fn fail(&self) {
        self.failed.store(true, SeqCst);
        self.tell();
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(SeqCst)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
