//! Memory that several queues share, with a dynamic threshold for each (Choudhury and Hahne,
//! "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM Transactions on
//! Networking 6(2), 1998).
//!
//! A port asks the buffer first and its own discipline, if that is more than a FIFO, second; what
//! both admit takes its bytes until its last bit has left.

/// The memory of a switch, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedBuffer {
    total: u64,
    used: u64,
}

impl SharedBuffer {
    /// All free.
    pub fn new(total: u64) -> Self {
        Self { total, used: 0 }
    }

    /// With `used` of its bytes taken.
    pub fn holding(total: u64, used: u64) -> Self {
        Self { total, used: used.min(total) }
    }

    /// Bytes in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that packets occupy.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The longest that a queue may now be: T(t) = α (B − Q(t)), equation 1 of the paper.
    #[inline]
    pub fn threshold(&self, alpha: f64) -> f64 {
        alpha * (self.total - self.used) as f64
    }

    /// Whether a packet may join a queue that holds `queue_bytes`: the queue is below its
    /// threshold, and the memory has room.
    #[inline]
    pub fn admits(&self, queue_bytes: u64, bytes: u32, alpha: f64) -> bool {
        self.used + u64::from(bytes) <= self.total && (queue_bytes as f64) < self.threshold(alpha)
    }

    /// A packet that was admitted takes its place.
    #[inline]
    pub fn take(&mut self, bytes: u32) {
        self.used += u64::from(bytes);
        debug_assert!(self.used <= self.total);
    }

    /// A packet has left, sent or dropped.
    #[inline]
    pub fn release(&mut self, bytes: u32) {
        self.used -= u64::from(bytes);
    }

    /// Where each of `queues` saturated queues comes to rest: α B / (1 + α S), equation 2.
    pub fn fair_length(&self, queues: u32, alpha: f64) -> f64 {
        alpha * self.total as f64 / (1.0 + alpha * f64::from(queues))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every queue asks in turn until none gets more.
    fn saturate(buffer: &mut SharedBuffer, queues: &mut [u64], bytes: u32, alpha: f64) {
        loop {
            let before = buffer.used();
            for queue in queues.iter_mut() {
                if buffer.admits(*queue, bytes, alpha) {
                    buffer.take(bytes);
                    *queue += u64::from(bytes);
                }
            }
            if buffer.used() == before {
                return;
            }
        }
    }

    #[test]
    fn one_queue_gets_alpha_over_one_plus_alpha() {
        for (alpha, share) in [(0.5, 1.0 / 3.0), (1.0, 0.5), (2.0, 2.0 / 3.0), (8.0, 8.0 / 9.0)] {
            let mut buffer = SharedBuffer::new(1_000_000);
            let mut queues = [0];
            saturate(&mut buffer, &mut queues, 100, alpha);
            let got = queues[0] as f64 / 1e6;
            assert!((got - share).abs() <= 1e-4 * (1.0 + alpha), "{alpha}: {got}");
        }
    }

    #[test]
    fn what_does_not_fit_stays_out_though_its_queue_is_below_the_threshold() {
        let mut buffer = SharedBuffer::new(1000);
        buffer.take(900);
        assert_eq!(buffer.threshold(8.0), 800.0);
        assert!(buffer.admits(100, 100, 8.0));
        assert!(!buffer.admits(100, 101, 8.0));
        buffer.release(900);
        assert_eq!((buffer.used(), buffer.total()), (0, 1000));
    }

    #[test]
    fn a_second_queue_finds_room_and_both_come_to_rest_at_a_third() {
        let mut buffer = SharedBuffer::new(900_000);
        let mut queues = [0, 0];
        saturate(&mut buffer, &mut queues[..1], 100, 1.0);
        assert_eq!(queues, [450_000, 0]);
        // As the second grows the threshold falls below the first, which may only drain.
        while buffer.admits(queues[1], 100, 1.0) || buffer.threshold(1.0) < queues[0] as f64 {
            if buffer.admits(queues[1], 100, 1.0) {
                buffer.take(100);
                queues[1] += 100;
            }
            if buffer.threshold(1.0) < queues[0] as f64 {
                buffer.release(100);
                queues[0] -= 100;
            }
        }
        for queue in queues {
            assert!((queue as f64 - buffer.fair_length(2, 1.0)).abs() <= 200.0, "{queues:?}");
        }
    }

    proptest! {
        #[test]
        fn saturated_queues_come_to_rest_at_equation_2(
            queues in 1_usize..20, alpha in 0.1_f64..10.0, bytes in 40_u32..1500,
        ) {
            let mut buffer = SharedBuffer::new(3_000_000);
            let mut lengths = vec![0; queues];
            saturate(&mut buffer, &mut lengths, bytes, alpha);
            let rest = buffer.fair_length(queues as u32, alpha);
            // A packet of each queue at most is between the last look and the next.
            let slack = f64::from(bytes) * (2.0 + alpha * queues as f64);
            prop_assert!(buffer.used() <= buffer.total());
            for length in lengths {
                prop_assert!((length as f64 - rest).abs() <= slack, "{length} {rest}");
            }
        }
    }
}
