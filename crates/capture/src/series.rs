//! Series over time in constant memory: bins that widen, and sums at every scale.

/// Maximum number of bins of a series; if it is reached, their width is doubled.
const MOST_BINS: usize = 1 << 20;
/// Scales of a cascade, each twice the previous one.
const SCALES: usize = 48;

/// Amounts by time.
pub struct Series {
    /// Width of a bin.
    pub width_ns: u64,
    most: usize,
    /// Amount in each bin.
    pub bins: Vec<f64>,
}

impl Series {
    /// Makes a series with bins of `width_ns`, at most `most` of them.
    pub fn new(width_ns: u64, most: usize) -> Self {
        Self { width_ns, most: most.min(MOST_BINS), bins: Vec::new() }
    }

    /// Adds an amount at a time after the start.
    pub fn add(&mut self, after_ns: u64, amount: f64) {
        let mut bin = after_ns / self.width_ns;
        while bin >= self.most as u64 {
            self.halve();
            bin = after_ns / self.width_ns;
        }
        let bin = bin as usize;
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0.0);
        }
        self.bins[bin] += amount;
    }

    /// Moves the start back by a multiple of the width: what was added is so much later.
    pub fn begin_earlier(&mut self, by_ns: u64) {
        let empty = (by_ns / self.width_ns) as usize;
        self.bins.splice(0..0, std::iter::repeat_n(0.0, empty));
        while self.bins.len() > self.most {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        self.bins = self.bins.chunks(2).map(|pair| pair.iter().sum()).collect();
    }
}

/// Sums of squares of the amounts in intervals of all dyadic lengths, in one pass.
///
/// Empty intervals add nothing to either sum, so only the others
/// cost time; the number of all intervals follows from the duration.
pub struct Cascade {
    width_ns: u64,
    total: f64,
    open: [(u64, f64); SCALES],
    squares: [f64; SCALES],
}

/// Sums over the intervals of one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Length of an interval.
    pub width_ns: u64,
    /// Complete intervals.
    pub intervals: u64,
    /// Sum of the amounts in them.
    pub sum: f64,
    /// Sum of the squares of these amounts.
    pub squares: f64,
}

impl Cascade {
    /// Makes a cascade with `width_ns` as the shortest interval.
    pub fn new(width_ns: u64) -> Self {
        Self { width_ns, total: 0.0, open: [(0, 0.0); SCALES], squares: [0.0; SCALES] }
    }

    /// Adds an amount; times must not decrease.
    pub fn add(&mut self, after_ns: u64, amount: f64) {
        self.total += amount;
        let mut carried = Some((after_ns / self.width_ns, amount));
        let mut scale = 0;
        while let (Some((interval, amount)), true) = (carried, scale < SCALES) {
            carried = self.put(scale, interval, amount);
            scale += 1;
        }
    }

    /// Adds to an interval of one scale; returns the interval that ends, as an amount of the next.
    fn put(&mut self, scale: usize, interval: u64, amount: f64) -> Option<(u64, f64)> {
        let (open, sum) = &mut self.open[scale];
        if *open == interval {
            *sum += amount;
            return None;
        }
        let (closed, whole) = std::mem::replace(&mut self.open[scale], (interval, amount));
        self.squares[scale] += whole * whole;
        Some((closed >> 1, whole))
    }

    /// All scales with at least two complete intervals in `duration_ns`.
    pub fn finish(mut self, duration_ns: u64) -> Vec<Scale> {
        let mut all = Vec::new();
        let mut below: Vec<(u64, f64)> = Vec::new();
        for scale in 0..SCALES {
            // Unfinished intervals of shorter scales belong to intervals of this scale.
            let mut above = Vec::new();
            for (interval, amount) in below {
                above.extend(self.put(scale, interval, amount));
            }
            let width_ns = self.width_ns.saturating_mul(1 << scale);
            let intervals = duration_ns / width_ns;
            if intervals < 2 {
                break;
            }
            let (interval, amount) = self.open[scale];
            let within = interval < intervals;
            let last = if within { amount } else { 0.0 };
            let sum = self.total - (amount - last);
            all.push(Scale {
                width_ns,
                intervals,
                sum,
                squares: self.squares[scale] + last * last,
            });
            above.push((interval >> 1, amount));
            below = above;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_widens_its_bins_and_keeps_its_sum() {
        let mut series = Series::new(10, 4);
        for at in [0, 5, 39, 40, 159] {
            series.add(at, 1.0);
        }
        assert_eq!((series.width_ns, series.bins.as_slice()), (40, &[3.0, 1.0, 0.0, 1.0][..]));
    }

    #[test]
    fn a_series_that_begins_earlier_keeps_its_sum() {
        let mut series = Series::new(10, 8);
        series.add(5, 1.0);
        series.add(39, 2.0);
        series.begin_earlier(20);
        assert_eq!(
            (series.width_ns, series.bins.as_slice()),
            (10, &[0.0, 0.0, 1.0, 0.0, 0.0, 2.0][..])
        );
        series.begin_earlier(40);
        assert_eq!((series.width_ns, series.bins.iter().sum::<f64>()), (20, 3.0));
    }

    #[test]
    fn a_cascade_agrees_with_sums_taken_one_by_one() {
        let times: Vec<u64> = (0..5000u64).map(|k| k * k % 7919 * 13 + k * 40).collect();
        let mut sorted = times.clone();
        sorted.sort_unstable();
        let mut cascade = Cascade::new(16);
        sorted.iter().for_each(|&at| cascade.add(at, (at % 11) as f64));
        let duration = sorted[sorted.len() - 1];
        let scales = cascade.finish(duration);
        assert!(scales.len() > 8);
        for scale in scales {
            let mut bins = vec![0.0; scale.intervals as usize];
            for &at in &sorted {
                if let Some(bin) = bins.get_mut((at / scale.width_ns) as usize) {
                    *bin += (at % 11) as f64;
                }
            }
            assert_eq!(scale.sum, bins.iter().sum::<f64>(), "{scale:?}");
            assert_eq!(scale.squares, bins.iter().map(|x| x * x).sum::<f64>(), "{scale:?}");
        }
    }
}
