//! When each outstanding segment was sent, where no scoreboard knows it: for controllers that want
//! the round trip of every ACK. A sender without SACK times one segment a round trip for its
//! timeout, which is too few for HyStart's eight samples a round (RFC 9406, section 4.2).

use super::segment::{EVER_RETRANS, Segment};
use crate::ring::Ring;
use crate::time::Picos;

/// From snd_una to snd_max.
#[derive(Default)]
pub struct SendTimes {
    segments: Ring<Segment>,
}

impl SendTimes {
    /// Outstanding segment number `index`, or the one after all of them, is sent now.
    pub(super) fn record(&mut self, index: u64, now: Picos) {
        match self.segments.get_mut(index as usize) {
            Some(segment) => segment.0 = Segment::sent_at(now).0 | EVER_RETRANS,
            None => self.segments.push_back(Segment::sent_at(now)),
        }
    }

    /// The oldest `count` are acknowledged now. Gives the round trip of the last of them; none where
    /// any was retransmitted, for the ACK then waited for the repair (Karn; Linux, tcp_clean_rtx_queue).
    pub(super) fn acknowledge(&mut self, count: u32, now: Picos) -> Option<Picos> {
        let mut rtt = None;
        let mut twice = false;
        for _ in 0..count {
            let segment = self.segments.pop_front()?;
            twice |= segment.is(EVER_RETRANS);
            rtt = Some(now - segment.sent());
        }
        rtt.filter(|_| !twice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_measures_the_last_segment_that_it_covers_unless_one_was_sent_again() {
        let mut times = SendTimes::default();
        (0..5).for_each(|index| times.record(index, 10 * index));
        assert_eq!(times.acknowledge(2, 100), Some(90));
        times.record(0, 110);
        assert_eq!(times.acknowledge(2, 200), None, "the first was retransmitted");
        assert_eq!(times.acknowledge(1, 200), Some(160));
        assert_eq!(times.acknowledge(1, 200), None, "nothing is outstanding");
    }
}
