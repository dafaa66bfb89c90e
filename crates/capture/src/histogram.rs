//! Counts of values over many orders of magnitude, in bins of equal ratio.

/// Bins for each factor of e: each is 0.25 % wide, so a quantile is precise to 0.125 %.
const BINS_PER_E: f64 = 400.0;
/// From 1 to e^24, 2.6e10: microseconds to seven hours.
const BINS: usize = (BINS_PER_E as usize) * 24;

/// A histogram; values below 1 count as 1, and those above the last bin as in it.
#[derive(Clone)]
pub struct LogHistogram {
    counts: Vec<u64>,
}

impl Default for LogHistogram {
    fn default() -> Self {
        Self { counts: vec![0; BINS] }
    }
}

impl LogHistogram {
    /// Counts a value.
    pub fn add(&mut self, value: f64) {
        self.add_times(value, 1);
    }

    /// Counts a value this many times.
    pub fn add_times(&mut self, value: f64, times: u64) {
        let bin = (value.max(1.0).ln() * BINS_PER_E) as usize;
        self.counts[bin.min(BINS - 1)] += times;
    }

    /// Centres of the bins with counts, and the counts.
    pub fn filled(&self) -> (Vec<f64>, Vec<u64>) {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(bin, count)| (((bin as f64 + 0.5) / BINS_PER_E).exp(), *count)).unzip()
    }
}
