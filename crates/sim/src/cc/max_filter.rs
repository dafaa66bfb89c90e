//! Windowed maximum by Kathleen Nichols' three samples, which BBR uses in the kernel: the best
//! sample of the window, the best since it, and the best since that.

#[derive(Clone, Copy, Default)]
struct Sample {
    at: u64,
    value: f64,
}

/// A windowed maximum.
#[derive(Clone)]
pub struct MaxFilter {
    best: [Sample; 3],
    /// A sample of this time below the third best changes nothing: none was too old at that time.
    settled_at: u64,
}

impl Default for MaxFilter {
    fn default() -> Self {
        Self { best: [Sample::default(); 3], settled_at: u64::MAX }
    }
}

impl MaxFilter {
    /// The maximum over the window that ended with the last update.
    #[inline]
    pub fn get(&self) -> f64 {
        self.best[0].value
    }

    /// Takes a sample at time `at`; those older than `window`, which never gets shorter, stop to count.
    #[inline(always)]
    pub fn update(&mut self, at: u64, value: f64, window: u64) {
        if at != self.settled_at || value >= self.best[2].value {
            let changed = self.take(Sample { at, value }, window);
            self.settled_at = if changed { u64::MAX } else { at };
        }
    }

    /// `update` in full; true if it changed anything.
    #[inline(never)]
    fn take(&mut self, new: Sample, window: u64) -> bool {
        let [first, second, third] = &mut self.best;
        if new.value >= first.value || new.at - third.at > window {
            self.best = [new; 3];
            return true;
        }
        let better = new.value >= third.value;
        if new.value >= second.value {
            (*second, *third) = (new, new);
        } else if better {
            *third = new;
        }
        self.age(new, window) || better
    }

    /// Drops what is too old; takes a second and a third best from later parts of the window while
    /// the best is still young enough. True if it changed anything.
    fn age(&mut self, new: Sample, window: u64) -> bool {
        let [first, second, third] = self.best;
        let age = new.at - first.at;
        if age > window {
            self.best = [second, third, new];
            if new.at - second.at > window {
                self.best = [third, new, new];
            }
        } else if second.at == first.at && age > window / 4 {
            self.best = [first, new, new];
        } else if third.at == second.at && age > window / 2 {
            self.best[2] = new;
        } else {
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_forgotten_after_the_window() {
        let mut filter = MaxFilter::default();
        filter.update(0, 9.0, 10);
        for at in 1..=10 {
            filter.update(at, 5.0, 10);
            assert_eq!(filter.get(), 9.0, "{at}");
        }
        filter.update(11, 5.0, 10);
        assert_eq!(filter.get(), 5.0);
    }

    /// Samples that share a time are compared with a filter that looks at each of them in full.
    #[test]
    fn a_sample_that_changes_nothing_is_passed_over() {
        let (mut short, mut full) = (MaxFilter::default(), MaxFilter::default());
        for i in 0_u64..20_000 {
            let (at, value) = (i / 7, ((i * 7919) % 1009) as f64);
            short.update(at, value, 10);
            full.take(Sample { at, value }, 10);
            let [kept, expected] =
                [&short, &full].map(|filter| filter.best.map(|best| (best.at, best.value)));
            assert_eq!(kept, expected, "{i}");
        }
    }

    /// Never above the true maximum, and never below the maximum of the newest quarter.
    #[test]
    fn stays_between_the_newest_and_the_true_maximum() {
        let mut filter = MaxFilter::default();
        let values: Vec<f64> = (0_u32..500).map(|i| f64::from(i * 7919 % 101)).collect();
        let most = |from: usize, to: usize| values[from..=to].iter().copied().fold(0.0, f64::max);
        for (i, &value) in values.iter().enumerate() {
            filter.update(i as u64, value, 12);
            assert!(filter.get() <= most(i.saturating_sub(12), i));
            assert!(filter.get() >= most(i.saturating_sub(2), i));
        }
    }
}
