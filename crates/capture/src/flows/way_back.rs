//! How long ACKs take to their sender, from segments that tell of them.
//!
//! A sender tells of an ACK in the next segment that it sends: most at once, but one that paces, or
//! whose window is full, later, and after a timeout much later. So the way back of the latest ACKs
//! is the shortest of what was told of some of them.

/// ACKs of which the shortest counts: a fraction of a round trip of most flows, in which a queue on the way
/// back hardly changes.
const LATEST: usize = 16;

/// What was told of the latest ACKs, in microseconds, and what the two clocks differ.
pub struct WayBack {
    told_us: [f64; LATEST],
    count: usize,
    least_us: f64,
}

impl Default for WayBack {
    fn default() -> Self {
        Self { told_us: [f64::INFINITY; LATEST], count: 0, least_us: f64::INFINITY }
    }
}

impl WayBack {
    /// An ACK that was sent at `sent_us` was told at the tick that begins at `tick_us`.
    pub fn told(&mut self, sent_us: f64, at_us: f64) {
        let us = at_us - sent_us;
        self.told_us[self.count % LATEST] = us;
        self.count += 1;
        self.least_us = self.least_us.min(us);
    }

    /// The way of the latest ACKs; NaN before the first. Each was told somewhere within a tick, and the least
    /// of so many evenly spread places is so far from the end (David and Nagaraja 2003, section 2.2).
    pub fn us(&self, tick_us: f64) -> f64 {
        let known = self.count.min(LATEST);
        if known == 0 {
            return f64::NAN;
        }
        let least_us = self.told_us[..known].iter().copied().fold(f64::INFINITY, f64::min);
        least_us + tick_us * known as f64 / (known + 1) as f64
    }

    /// How much longer the middle one of the latest was than the least ever.
    pub fn spread_us(&self) -> f64 {
        let known = self.count.min(LATEST);
        let mut told_us = self.told_us;
        told_us[..known].sort_unstable_by(f64::total_cmp);
        if known == 0 { 0.0 } else { told_us[known / 2] - self.least_us }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_paced_sender_tells_late_does_not_make_the_way_longer() {
        let mut way_back = WayBack::default();
        assert!(way_back.us(1000.0).is_nan());
        for number in 0..64u32 {
            let sent_us = f64::from(number) * 12_345.0;
            let late_us = f64::from(number * 7 % 16) * 800.0;
            let at_us = sent_us + 20_000.0 + late_us;
            way_back.told(sent_us, (at_us / 1000.0).floor() * 1000.0);
        }
        assert!((way_back.us(1000.0) - 20_000.0).abs() < 600.0, "{}", way_back.us(1000.0));
        assert!(way_back.spread_us() > 4_000.0);
    }

    #[test]
    fn a_way_that_becomes_longer_is_followed() {
        let mut way_back = WayBack::default();
        for number in 0..40u32 {
            let us = if number < 20 { 20_000.0 } else { 50_000.0 };
            way_back.told(0.0, us);
        }
        assert!(way_back.us(1.0) > 49_000.0);
    }
}
