//! Network namespaces: a thread enters one, and what it opens there keeps it.

use crate::failure::Failure;
use crate::sys;
use rustix::fs::{Mode, OFlags, open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread;

const AS_ROOT: &str = "run as root: network namespaces and TUN devices need it";

/// This thread enters the namespace at `path`, for good.
pub fn enter(path: &Path) -> Result<(), Failure> {
    let entered = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .and_then(|at| move_into_link_name_space(at.as_fd(), Some(LinkNameSpaceType::Network)));
    entered.map_err(refused(format!("entering the namespace {}", path.display()), AS_ROOT))
}

/// The queue of the TUN device `name` of the namespace at `path`; reads and writes do not block.
pub fn open_tun(path: &Path, name: &str) -> Result<OwnedFd, Failure> {
    let attach = || {
        enter(path)?;
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let device = open("/dev/net/tun", flags, Mode::empty())
            .map_err(refused("opening /dev/net/tun", "load the kernel's tun module"))?;
        sys::attach_tun(device.as_fd(), name)
            .map_err(refused(format!("attaching to the TUN device {name}"), AS_ROOT))?;
        Ok(device)
    };
    thread::scope(|scope| scope.spawn(attach).join()).map_err(|_| Failure::Thread("TUN"))?
}

fn refused<E: Into<io::Error>>(
    asked: impl Display,
    hint: &'static str,
) -> impl FnOnce(E) -> Failure {
    move |answer| Failure::Kernel(asked.to_string(), answer.into(), hint)
}
