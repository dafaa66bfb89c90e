//! The kernel calls that no crate wraps. This file and the driver's file of the same name contain
//! all our `unsafe` code.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// linux/if_tun.h: checksums, TCP segments over IPv4, and such with CWR are left to the device.
const OFFLOADS: libc::c_ulong = 0x01 | 0x02 | 0x08;

/// Makes `device`, an open /dev/net/tun, the queue of the TUN device `name` of this thread's
/// network namespace. Packets have no additional header, or with `offload` that of virtio-net, and
/// then the kernel leaves it to the reader to cut segments.
pub fn attach_tun(device: BorrowedFd<'_>, name: &str, offload: bool) -> io::Result<()> {
    // SAFETY: an all-zero ifreq is valid: it has integers, arrays and a union of these.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (place, &byte) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *place = byte as libc::c_char;
    }
    let framing = if offload { libc::IFF_VNET_HDR } else { 0 };
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | framing) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one ifreq, which outlives the call.
    let status = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if status < 0 {
        return Err(io::Error::last_os_error());
    }
    let offloads = if offload { OFFLOADS } else { 0 };
    // SAFETY: TUNSETOFFLOAD takes a number and touches no memory of ours.
    let status = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETOFFLOAD, offloads) };
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
