//! Counters by class and flow, read at the boundaries of batches.

use super::tcp_info::TcpInfo;
use forebay_sim::time::Picos;

/// Counts of the connections of a class; times in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Data packets sent.
    pub(super) sent: u64,
    /// Retransmissions.
    pub(super) retransmissions: u64,
    /// Retransmission timeouts.
    pub(super) timeouts: u64,
    /// Duplicate SACKs received.
    pub(super) dsacks: u64,
    /// Time in which senders had data to send.
    pub(super) busy: u64,
    /// Time limited by the receiver's window.
    pub(super) rwnd_limited: u64,
    /// Time limited by the send buffer.
    pub(super) sndbuf_limited: u64,
    /// Bytes on the link of whole segments received in order.
    pub(super) delivered: u64,
}

impl Counts {
    /// Counts of a sender since its connection was established.
    pub(super) fn of_sender(now: &TcpInfo, base: &TcpInfo) -> Self {
        Self {
            sent: u64::from(now.data_segs_out.wrapping_sub(base.data_segs_out)),
            retransmissions: u64::from(now.total_retrans.wrapping_sub(base.total_retrans)),
            timeouts: u64::from(now.total_rto.wrapping_sub(base.total_rto)),
            dsacks: u64::from(now.dsack_dups),
            busy: now.busy_time,
            rwnd_limited: now.rwnd_limited,
            sndbuf_limited: now.sndbuf_limited,
            delivered: 0,
        }
    }

    /// Counts with delivered bytes only.
    pub(super) fn delivered(bytes: u64) -> Self {
        Self { delivered: bytes, ..Self::default() }
    }

    /// Adds other counts.
    pub(super) fn add(&mut self, other: &Self) {
        *self = self.zip(other, u64::wrapping_add);
    }

    /// Difference to `before`.
    pub(super) fn since(&self, before: &Self) -> Self {
        self.zip(before, u64::saturating_sub)
    }

    fn zip(&self, other: &Self, join: fn(u64, u64) -> u64) -> Self {
        Self {
            sent: join(self.sent, other.sent),
            retransmissions: join(self.retransmissions, other.retransmissions),
            timeouts: join(self.timeouts, other.timeouts),
            dsacks: join(self.dsacks, other.dsacks),
            busy: join(self.busy, other.busy),
            rwnd_limited: join(self.rwnd_limited, other.rwnd_limited),
            sndbuf_limited: join(self.sndbuf_limited, other.sndbuf_limited),
            delivered: join(self.delivered, other.delivered),
        }
    }
}

/// One side's counters. The counts of open connections are not included.
pub(super) struct Counters {
    past: Vec<Counts>,
    past_bytes: Vec<u64>,
    batches: usize,
    /// By batch boundary, then class: counts of all connections.
    pub(super) cuts: Vec<Vec<Counts>>,
    /// By flow: bytes delivered until the first boundary, and until the latest one.
    pub(super) bytes: [Vec<u64>; 2],
    /// Completion times of transfers that began and ended in the window, by class.
    pub(super) completions: Vec<Vec<Picos>>,
    /// Ages of transfers that had not ended at its end, by class.
    pub(super) unfinished: Vec<Vec<Picos>>,
}

impl Counters {
    pub(super) fn new(classes: usize, flows: usize, batches: usize) -> Self {
        Self {
            past: vec![Counts::default(); classes],
            past_bytes: vec![0; flows],
            batches,
            cuts: Vec::new(),
            bytes: [Vec::new(), Vec::new()],
            completions: vec![Vec::new(); classes],
            unfinished: vec![Vec::new(); classes],
        }
    }

    /// Adds the counts of a closed connection, or of traffic without one.
    pub(super) fn keep(&mut self, class: u16, flow: u32, counts: &Counts) {
        self.past[usize::from(class)].add(counts);
        self.past_bytes[flow as usize] += counts.delivered;
    }

    /// All data of a transfer has arrived after this time; it began in the window or before it.
    pub(super) fn completed(&mut self, class: u16, after: Picos, began_within: bool) {
        if self.measures() && began_within {
            self.completions[usize::from(class)].push(after);
        }
    }

    /// Whether the measured window has begun and not ended.
    pub(super) fn measures(&self) -> bool {
        (1..=self.batches).contains(&self.cuts.len())
    }

    /// Whether the measured window has ended.
    pub(super) fn over(&self) -> bool {
        self.cuts.len() > self.batches
    }

    /// Ends a batch; `live` are the counts of open connections by class and flow.
    pub(super) fn cut(&mut self, live: impl Iterator<Item = (u16, u32, Counts)>) {
        let mut totals = self.past.clone();
        let mut bytes = self.past_bytes.clone();
        for (class, flow, counts) in live {
            totals[usize::from(class)].add(&counts);
            bytes[flow as usize] += counts.delivered;
        }
        if self.cuts.is_empty() {
            self.bytes[0].clone_from(&bytes);
        }
        self.bytes[1] = bytes;
        self.cuts.push(totals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_what_was_counted_between_cuts() {
        let mut counters = Counters::new(2, 3, 2);
        let sent = |sent| Counts { sent, ..Counts::default() };
        counters.cut([(0, 0, sent(5)), (1, 2, Counts::delivered(100))].into_iter());
        counters.keep(0, 0, &sent(8)); // it has ended since
        counters.cut([(1, 2, Counts::delivered(250)), (0, 1, sent(1))].into_iter());
        assert_eq!(counters.cuts[1][0].since(&counters.cuts[0][0]), sent(4));
        assert_eq!(counters.cuts[1][1].since(&counters.cuts[0][1]).delivered, 150);
        assert_eq!(counters.bytes, [vec![0, 0, 100], vec![0, 0, 250]]);
    }

    #[test]
    fn only_completions_in_the_window_count() {
        let mut counters = Counters::new(1, 1, 1);
        counters.completed(0, 1, true);
        counters.cut(std::iter::empty());
        counters.completed(0, 2, true);
        counters.completed(0, 4, false);
        counters.cut(std::iter::empty());
        counters.completed(0, 3, true);
        assert!(counters.over());
        assert_eq!(counters.completions, [vec![2]]);
    }
}
