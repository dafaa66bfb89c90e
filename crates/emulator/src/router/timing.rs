//! Timing of the router's deliveries, and their counts.

use super::Side;
use forebay_sim::meters::histogram::Histogram;
use forebay_sim::time::{MILLISECOND, Picos};

/// Delay of a wake-up from which it counts as a stall.
pub const STALL: Picos = 4 * MILLISECOND;

/// Packets that a side's device has accepted, and their bytes with IP headers.
#[derive(Clone, Copy, Default)]
pub struct Handed {
    pub packets: u64,
    pub bytes: u64,
}

/// Lateness of deliveries in the measured window.
#[derive(Clone, Default)]
pub struct TimingStats {
    /// Actual minus computed time of delivery.
    pub lateness: Histogram,
    /// Largest lateness.
    pub worst: Picos,
    /// Packets that could not be delivered.
    pub write_errors: u64,
    /// Number of stalls.
    pub stalls: u64,
    /// Left and right: the same counts as those of an interface counter there.
    pub handed: [Handed; 2],
}

impl TimingStats {
    /// A delivery due `at` happens at `now`.
    #[inline]
    pub fn delivered(&mut self, at: Picos, now: Picos) {
        let late = now - at;
        self.lateness.record(late);
        self.worst = self.worst.max(late);
    }

    /// The device of a side has accepted a packet, or refused it.
    #[inline]
    pub fn hands(&mut self, side: Side, bytes: usize, taken: bool) {
        if !taken {
            self.write_errors += 1;
            return;
        }
        let handed = &mut self.handed[side as usize];
        handed.packets += 1;
        handed.bytes += bytes as u64;
    }

    /// The router runs at `now`, and would have had to by `expected`. Returns how late it is.
    #[inline]
    pub fn runs(&mut self, expected: Picos, now: Picos) -> Picos {
        let late = now.saturating_sub(expected);
        self.stalls += u64::from(late > STALL);
        late
    }

    /// Adds the readings of another thread.
    pub fn join(&mut self, other: &Self) {
        self.lateness.add(&other.lateness);
        self.worst = self.worst.max(other.worst);
        self.write_errors += other.write_errors;
        self.stalls += other.stalls;
        for (own, others) in self.handed.iter_mut().zip(other.handed) {
            own.packets += others.packets;
            own.bytes += others.bytes;
        }
    }

    /// Lateness that a share of the deliveries stayed within, to a bin's width (1/64); 0 where
    /// there was none.
    pub fn quantile(&self, share: f64) -> Picos {
        let counts = self.lateness.counts();
        let wanted = (share * counts.iter().sum::<u64>() as f64).ceil() as u64;
        let mut seen = 0;
        let within = counts.iter().position(|&count| {
            seen += count;
            seen >= wanted.max(1)
        });
        within.map_or(0, |bin| self.lateness.edges()[bin + 1].min(self.worst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_thousand() {
        let mut timing = TimingStats::default();
        (1..=1000).for_each(|late| timing.delivered(0, late * 1_000_000));
        for (share, micros) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let read = timing.quantile(share) as f64 / 1e6;
            assert!((read / micros - 1.0).abs() < 1.0 / 64.0, "{share}: {read}");
        }
        assert_eq!(TimingStats::default().quantile(0.99), 0);
    }

    #[test]
    fn what_two_threads_read_is_one() {
        let mut both = TimingStats::default();
        for late in [1, 9] {
            let mut one = TimingStats::default();
            one.delivered(0, late * MILLISECOND);
            one.hands(Side::Right, 1500, late == 1);
            one.runs(0, late * MILLISECOND);
            both.join(&one);
        }
        assert_eq!((both.worst, both.stalls, both.write_errors), (9 * MILLISECOND, 1, 1));
        assert_eq!((both.handed[1].packets, both.handed[1].bytes), (1, 1500));
        assert_eq!(both.lateness.counts().iter().sum::<u64>(), 2);
    }

    #[test]
    fn each_side_has_its_own_count() {
        let mut timing = TimingStats::default();
        timing.hands(Side::Right, 1500, true);
        timing.hands(Side::Right, 40, true);
        timing.hands(Side::Left, 40, false);
        let [left, right] = timing.handed;
        assert_eq!((left.packets, right.packets, right.bytes), (0, 2, 1540));
        assert_eq!(timing.write_errors, 1);
    }

    #[test]
    fn only_a_long_pause_is_a_stall() {
        let mut timing = TimingStats::default();
        timing.runs(10, 10 + STALL);
        timing.runs(20, 10);
        assert_eq!(timing.stalls, 0);
        timing.runs(10, 11 + STALL);
        assert_eq!(timing.stalls, 1);
    }
}
