//! CoDel's control law (RFC 8289, section 5), for any queue that it is laid on.

use crate::queue::packet_fifo::{PacketFifo, Waiting};
use crate::queue::packets::Packets;
use crate::time::{NEVER, Picos};
use std::hint::select_unpredictable;

/// What the law aims at.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct Setpoint {
    pub target: Picos,
    pub interval: Picos,
    pub ecn: bool,
    pub ce_threshold: Option<Picos>,
    /// A queue of no more than this is never too long (RFC 8289, section 4.3).
    pub largest_packet: u32,
}

/// A queue under the law.
pub(in crate::queue) trait PacketQueue {
    /// Takes the oldest packet off.
    fn next(&mut self, packets: &Packets) -> Option<Waiting>;
    /// Bytes left.
    fn bytes(&self) -> u64;
}

impl<Q: PacketQueue> PacketQueue for &mut Q {
    #[inline(always)]
    fn next(&mut self, packets: &Packets) -> Option<Waiting> {
        (**self).next(packets)
    }

    #[inline(always)]
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }
}

impl PacketQueue for PacketFifo {
    #[inline]
    fn next(&mut self, _packets: &Packets) -> Option<Waiting> {
        self.pop()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        PacketFifo::bytes(self)
    }
}

/// The law's memory, under the names of RFC 8289, section 5.1.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct ControlLaw {
    /// When the delay will have been above the target for an interval; `NEVER` while it is not above.
    first_above_time: Picos,
    drop_next: Picos,
    pub count: u32,
    last_count: u32,
    dropping: bool,
}

impl Default for ControlLaw {
    fn default() -> Self {
        Self { first_above_time: NEVER, drop_next: 0, count: 0, last_count: 0, dropping: false }
    }
}

impl ControlLaw {
    /// The packet to send, and whether it is marked.
    #[inline(always)]
    pub fn dequeue(
        &mut self,
        now: Picos,
        setpoint: &Setpoint,
        mut queue: impl PacketQueue,
        packets: &mut Packets,
    ) -> Option<(Waiting, bool)> {
        let (packet, may_drop) = self.next(now, setpoint, &mut queue, packets);
        if may_drop {
            return self.signal(now, setpoint, queue, packet?, packets);
        }
        self.dropping = false;
        let packet = packet?;
        Some((packet, exceeds_ce_threshold(now, setpoint, &packet, packets)))
    }

    /// The next packet, and whether it may be dropped: `dodequeue` of RFC 8289, section 5.6.
    #[inline(always)]
    fn next(
        &mut self,
        now: Picos,
        setpoint: &Setpoint,
        queue: &mut impl PacketQueue,
        packets: &Packets,
    ) -> (Option<Waiting>, bool) {
        let Some(packet) = queue.next(packets) else {
            self.first_above_time = NEVER;
            return (None, false);
        };
        let above = (now - packet.arrived >= setpoint.target)
            & (queue.bytes() > u64::from(setpoint.largest_packet));
        let was_above = self.first_above_time != NEVER;
        let since = if was_above { self.first_above_time } else { now + setpoint.interval };
        self.first_above_time = select_unpredictable(above, since, NEVER);
        (Some(packet), now >= self.first_above_time)
    }

    /// A packet has come to the head that may be dropped. Apart: that is rare.
    #[inline(never)]
    fn signal(
        &mut self,
        now: Picos,
        setpoint: &Setpoint,
        mut queue: impl PacketQueue,
        packet: Waiting,
        packets: &mut Packets,
    ) -> Option<(Waiting, bool)> {
        let (packet, marked) = if self.dropping {
            self.continue_dropping(now, setpoint, &mut queue, packet, packets)
        } else {
            self.enter_dropping(now, setpoint, &mut queue, packet, packets)
        };
        let packet = packet?;
        Some((packet, marked || exceeds_ce_threshold(now, setpoint, &packet, packets)))
    }

    /// Enters the dropping state. A recent one that ended well tells how often to drop.
    fn enter_dropping(
        &mut self,
        now: Picos,
        setpoint: &Setpoint,
        queue: &mut impl PacketQueue,
        packet: Waiting,
        packets: &mut Packets,
    ) -> (Option<Waiting>, bool) {
        let marked = setpoint.ecn && packets[packet.number].is_ecn_capable();
        let packet = if marked {
            Some(packet)
        } else {
            packets.drop(packet.number);
            self.next(now, setpoint, queue, packets).0
        };
        self.dropping = true;
        let gained = self.count.wrapping_sub(self.last_count);
        let recent = now < self.drop_next + 16 * setpoint.interval;
        self.count = if gained > 1 && recent { gained } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + self.gap(setpoint);
        (packet, marked)
    }

    /// Drops, or marks, what is due in the dropping state.
    fn continue_dropping(
        &mut self,
        now: Picos,
        setpoint: &Setpoint,
        queue: &mut impl PacketQueue,
        mut packet: Waiting,
        packets: &mut Packets,
    ) -> (Option<Waiting>, bool) {
        while now >= self.drop_next {
            self.count = self.count.wrapping_add(1);
            let gap = self.gap(setpoint);
            if setpoint.ecn && packets[packet.number].is_ecn_capable() {
                self.drop_next += gap;
                return (Some(packet), true);
            }
            packets.drop(packet.number);
            match self.next(now, setpoint, queue, packets) {
                (Some(next), true) => packet = next,
                (next, _) => {
                    self.dropping = false;
                    return (next, false);
                }
            }
            self.drop_next += gap;
        }
        (Some(packet), false)
    }

    /// `control_law` of RFC 8289, section 5.5. A square root is the same on every machine.
    fn gap(&self, setpoint: &Setpoint) -> Picos {
        (setpoint.interval as f64 / f64::from(self.count.max(1)).sqrt()) as Picos
    }
}

/// Linux's `ce_threshold`.
#[inline(always)]
fn exceeds_ce_threshold(
    now: Picos,
    setpoint: &Setpoint,
    packet: &Waiting,
    packets: &Packets,
) -> bool {
    setpoint
        .ce_threshold
        .is_some_and(|most| now - packet.arrived > most && packets[packet.number].is_ecn_capable())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::EcnCodepoint;
    use crate::queue::QueuedPacket;
    use crate::queue::testbench::{train, with_ecn};
    use crate::time::MILLISECOND;

    /// One packet that came at time 0, without end.
    struct Endless(u32);

    impl PacketQueue for Endless {
        fn next(&mut self, packets: &Packets) -> Option<Waiting> {
            let QueuedPacket { arrived, bytes, .. } = packets[self.0];
            Some(Waiting { arrived, bytes, number: self.0 })
        }

        fn bytes(&self) -> u64 {
            u64::MAX
        }
    }

    const SETPOINT: Setpoint = Setpoint {
        target: 5 * MILLISECOND,
        interval: 100 * MILLISECOND,
        ecn: true,
        ce_threshold: None,
        largest_packet: 1500,
    };

    /// The gap that follows when the dropping state is entered at `now`.
    fn enter(law: &mut ControlLaw, now: Picos) -> Picos {
        law.dropping = false;
        law.first_above_time = 0;
        let mut packets = Packets::EMPTY;
        let packet = with_ecn(train(0, 1500, 0, 1, 1)[0], EcnCodepoint::Ect0);
        let queue = Endless(packets.insert(packet));
        let sent = law.dequeue(now, &SETPOINT, queue, &mut packets);
        assert!(sent.is_some_and(|(_, marked)| marked));
        packets.remove_dropped(|_| panic!("marked instead"));
        law.drop_next - now
    }

    #[test]
    fn a_new_dropping_state_starts_from_what_the_last_one_gained() {
        let now = 1000 * MILLISECOND;
        let mut law =
            ControlLaw { drop_next: now, count: 45, last_count: 20, ..ControlLaw::default() };
        assert_eq!(enter(&mut law, now), 20 * MILLISECOND); // 100 ms/√(45 − 20)
        assert_eq!(enter(&mut law, now), 100 * MILLISECOND); // Nothing gained since.
        law.count += 16;
        let later = law.drop_next + 1599 * MILLISECOND;
        assert_eq!(enter(&mut law, later), 25 * MILLISECOND);
        law.count += 16;
        let later = law.drop_next + 1600 * MILLISECOND;
        assert_eq!(enter(&mut law, later), 100 * MILLISECOND);
    }
}
