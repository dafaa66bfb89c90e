//! Sockets with the options that the testbed needs.

use super::drive_plan::{Class, DrivePlan, Flow, TIMESTAMPS};
use super::sys::set_option;
use crate::failure::Failure;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketFlags, SocketType, bind, connect, getsockname, listen,
    socket_with, sockopt,
};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Bytes that wake a sink.
pub(super) const WAKES: u64 = 65536;
/// Connections that may wait to be accepted; the kernel caps it at net.core.somaxconn.
const BACKLOG: i32 = 65535;
/// Receive buffer for datagrams until they are collected.
const MAILBOX: usize = 32 << 20;
/// Send buffer for a burst of datagrams.
const OUTBOX: usize = 4 << 20;
/// Largest truesize of a packet over its length.
const TRUESIZE: u32 = 4;
const SPARE_ROOM: u32 = 1 << 20;

const TCP: i32 = libc::IPPROTO_TCP;
const IP: i32 = libc::IPPROTO_IP;

/// In seconds: times of keepalive probes to a silent receiver.
const KEEPALIVE: [(i32, i32); 2] = [(libc::TCP_KEEPIDLE, 1), (libc::TCP_KEEPINTVL, 1)];

/// Makes a listener of a class; accepted connections inherit its options.
pub(super) fn listener(class: &Class, port: u16) -> io::Result<(OwnedFd, u16)> {
    let socket = open(SocketType::STREAM)?;
    sockopt::set_socket_linger(&socket, Some(Duration::ZERO))?;
    set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, WAKES as i32)?;
    if class.max_window.is_some() {
        let bytes = class.window_bytes();
        // The kernel does not tune a buffer that is set, nor its window.
        let room = bytes.saturating_mul(TRUESIZE).saturating_add(SPARE_ROOM);
        force_receive_buffer(&socket, room as usize)?;
        set_option(socket.as_fd(), TCP, libc::TCP_WINDOW_CLAMP, bytes as i32)?;
    }
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))?;
    listen(&socket, BACKLOG)?;
    let port = port_of(&socket)?;
    Ok((socket, port))
}

/// Begins a connection for a flow.
pub(super) fn connecting(drive_plan: &DrivePlan, flow: u32, port: u16) -> Result<OwnedFd, Failure> {
    let spec = &drive_plan.flows[flow as usize];
    let control = &drive_plan.controls[usize::from(spec.control)];
    let failed = |what: &str, error: io::Error, hint| {
        Failure::Kernel(format!("flow {flow}: {what}"), error, hint)
    };
    let socket = open(SocketType::STREAM).map_err(no_socket)?;
    sockopt::set_tcp_congestion(&socket, control).map_err(|error| {
        let what = format!("congestion control {control}");
        failed(&what, error.into(), "choose one of net.ipv4.tcp_available_congestion_control")
    })?;
    let hint = "a Linux kernel of 5.11 or later is needed";
    prepare(&socket, drive_plan, spec).map_err(|error| failed("socket options", error, hint))?;
    let (here, there) = ends(drive_plan, flow, port);
    let hint = "the namespaces need routes to each other, and local routes to flows' addresses";
    bind(&socket, &here).map_err(|error| failed(&format!("bind {here}"), error.into(), hint))?;
    match connect(&socket, &there) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(failed(&format!("connect {there}"), error.into(), hint)),
    }
}

/// Makes the socket that receives the datagrams of all flows.
pub(super) fn udp_sink(port: u16) -> io::Result<(OwnedFd, u16)> {
    let socket = open(SocketType::DGRAM)?;
    force_receive_buffer(&socket, MAILBOX)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))?;
    let port = port_of(&socket)?;
    Ok((socket, port))
}

/// Makes the socket that sends a flow's datagrams without fragments.
pub(super) fn outbox(drive_plan: &DrivePlan, flow: u32, port: u16) -> io::Result<OwnedFd> {
    let socket = open(SocketType::DGRAM)?;
    let (here, there) = ends(drive_plan, flow, port);
    set_option(socket.as_fd(), IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO)?;
    if sockopt::set_socket_send_buffer_size_force(&socket, OUTBOX).is_err() {
        sockopt::set_socket_send_buffer_size(&socket, OUTBOX)?;
    }
    bind(&socket, &here)?;
    connect(&socket, &there)?;
    Ok(socket)
}

/// The failure of opening a socket.
pub(super) fn no_socket(error: io::Error) -> Failure {
    let hint = "raise the limit of open files, or fs.file-max, or write fewer flows";
    Failure::Kernel("socket".into(), error, hint)
}

fn prepare(socket: &OwnedFd, drive_plan: &DrivePlan, flow: &Flow) -> io::Result<()> {
    let fd = socket.as_fd();
    sockopt::set_socket_linger(fd, Some(Duration::ZERO))?;
    for (name, seconds) in KEEPALIVE {
        set_option(fd, TCP, name, seconds)?;
    }
    set_option(fd, TCP, libc::TCP_MAXSEG, (flow.payload() + TIMESTAMPS) as i32)?;
    set_option(fd, TCP, libc::TCP_NOTSENT_LOWAT, drive_plan.lowat as i32)?;
    set_option(fd, IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

fn open(kind: SocketType) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::INET, kind, flags, None)?)
}

/// Exceeds net.core.rmem_max if permitted.
fn force_receive_buffer(socket: &OwnedFd, bytes: usize) -> io::Result<()> {
    if sockopt::set_socket_recv_buffer_size_force(socket, bytes).is_err() {
        sockopt::set_socket_recv_buffer_size(socket, bytes)?;
    }
    Ok(())
}

fn ends(drive_plan: &DrivePlan, flow: u32, port: u16) -> (SocketAddrV4, SocketAddrV4) {
    let from = drive_plan.from(flow);
    (drive_plan.address(from, flow, 0), drive_plan.address(from.other(), flow, port))
}

fn port_of(socket: &OwnedFd) -> io::Result<u16> {
    let address: SocketAddrAny = getsockname(socket)?;
    Ok(SocketAddrV4::try_from(address)?.port())
}
