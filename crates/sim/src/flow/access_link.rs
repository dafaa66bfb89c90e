//! The link between a sender and the first queue of its route.

use crate::packet::Payload;
use crate::ring::Ring;
use crate::time::Picos;

/// A flow's access link: a wire of its own, and the packets before it. Its times are those at which a
/// packet begins to be sent; how long that takes is counted once, behind the last queue.
///
/// What every packet touches comes last.
#[repr(C)]
pub(crate) struct AccessLink {
    /// Packets that wait, and when each begins to be sent.
    queue: Ring<(Picos, Payload)>,
    /// A full packet's time on the wire.
    pub(crate) packet_time: Picos,
    free_at: Picos,
}

impl AccessLink {
    /// An idle link that takes `packet_time` for a packet.
    pub(crate) fn new(packet_time: Picos) -> Self {
        Self { queue: Ring::default(), packet_time, free_at: 0 }
    }

    /// A packet that comes now is sent now.
    #[inline]
    pub(crate) fn is_idle(&self, now: Picos) -> bool {
        self.free_at <= now
    }

    /// Takes the wire for the next packet; gives when that begins to be sent.
    #[inline]
    pub(crate) fn take_wire(&mut self, now: Picos) -> Picos {
        let at = self.free_at.max(now);
        self.free_at = at + self.packet_time;
        at
    }

    /// Takes the wire for the next so many packets; gives when the first begins to be sent.
    #[inline]
    pub(crate) fn take_wire_of(&mut self, now: Picos, packets: u32) -> Picos {
        let at = self.free_at.max(now);
        self.free_at = at + Picos::from(packets) * self.packet_time;
        at
    }

    /// Takes the wire for `time` from `at` on, or from when it is free; gives when that ends.
    pub(crate) fn take_wire_for(&mut self, at: Picos, time: Picos) -> Picos {
        self.free_at = self.free_at.max(at) + time;
        self.free_at
    }

    /// Packets that wait.
    #[inline(always)]
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// When the first that waits begins to be sent.
    #[inline(always)]
    pub(crate) fn next_departure(&self) -> Option<Picos> {
        self.queue.front().map(|&(at, _)| at)
    }

    /// A packet waits until `at`.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: Picos, packet: Payload) {
        self.queue.push_back((at, packet));
    }

    /// So many segments from `seq` on wait, the first until `at`.
    pub(crate) fn push_run(&mut self, at: Picos, seq: u64, count: u32) {
        for place in 0..count.into() {
            self.push(at + place * self.packet_time, Payload::data(seq + place, 0));
        }
    }

    /// Takes the first that waits.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Payload> {
        self.queue.pop_front().map(|(_, packet)| packet)
    }

    /// Forgets what waits. What has taken the wire keeps it.
    pub(crate) fn clear(&mut self) {
        self.queue = Ring::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_follow_each_other_and_wait_in_order() {
        let mut link = AccessLink::new(10);
        assert_eq!([link.take_wire(5), link.take_wire(5), link.take_wire(40)], [5, 15, 40]);
        assert!(!link.is_idle(49) && link.is_idle(50));
        assert_eq!([link.take_wire_for(45, 3), link.take_wire_for(60, 3)], [53, 63]);
        assert_eq!([link.take_wire_of(60, 3), link.take_wire_of(60, 1)], [63, 93]);
        (0..3).for_each(|seq| link.push(seq, Payload::data(seq, 0)));
        assert_eq!((link.waiting(), link.next_departure()), (3, Some(0)));
        assert_eq!(link.pop().map(Payload::seq), Some(0));
        link.clear();
        assert_eq!((link.waiting(), link.next_departure(), link.is_idle(102)), (0, None, false));
        link.push_run(5, 7, 2);
        assert_eq!((link.pop().map(Payload::seq), link.next_departure()), (Some(7), Some(15)));
    }
}
