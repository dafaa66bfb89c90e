//! Additive increase: one segment for every so many that are acknowledged.

use super::{Growth, Window};

/// Segments acknowledged towards the next increase, as Linux counts them.
#[derive(Default)]
pub struct Increase {
    credit: u32,
}

impl Increase {
    /// Grows by one segment for `per` acknowledged: in parts of 1/`per` an ACK, or in whole segments
    /// once `per` of them, rounded down, have been counted.
    #[inline]
    pub fn step(&mut self, window: &mut Window, growth: Growth, segments: u32, per: f64) {
        match growth {
            Growth::PerAck => window.cwnd += 1.0 / per,
            Growth::PerWindow => self.count(window, segments, (per as u32).max(1)),
        }
    }

    /// Forgets what was counted: the window is being cut.
    pub fn reset(&mut self) {
        self.credit = 0;
    }

    #[inline]
    fn count(&mut self, window: &mut Window, segments: u32, per: u32) {
        let credit = self.credit + segments;
        if credit < per {
            self.credit = credit;
        } else {
            self.spend(window, segments, per);
        }
    }

    /// There is enough for an increase.
    #[inline(never)]
    fn spend(&mut self, window: &mut Window, segments: u32, per: u32) {
        // `per` may have fallen below what was counted towards it.
        if self.credit >= per {
            self.credit = 0;
            window.cwnd += 1.0;
        }
        self.credit += segments;
        if self.credit >= per {
            window.cwnd += f64::from(self.credit / per);
            self.credit %= per;
        }
    }
}

/// A quantity as the growth rule counts it: whole where the stack counts whole segments.
#[inline]
pub fn counted(growth: Growth, value: f64) -> f64 {
    match growth {
        Growth::PerAck => value,
        Growth::PerWindow => value.floor(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: f64) -> Window {
        Window { cwnd, ssthresh: 1.0, pacing_rate: None }
    }

    #[test]
    fn whole_segments_come_once_the_count_is_full() {
        let (mut increase, mut window) = (Increase::default(), window(10.0));
        for _ in 0..4 {
            increase.step(&mut window, Growth::PerWindow, 2, 10.0);
        }
        assert_eq!(window.cwnd, 10.0);
        increase.step(&mut window, Growth::PerWindow, 2, 10.0);
        assert_eq!(window.cwnd, 11.0);
    }

    #[test]
    fn a_count_that_has_become_full_by_a_smaller_divisor_starts_afresh() {
        let (mut increase, mut window) = (Increase::default(), window(10.0));
        increase.step(&mut window, Growth::PerWindow, 9, 10.0);
        increase.step(&mut window, Growth::PerWindow, 1, 3.0);
        assert_eq!(window.cwnd, 11.0);
        assert_eq!(increase.credit, 1);
    }

    #[test]
    fn fractions_add_up_to_the_same() {
        let (mut increase, mut window) = (Increase::default(), window(10.0));
        (0..40).for_each(|_| increase.step(&mut window, Growth::PerAck, 1, 20.0));
        assert!((window.cwnd - 12.0).abs() < 1e-9);
    }
}
