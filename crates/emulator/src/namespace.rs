//! Network namespaces: a thread enters one; sockets and devices opened there stay in it.

use crate::failure::Failure;
use crate::sys;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread;

const AS_ROOT: &str = "run as root: network namespaces and TUN devices need it";

/// Moves this thread into the namespace at `path`, permanently.
pub fn enter(path: &Path) -> Result<(), Failure> {
    let entered = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .and_then(|at| move_into_link_name_space(at.as_fd(), Some(LinkNameSpaceType::Network)));
    entered.map_err(refused(format!("entering the namespace {}", path.display()), AS_ROOT))
}

/// The queue of the TUN device `name` of the namespace at `path`, with bursts if it has `offload`;
/// reads and writes do not block.
pub fn open_tun(path: &Path, name: &str, offload: bool) -> Result<OwnedFd, Failure> {
    let attach = || {
        enter(path)?;
        // The kernel would create a missing device.
        if transmit_drops(&devices()?, name).is_none() {
            let asked = format!("finding the TUN device {name} in {}", path.display());
            return Err(refused(asked, "make it before the emulator starts")(Errno::NODEV));
        }
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let device = open("/dev/net/tun", flags, Mode::empty())
            .map_err(refused("opening /dev/net/tun", "load the kernel's tun module"))?;
        sys::attach_tun(device.as_fd(), name, offload)
            .map_err(refused(format!("attaching to the TUN device {name}"), AS_ROOT))?;
        Ok(device)
    };
    thread::scope(|scope| scope.spawn(attach).join()).map_err(|_| Failure::Thread("TUN"))?
}

/// Packets so far that did not fit into the queue of the TUN device `name`: the kernel dropped them
/// before the router read them.
pub fn lost_before(path: &Path, name: &str) -> Result<u64, Failure> {
    let read = || {
        enter(path)?;
        Ok(transmit_drops(&devices()?, name).unwrap_or(0))
    };
    thread::scope(|scope| scope.spawn(read).join()).map_err(|_| Failure::Thread("TUN"))?
}

/// The table of devices of this thread's namespace.
fn devices() -> Result<String, Failure> {
    let table = "/proc/thread-self/net/dev";
    std::fs::read_to_string(table).map_err(refused(format!("reading {table}"), "mount /proc"))
}

/// The fourth column of eight after the eight for received packets.
fn transmit_drops(table: &str, name: &str) -> Option<u64> {
    let row = table.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'))?;
    row.split_whitespace().nth(11)?.parse().ok()
}

fn refused<E: Into<io::Error>>(
    asked: impl Display,
    hint: &'static str,
) -> impl FnOnce(E) -> Failure {
    move |answer| Failure::Kernel(asked.to_string(), answer.into(), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_of_transmit_drops() {
        let table = "Inter-|   Receive   |  Transmit\n face |bytes packets errs drop\n    \
            lo:  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n   \
            fb01: 0 0 0 0 0 0 0 0 0 0 0 99 0 0 0 0\n   \
            fb0: 1477744   26019    0    5    0     0 0 0 68050100   45463    0   18    0 0 0 0\n";
        assert_eq!(transmit_drops(table, "fb0"), Some(18));
        assert_eq!(transmit_drops(table, "fb"), None);
    }
}
