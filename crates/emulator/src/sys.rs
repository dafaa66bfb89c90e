//! The kernel calls that no crate wraps. This file and the driver's file of the same name contain
//! all our `unsafe` code.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Makes `device`, an open /dev/net/tun, the queue of the TUN device `name` of this thread's
/// network namespace; packets have no additional header.
pub fn attach_tun(device: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    // SAFETY: an all-zero ifreq is valid: it has integers, arrays and a union of these.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (place, &byte) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *place = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one ifreq, which outlives the call.
    let status = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Gives this thread real-time priority (SCHED_FIFO).
pub fn be_real_time(priority: i32) -> io::Result<()> {
    // SAFETY: an all-zero sched_param is valid, and the call only reads it.
    let status = unsafe {
        let mut parameters: libc::sched_param = std::mem::zeroed();
        parameters.sched_priority = priority;
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters)
    };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
