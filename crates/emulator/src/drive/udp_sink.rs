//! Receives datagrams and counts them by flow.

use super::counters::{Counters, Counts};
use super::drive_plan::{DrivePlan, STAMP, Source, UDP_HEADERS};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io;
use std::os::fd::OwnedFd;

/// A side's datagrams.
pub(super) struct UdpSink {
    socket: OwnedFd,
    /// By flow: arrived packets that `DrivePlan::counts_in_window`.
    pub(super) received: Vec<u64>,
}

impl UdpSink {
    pub(super) fn new(socket: OwnedFd, flows: usize) -> Self {
        Self { socket, received: vec![0; flows] }
    }

    /// Reads all datagrams that have arrived.
    pub(super) fn collect(
        &mut self,
        drive_plan: &DrivePlan,
        counters: &mut Counters,
    ) -> io::Result<()> {
        let mut stamp = [0; STAMP];
        loop {
            match recv(&self.socket, &mut stamp, RecvFlags::TRUNC) {
                Ok((STAMP, length)) => self.count(stamp, length as u64, drive_plan, counters),
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn count(
        &mut self,
        stamp: [u8; STAMP],
        length: u64,
        drive_plan: &DrivePlan,
        counters: &mut Counters,
    ) {
        let (flow, number) = read_stamp(stamp);
        let Some(spec) = drive_plan.flows.get(flow as usize) else { return };
        let Source::Packets(from, to) = spec.source else { return };
        let packet = from + number as usize;
        if packet < to {
            let bytes = Counts::delivered(length + u64::from(UDP_HEADERS));
            counters.keep(spec.class, flow, &bytes);
            self.received[flow as usize] += u64::from(drive_plan.counts_in_window(flow, packet));
        }
    }
}

/// First bytes of a datagram: its flow, and its number in the flow.
pub(super) fn stamp(flow: u32, number: u32) -> [u8; STAMP] {
    (u64::from(flow) << 32 | u64::from(number)).to_be_bytes()
}

fn read_stamp(stamp: [u8; STAMP]) -> (u32, u32) {
    let both = u64::from_be_bytes(stamp);
    ((both >> 32) as u32, both as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_was_written() {
        assert_eq!(read_stamp(stamp(7, 1 << 31)), (7, 1 << 31));
    }
}
