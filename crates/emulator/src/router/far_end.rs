//! The right end in a separate thread, for rates at which one thread is too slow.
//!
//! Writing to a TUN device is most of the router's work, as the kernel's TCP runs inside it: the
//! receiver of the data and its ACK in one write, the ACK's sender and what it sends next in the
//! other. So this thread delivers packets to the right and reads the answers of the right, which
//! cross no queue. Packets that a thread posts are due at the other end half a round trip later, so
//! that neither thread must be woken for them: each polls often enough.

use super::channels::{FarEndMessage, PRIORITY, Progress};
use super::cpu::CpuTime;
use super::dsack_audit::LATE;
use super::stall_drops::LEAST_STALL;
use super::timer_queue::{Due, TimerQueue};
use super::timing::TimingStats;
use super::tun_ports::{TunPort, deliver};
use super::wake_policy::WakePolicy;
use super::{Side, TimedPacket};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::sys;
use forebay_sim::time::Picos;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

/// Spare buffers for reads.
const STOCK: usize = 64;

/// The thread that writes to and reads from the right TUN device.
pub struct FarEnd<'a> {
    port: TunPort<'a>,
    clock: Clock,
    progress: &'a Progress,
    inbox: Receiver<TimedPacket>,
    outbox: Sender<FarEndMessage>,
    timer_queue: TimerQueue,
    /// By number of the buffer.
    held: Vec<Option<TimedPacket>>,
    stock: Vec<TimedPacket>,
    wake_policy: WakePolicy,
    window: Range<Picos>,
    /// Whether the window has begun and is not over.
    measuring: bool,
    read: Delivered,
}

/// A far end's readings of itself in the window.
#[derive(Default)]
pub struct Delivered {
    /// Of packets to the right.
    pub timing: TimingStats,
    /// Of its thread.
    pub cpu: CpuTime,
}

impl<'a> FarEnd<'a> {
    /// Makes one without packets.
    pub fn new(
        port: TunPort<'a>,
        (clock, progress): (Clock, &'a Progress),
        (inbox, outbox): (Receiver<TimedPacket>, Sender<FarEndMessage>),
        wake_policy: WakePolicy,
        window: Range<Picos>,
    ) -> Self {
        Self {
            port,
            clock,
            progress,
            inbox,
            outbox,
            timer_queue: TimerQueue::default(),
            held: Vec::new(),
            stock: Vec::new(),
            wake_policy,
            window,
            measuring: false,
            read: Delivered::default(),
        }
    }

    /// Runs until all senders are dropped, or until it is stopped.
    pub fn run(mut self) -> Delivered {
        let _ = sys::be_real_time(PRIORITY);
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        if let Err(failure) = self.work() {
            let _ = self.outbox.send(FarEndMessage::Failed(failure));
        }
        if self.measuring {
            self.read.cpu.end();
        }
        self.read
    }

    fn work(&mut self) -> Result<(), Failure> {
        while self.collect() && !self.progress.stop.load(Ordering::Relaxed) {
            let woken = self.clock.now_ps();
            self.housekeep(woken);
            // Deliveries cause reads, and while it reads, more deliveries become due.
            while self.hand_over() | self.read()? {}
            let now = self.clock.now_ps();
            let rested = self.timer_queue.next_at().max(woken + self.wake_policy.min_interval);
            let until = rested.min(now + self.wake_policy.max_sleep);
            if self.stock.is_empty() {
                self.clock.sleep_until(until); // there is no buffer to read into
            } else {
                self.port.wait(until.saturating_sub(now))?;
            }
            let now = self.clock.now_ps();
            let late = self.read.timing.runs(until, now);
            if late >= LEAST_STALL {
                let _ = self.outbox.send(FarEndMessage::RanLate(now, late));
            }
        }
        Ok(())
    }

    fn housekeep(&mut self, now: Picos) {
        match (self.measuring, self.window.contains(&now)) {
            (false, true) => {
                self.read.timing = TimingStats::default();
                self.read.cpu.begin();
            }
            (true, false) => self.read.cpu.end(),
            _ => return,
        }
        self.measuring = !self.measuring;
    }

    /// Receives posted packets; false if there will be no more.
    fn collect(&mut self) -> bool {
        loop {
            match self.inbox.try_recv() {
                Ok(packet) => self.hold(packet),
                Err(error) => return error == TryRecvError::Empty,
            }
        }
    }

    fn hold(&mut self, packet: TimedPacket) {
        let place = packet.slot as usize;
        if place >= self.held.len() {
            self.held.resize_with(place + 1, || None);
        }
        self.timer_queue.note(packet.at, Due::Packet(packet.slot));
        self.held[place] = Some(packet);
    }

    /// Delivers a packet that is due; false if none is.
    fn hand_over(&mut self) -> bool {
        let now = self.clock.now_ps();
        if self.timer_queue.next_at() > now {
            return false;
        }
        let Some((at, Due::Packet(slot))) = self.timer_queue.pop() else { return false };
        let Some(packet) = self.held[slot as usize].take() else { return false };
        let timing = self.measuring.then_some(&mut self.read.timing);
        deliver(&mut self.port, timing, (at, now), &packet.buffer[..packet.bytes]);
        if now - at > LATE {
            let _ = self.outbox.send(FarEndMessage::Late(now));
        }
        if self.stock.len() < STOCK {
            self.stock.push(packet);
        } else {
            let _ = self.outbox.send(FarEndMessage::Spent(packet));
        }
        true
    }

    /// Reads a packet; false if there is none, or no buffer for it: each delivered packet frees
    /// one, and the spare ones suffice for packets that the right sends by itself.
    fn read(&mut self) -> Result<bool, Failure> {
        if !self.port.ready {
            return Ok(false);
        }
        let Some(mut packet) = self.stock.pop() else { return Ok(false) };
        match self.port.read(&mut packet.buffer)? {
            Some(bytes) => {
                (packet.side, packet.at) = (Side::Right, self.clock.now_ps());
                packet.bytes = bytes;
                let _ = self.outbox.send(FarEndMessage::Read(packet));
                Ok(true)
            }
            None => {
                self.stock.push(packet);
                Ok(false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_sim::time::{MILLISECOND, NEVER};
    use rustix::io::{read, write};
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    use std::os::fd::OwnedFd;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    const RHYTHM: WakePolicy =
        WakePolicy { min_interval: 0, max_sleep: MILLISECOND, two_threads: true };

    /// A device and what is behind it: messages, and one read is one message.
    fn device() -> (OwnedFd, OwnedFd) {
        let flags = SocketFlags::NONBLOCK;
        socketpair(AddressFamily::UNIX, SocketType::DGRAM, flags, None).unwrap()
    }

    fn packet(slot: u32, at: Picos) -> TimedPacket {
        let buffer = vec![slot as u8; 64].into_boxed_slice();
        TimedPacket { side: Side::Right, at, slot, bytes: 40, buffer }
    }

    /// What comes back while a far end works, and what it read of itself; `talk` is given the
    /// device's other side.
    fn work(
        packets: Vec<TimedPacket>,
        talk: impl FnOnce(&OwnedFd, Clock),
    ) -> (Vec<FarEndMessage>, Delivered) {
        let (near, behind) = device();
        let ((out, inbox), (outbox, back)) = (channel(), channel());
        let (clock, progress) = (Clock::start(), Progress::default());
        let port = TunPort::new(Side::Right, &near, false);
        let far = FarEnd::new(port, (clock, &progress), (inbox, outbox), RHYTHM, 0..NEVER);
        packets.into_iter().for_each(|each| out.send(each).unwrap());
        let delivered = std::thread::scope(|scope| {
            let working = scope.spawn(|| far.run());
            talk(&behind, clock);
            drop(out);
            working.join().unwrap()
        });
        (back.iter().collect(), delivered)
    }

    /// Tests run on busy machines.
    fn but_for_lateness(back: Vec<FarEndMessage>) -> Vec<FarEndMessage> {
        back.into_iter()
            .filter(|each| !matches!(each, FarEndMessage::Late(_) | FarEndMessage::RanLate(..)))
            .collect()
    }

    /// Waits for the next message, and tells when it was there.
    fn next(behind: &OwnedFd, clock: Clock) -> (u8, usize, Picos) {
        let mut room = [0; 100];
        for _ in 0..10_000 {
            if let Ok(bytes) = read(behind, &mut room) {
                return (room[0], bytes, clock.now_ps());
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        panic!("nothing came");
    }

    #[test]
    fn each_packet_is_handed_over_when_it_is_due_and_not_before() {
        let due = [30 * MILLISECOND, 10 * MILLISECOND, 20 * MILLISECOND];
        let packets = due.iter().zip(0..).map(|(&at, slot)| packet(slot, at)).collect();
        let (_, delivered) = work(packets, |behind, clock| {
            for slot in [1, 2, 0] {
                let (first, bytes, at) = next(behind, clock);
                assert_eq!((first, bytes), (slot, 40));
                assert!(at >= due[usize::from(slot)]);
            }
        });
        let handed = delivered.timing.handed[Side::Right as usize];
        assert_eq!((handed.packets, handed.bytes, delivered.timing.write_errors), (3, 120, 0));
        assert_eq!(delivered.timing.lateness.counts().iter().sum::<u64>(), 3);
    }

    #[test]
    fn an_answer_comes_back_with_the_time_at_which_it_was_read() {
        let mut said = 0;
        let (back, _) = work(vec![packet(7, 0)], |behind, clock| {
            next(behind, clock);
            said = clock.now_ps();
            write(behind, b"ack").unwrap();
            std::thread::sleep(Duration::from_millis(50));
        });
        let back = but_for_lateness(back);
        let [FarEndMessage::Read(answer)] = &back[..] else { panic!("{} came back", back.len()) };
        assert_eq!((answer.side, answer.slot, answer.bytes), (Side::Right, 7, 3));
        assert_eq!(&answer.buffer[..3], b"ack");
        assert!(answer.at >= said);
    }

    #[test]
    fn buffers_beyond_the_stock_come_back() {
        let packets = (0..STOCK as u32 + 5).map(|slot| packet(slot, 0)).collect();
        let (back, _) = work(packets, |behind, clock| {
            for _ in 0..STOCK + 5 {
                next(behind, clock);
            }
        });
        let back = but_for_lateness(back);
        assert_eq!(back.len(), 5);
        assert!(
            back.iter().all(
                |each| matches!(each, FarEndMessage::Spent(spent) if spent.buffer.len() == 64)
            )
        );
    }

    #[test]
    fn what_is_late_is_told() {
        let (near, _behind) = device();
        let ((out, inbox), (outbox, back)) = (channel(), channel());
        let (clock, progress) = (Clock::start(), Progress::default());
        std::thread::sleep(Duration::from_millis(2));
        let port = TunPort::new(Side::Right, &near, false);
        let far = FarEnd::new(port, (clock, &progress), (inbox, outbox), RHYTHM, 0..NEVER);
        out.send(packet(0, 0)).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| far.run());
            let told = back.recv_timeout(Duration::from_secs(10));
            assert!(matches!(told, Ok(FarEndMessage::Late(at)) if at > LATE));
            drop(out);
        });
    }
}
