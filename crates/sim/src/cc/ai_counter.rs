//! Additive increase: one segment for every so many that are acknowledged.

use super::rounding::whole_below;
use super::{IncreaseRule, Window};

/// Segments acknowledged towards the next increase, as Linux counts them.
#[derive(Default)]
pub struct AiCounter {
    credit: u32,
}

impl AiCounter {
    /// Grows by one segment for `segments_per_increment` acknowledged: in parts of 1/`segments_per_increment` an ACK, or in whole segments
    /// once `segments_per_increment` of them, rounded down, have been counted.
    #[inline]
    pub fn cong_avoid_ai(
        &mut self,
        window: &mut Window,
        increase_rule: IncreaseRule,
        segments: u32,
        segments_per_increment: f64,
    ) {
        match increase_rule {
            IncreaseRule::PerAck => window.cwnd += 1.0 / segments_per_increment,
            IncreaseRule::PerWindow => {
                self.count(window, segments, (segments_per_increment as u32).max(1))
            }
        }
    }

    /// Forgets what was counted: the window is being reduced.
    pub fn reset(&mut self) {
        self.credit = 0;
    }

    #[inline]
    fn count(&mut self, window: &mut Window, segments: u32, segments_per_increment: u32) {
        let credit = self.credit + segments;
        if credit < segments_per_increment {
            self.credit = credit;
        } else {
            self.spend(window, segments, segments_per_increment);
        }
    }

    /// There is enough for an increase.
    #[inline(never)]
    fn spend(&mut self, window: &mut Window, segments: u32, segments_per_increment: u32) {
        // `segments_per_increment` may have fallen below what was counted towards it.
        if self.credit >= segments_per_increment {
            self.credit = 0;
            window.cwnd += 1.0;
        }
        self.credit += segments;
        if self.credit >= segments_per_increment {
            window.cwnd += f64::from(self.credit / segments_per_increment);
            self.credit %= segments_per_increment;
        }
    }
}

/// A quantity as the growth rule counts it: whole where the stack counts whole segments.
#[inline]
pub fn counted(increase_rule: IncreaseRule, value: f64) -> f64 {
    match increase_rule {
        IncreaseRule::PerAck => value,
        IncreaseRule::PerWindow => whole_below(value),
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
        let (mut counter, mut window) = (AiCounter::default(), window(10.0));
        for _ in 0..4 {
            counter.cong_avoid_ai(&mut window, IncreaseRule::PerWindow, 2, 10.0);
        }
        assert_eq!(window.cwnd, 10.0);
        counter.cong_avoid_ai(&mut window, IncreaseRule::PerWindow, 2, 10.0);
        assert_eq!(window.cwnd, 11.0);
    }

    #[test]
    fn a_count_that_has_become_full_by_a_smaller_divisor_starts_afresh() {
        let (mut counter, mut window) = (AiCounter::default(), window(10.0));
        counter.cong_avoid_ai(&mut window, IncreaseRule::PerWindow, 9, 10.0);
        counter.cong_avoid_ai(&mut window, IncreaseRule::PerWindow, 1, 3.0);
        assert_eq!(window.cwnd, 11.0);
        assert_eq!(counter.credit, 1);
    }

    #[test]
    fn fractions_add_up_to_the_same() {
        let (mut counter, mut window) = (AiCounter::default(), window(10.0));
        (0..40).for_each(|_| counter.cong_avoid_ai(&mut window, IncreaseRule::PerAck, 1, 20.0));
        assert!((window.cwnd - 12.0).abs() < 1e-9);
    }
}
