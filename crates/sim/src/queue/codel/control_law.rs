//! CoDel's control law (RFC 8289, section 5), for any queue that it is laid on.

use crate::queue::QueuedPacket;
use crate::time::Picos;

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
    /// Removes the oldest packet.
    fn next(&mut self) -> Option<QueuedPacket>;
    /// Bytes left.
    fn bytes(&self) -> u64;
}

/// The law's memory, under the names of RFC 8289, section 5.1.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::queue) struct ControlLaw {
    /// When the delay will have been above the target for an interval.
    first_above_time: Option<Picos>,
    drop_next: Picos,
    pub count: u32,
    last_count: u32,
    dropping: bool,
}

impl ControlLaw {
    /// The packet to send, and whether it is marked.
    #[inline]
    pub fn dequeue(
        &mut self,
        now: Picos,
        setpoint: &Setpoint,
        queue: &mut impl PacketQueue,
        dropped: &mut impl FnMut(QueuedPacket),
    ) -> Option<(QueuedPacket, bool)> {
        let first = self.next(now, setpoint, queue);
        let (packet, marked) = match first {
            (Some(packet), true) if self.dropping => {
                self.continue_dropping(now, setpoint, queue, packet, dropped)
            }
            (Some(packet), true) => self.enter_dropping(now, setpoint, queue, packet, dropped),
            (packet, _) => {
                self.dropping = false;
                (packet, false)
            }
        };
        packet.map(|packet| (packet, marked || exceeds_ce_threshold(now, setpoint, &packet)))
    }

    /// The next packet, and whether it may be dropped: `dodequeue` of RFC 8289, section 5.6.
    #[inline]
    fn next(
        &mut self,
        now: Picos,
        setpoint: &Setpoint,
        queue: &mut impl PacketQueue,
    ) -> (Option<QueuedPacket>, bool) {
        let packet = queue.next();
        let above = packet.is_some_and(|packet| {
            now - packet.arrived >= setpoint.target
                && queue.bytes() > u64::from(setpoint.largest_packet)
        });
        if !above {
            self.first_above_time = None;
            return (packet, false);
        }
        let ripe = *self.first_above_time.get_or_insert(now + setpoint.interval);
        (packet, now >= ripe)
    }

    /// Enters the dropping state. A recent one that ended well tells how often to drop.
    fn enter_dropping(
        &mut self,
        now: Picos,
        setpoint: &Setpoint,
        queue: &mut impl PacketQueue,
        packet: QueuedPacket,
        dropped: &mut impl FnMut(QueuedPacket),
    ) -> (Option<QueuedPacket>, bool) {
        let marked = setpoint.ecn && packet.ecn_capable;
        let packet = if marked {
            Some(packet)
        } else {
            dropped(packet);
            self.next(now, setpoint, queue).0
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
        mut packet: QueuedPacket,
        dropped: &mut impl FnMut(QueuedPacket),
    ) -> (Option<QueuedPacket>, bool) {
        while now >= self.drop_next {
            self.count = self.count.wrapping_add(1);
            let gap = self.gap(setpoint);
            if setpoint.ecn && packet.ecn_capable {
                self.drop_next += gap;
                return (Some(packet), true);
            }
            dropped(packet);
            match self.next(now, setpoint, queue) {
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
#[inline]
fn exceeds_ce_threshold(now: Picos, setpoint: &Setpoint, packet: &QueuedPacket) -> bool {
    packet.ecn_capable && setpoint.ce_threshold.is_some_and(|most| now - packet.arrived > most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MILLISECOND;

    /// Packets without end that came at time 0.
    struct Endless;

    impl PacketQueue for Endless {
        fn next(&mut self) -> Option<QueuedPacket> {
            Some(QueuedPacket {
                flow: 0,
                class: 0,
                bytes: 1500,
                arrived: 0,
                ecn_capable: true,
                l4s: false,
                handle: 0,
            })
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
        law.first_above_time = Some(0);
        let sent = law.dequeue(now, &SETPOINT, &mut Endless, &mut |_| panic!("marked instead"));
        assert!(sent.is_some_and(|(_, marked)| marked));
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
