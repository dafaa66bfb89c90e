//! How well the router kept its times, and what it handed over.

use super::Side;
use forebay_sim::probe::histogram::Histogram;
use forebay_sim::time::{MILLISECOND, Picos};

/// Kept from running for so long, the router has stalled.
const STALL: Picos = 4 * MILLISECOND;

/// Packets that a side's device has taken, and their bytes with IP headers.
#[derive(Clone, Copy, Default)]
pub struct Handed {
    pub packets: u64,
    pub bytes: u64,
}

/// Lateness of deliveries in the measured window.
#[derive(Clone, Default)]
pub struct Gauge {
    /// Actual delivery less computed delivery.
    pub lateness: Histogram,
    /// The worst of them.
    pub worst: Picos,
    /// Packets that could not be handed over.
    pub write_errors: u64,
    /// Times that the router was kept from running when it had something to do.
    pub stalls: u64,
    /// Left and right: what an interface counter there reads too.
    pub handed: [Handed; 2],
}

impl Gauge {
    /// A delivery due `at` happens at `now`.
    #[inline]
    pub fn delivered(&mut self, at: Picos, now: Picos) {
        let late = now - at;
        self.lateness.record(late);
        self.worst = self.worst.max(late);
    }

    /// The device of a side has taken a packet.
    #[inline]
    pub fn hands(&mut self, side: Side, bytes: usize) {
        let handed = &mut self.handed[side as usize];
        handed.packets += 1;
        handed.bytes += bytes as u64;
    }

    /// The router runs at `now`, and would have had to by `expected`. True if it has stalled.
    #[inline]
    pub fn runs(&mut self, expected: Picos, now: Picos) -> bool {
        let stalled = now.saturating_sub(expected) > STALL;
        self.stalls += u64::from(stalled);
        stalled
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
        let mut gauge = Gauge::default();
        (1..=1000).for_each(|late| gauge.delivered(0, late * 1_000_000));
        for (share, micros) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let read = gauge.quantile(share) as f64 / 1e6;
            assert!((read / micros - 1.0).abs() < 1.0 / 64.0, "{share}: {read}");
        }
        assert_eq!(Gauge::default().quantile(0.99), 0);
    }

    #[test]
    fn each_side_has_its_own_count() {
        let mut gauge = Gauge::default();
        gauge.hands(Side::Right, 1500);
        gauge.hands(Side::Right, 40);
        let [left, right] = gauge.handed;
        assert_eq!((left.packets, right.packets, right.bytes), (0, 2, 1540));
    }

    #[test]
    fn only_a_long_pause_is_a_stall() {
        let mut gauge = Gauge::default();
        gauge.runs(10, 10 + STALL);
        gauge.runs(20, 10);
        assert_eq!(gauge.stalls, 0);
        gauge.runs(10, 11 + STALL);
        assert_eq!(gauge.stalls, 1);
    }
}
