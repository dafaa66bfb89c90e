//! TCP_INFO: the kernel's state of a connection.

use super::sys;
use forebay_sim::meters::trace::State;
use std::io;
use std::os::fd::AsFd;

/// Bytes of `struct tcp_info` that are read (include/uapi/linux/tcp.h, Linux 6.7 and later).
const LENGTH: usize = 248;

/// Fields of `struct tcp_info` with the kernel's names, without the prefix. Those that an old kernel
/// lacks are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TcpInfo {
    pub(super) ca_state: u8,
    pub(super) snd_mss: u32,
    pub(super) unacked: u32,
    /// Smoothed round-trip time, microseconds.
    pub(super) rtt: u32,
    pub(super) snd_ssthresh: u32,
    pub(super) snd_cwnd: u32,
    pub(super) total_retrans: u32,
    pub(super) bytes_received: u64,
    pub(super) notsent_bytes: u32,
    pub(super) data_segs_out: u32,
    /// Microseconds, as the two after it.
    pub(super) busy_time: u64,
    pub(super) rwnd_limited: u64,
    pub(super) sndbuf_limited: u64,
    pub(super) delivered: u32,
    pub(super) delivered_ce: u32,
    pub(super) dsack_dups: u32,
    pub(super) total_rto: u16,
}

// enum tcp_ca_state
const CWR: u8 = 2;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

impl TcpInfo {
    /// Reads it from the kernel.
    pub(super) fn of(socket: impl AsFd) -> io::Result<Self> {
        let mut bytes = [0; LENGTH];
        sys::tcp_info(socket.as_fd(), &mut bytes)?;
        Ok(Self::parse(&bytes))
    }

    fn parse(bytes: &[u8; LENGTH]) -> Self {
        let word = |at: usize| u32::from_ne_bytes(part(bytes, at));
        let long = |at: usize| u64::from_ne_bytes(part(bytes, at));
        Self {
            ca_state: bytes[1],
            snd_mss: word(16),
            unacked: word(24),
            rtt: word(68),
            snd_ssthresh: word(76),
            snd_cwnd: word(80),
            total_retrans: word(100),
            bytes_received: long(128),
            notsent_bytes: word(144),
            data_segs_out: word(156),
            busy_time: long(168),
            rwnd_limited: long(176),
            sndbuf_limited: long(184),
            delivered: word(192),
            delivered_ce: word(196),
            dsack_dups: word(216),
            total_rto: u16::from_ne_bytes(part(bytes, 240)),
        }
    }

    /// The sender's state, in the simulator's terms.
    pub(super) fn state(&self) -> State {
        match self.ca_state {
            _ if self.unacked == 0 && self.notsent_bytes == 0 => State::Idle,
            LOSS => State::Loss,
            CWR | RECOVERY => State::Recovery,
            _ if self.snd_cwnd < self.snd_ssthresh => State::SlowStart,
            _ => State::Avoidance,
        }
    }

    /// The congestion window in segments; 0 while the sender has nothing to do.
    pub(super) fn window(&self) -> f64 {
        if self.state() == State::Idle { 0.0 } else { f64::from(self.snd_cwnd) }
    }

    /// Whether the sender has reduced its window since `before`: its threshold moved, for a loss or a mark.
    /// Two reductions between the readings count as one.
    pub(super) fn backed_off_since(&self, before: &Self) -> bool {
        let reason = self.total_retrans != before.total_retrans
            || self.delivered_ce != before.delivered_ce
            || self.ca_state >= CWR;
        reason && self.snd_ssthresh != before.snd_ssthresh
    }
}

fn part<const N: usize>(bytes: &[u8; LENGTH], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn it_tells_of_a_real_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut receiver = listener.accept().unwrap().0;
        sender.write_all(&[0; 5000]).unwrap();
        receiver.read_exact(&mut [0; 5000]).unwrap();
        let (sent, received) = (TcpInfo::of(&sender).unwrap(), TcpInfo::of(&receiver).unwrap());
        assert_eq!(received.bytes_received, 5000);
        assert!(sent.data_segs_out >= 1 && sent.snd_cwnd >= 10 && sent.snd_mss > 500);
        assert!(sent.rtt > 0 && sent.rtt < 1_000_000);
        assert_eq!((sent.total_retrans, sent.total_rto, sent.dsack_dups), (0, 0, 0));
    }

    #[test]
    fn states_are_the_simulators() {
        let at = |ca_state, snd_cwnd| TcpInfo {
            ca_state,
            snd_cwnd,
            snd_ssthresh: 20,
            unacked: 1,
            ..TcpInfo::default()
        };
        assert_eq!(at(0, 10).state(), State::SlowStart);
        assert_eq!(at(1, 20).state(), State::Avoidance);
        assert_eq!(at(RECOVERY, 20).state(), State::Recovery);
        assert_eq!(at(LOSS, 1).state(), State::Loss);
        assert_eq!(TcpInfo { unacked: 0, ..at(0, 10) }.window(), 0.0);
    }

    #[test]
    fn a_moved_threshold_alone_is_no_reduction() {
        let before = TcpInfo { snd_ssthresh: u32::MAX, ..TcpInfo::default() };
        let exit = TcpInfo { snd_ssthresh: 40, ..before }; // HyStart leaves slow start
        assert!(!exit.backed_off_since(&before));
        assert!(TcpInfo { total_retrans: 1, ..exit }.backed_off_since(&before));
        assert!(!TcpInfo { total_retrans: 1, ..before }.backed_off_since(&before));
    }
}
