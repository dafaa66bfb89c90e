//! Waits for the next event of many sockets (epoll).

use crate::failure::Failure;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Kind of an event, in the upper half of its data; a slot is in the lower half.
pub(super) const LISTENER: u64 = 0;
pub(super) const SENDER: u64 = 1;
pub(super) const SINK: u64 = 2;
pub(super) const STOP: u64 = 3;

/// Events fetched at once.
pub(super) const EVENTS: usize = 256;

/// An epoll instance.
pub(super) struct Poll(OwnedFd);

impl Poll {
    pub(super) fn new() -> Result<Self, Failure> {
        epoll::create(CreateFlags::CLOEXEC).map(Self).map_err(refused)
    }

    /// Reports a socket's events from now on.
    pub(super) fn watch(&self, what: impl AsFd, kind: u64, place: u32) -> Result<(), Failure> {
        epoll::add(&self.0, what, data(kind, place), flags(kind)).map_err(refused)
    }

    /// Reports once more that a sender can write, if it can.
    pub(super) fn again(&self, sender: impl AsFd, place: u32) -> Result<(), Failure> {
        epoll::modify(&self.0, sender, data(SENDER, place), flags(SENDER)).map_err(refused)
    }

    /// Waits at most this long; `None` means without limit.
    pub(super) fn wait(
        &self,
        events: &mut Vec<Event>,
        wait: Option<Duration>,
    ) -> Result<(), Failure> {
        events.clear();
        let wait = wait.map(|wait| Timespec {
            tv_sec: wait.as_secs() as i64,
            tv_nsec: i64::from(wait.subsec_nanos()),
        });
        match epoll::wait(&self.0, spare_capacity(events), wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(refused(error)),
        }
    }
}

fn data(kind: u64, place: u32) -> EventData {
    EventData::new_u64(kind << 32 | u64::from(place))
}

/// Edge-triggered for connections, because the reader takes all available data.
fn flags(kind: u64) -> EventFlags {
    match kind {
        SENDER => EventFlags::OUT | EventFlags::ET,
        SINK => EventFlags::IN | EventFlags::RDHUP | EventFlags::ET,
        _ => EventFlags::IN,
    }
}

fn refused(error: Errno) -> Failure {
    Failure::Kernel("epoll".into(), error.into(), "a Linux kernel of 5.11 or later is needed")
}
