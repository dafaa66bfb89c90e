//! Socket options that no crate supports.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Sets an option that is an int.
pub(super) fn set_option(fd: BorrowedFd<'_>, level: i32, name: i32, value: i32) -> io::Result<()> {
    let (at, len) = ((&raw const value).cast(), size_of::<i32>() as libc::socklen_t);
    // SAFETY: `at` points to `len` bytes that live through the call, and the kernel only reads them.
    let status = unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, at, len) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads TCP_INFO in the kernel's layout; returns the number of bytes written.
pub(super) fn tcp_info(fd: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<usize> {
    let mut len = into.len() as libc::socklen_t;
    let at = into.as_mut_ptr().cast();
    // SAFETY: the kernel writes at most `len` bytes to `at`, which `into` holds, and the number
    // written to `len`.
    let status = unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, at, &raw mut len)
    };
    if status == 0 { Ok(len as usize) } else { Err(io::Error::last_os_error()) }
}
