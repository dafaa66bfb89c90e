//! A flow's segments in each round trip, and whether they still grow as in slow start.

/// Growth of a round trip over the one before below which a flow has left slow start. With an ACK
/// for every second segment slow start grows by half in a round trip (RFC 5681, section 3.1).
const SLOW_START: f64 = 1.25;
/// Round trips without that growth that are required, to exclude random variation.
const ROUNDS: u8 = 4;
/// Minimum number of segments of a round trip in which growth is visible.
const FEW: u16 = 4;
/// Completed rounds from a loss to the end of its reduction.
const RECOVERED: u8 = 3;
/// Minimum flight for an estimate of the share that is left of it.
const FLIGHT: u16 = 16;

/// Rounds of about a round-trip time each.
#[derive(Clone, Copy, Default)]
pub struct Pace {
    began_us: u32,
    now: u16,
    last: u16,
    flight_at_loss: u16,
    flat: u8,
    since_loss: u8,
}

impl Pace {
    /// Counts a segment; returns the share of the flight left after a loss, once it is known.
    pub fn segment(&mut self, now_us: u32, round_us: u32) -> Option<f64> {
        let elapsed = now_us.wrapping_sub(self.began_us);
        let mut left = None;
        if self.now == 0 || elapsed >= round_us.saturating_mul(3) {
            *self = Self { began_us: now_us, ..Self::default() };
        } else if elapsed >= round_us {
            left = self.close();
            self.began_us = self.began_us.wrapping_add(round_us);
        }
        self.now = self.now.saturating_add(1);
        left
    }

    /// Segments of the last complete round trip.
    pub fn last_round(&self) -> u16 {
        self.last
    }

    /// Whether the flow has sent for some round trips without slow start's growth.
    pub fn is_steady(&self) -> bool {
        self.flat >= ROUNDS
    }

    /// A segment is missing.
    pub fn loss(&mut self) {
        if self.since_loss == 0 {
            self.flight_at_loss = self.last;
            self.since_loss = 1;
        }
    }

    fn close(&mut self) -> Option<f64> {
        let grew = f64::from(self.now) > SLOW_START * f64::from(self.last);
        self.flat = if grew || self.now < FEW { 0 } else { self.flat.saturating_add(1) };
        (self.last, self.now) = (self.now, 0);
        if self.since_loss == 0 {
            return None;
        }
        self.since_loss += 1;
        if self.since_loss <= RECOVERED {
            return None;
        }
        self.since_loss = 0;
        let told = self.flight_at_loss >= FLIGHT;
        // The round trip since the reduction has added about a segment, and windows are rounded down
        // to segments, which is half a segment on average.
        told.then(|| (f64::from(self.last.max(1)) - 0.5) / f64::from(self.flight_at_loss))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(rounds: &[u16]) -> Pace {
        let mut pace = Pace::default();
        for (round, &segments) in (0u32..).zip(rounds) {
            for k in 0..u32::from(segments) {
                pace.segment(round * 1000 + k * 900 / u32::from(segments), 1000);
            }
        }
        pace
    }

    #[test]
    fn slow_start_is_not_steady_and_congestion_avoidance_is() {
        assert!(!play(&[10, 20, 40, 80, 160, 320]).is_steady());
        assert!(!play(&[10, 15, 22, 33, 50, 75, 112]).is_steady(), "delayed ACKs");
        assert!(play(&[10, 20, 40, 20, 21, 22, 23, 24]).is_steady());
        assert!(!play(&[1, 1, 1, 1, 1, 1, 1, 1]).is_steady(), "too few to tell");
    }
}
