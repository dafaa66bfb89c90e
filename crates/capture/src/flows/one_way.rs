//! Round trips of a connection of which only the data is captured, from timestamps (RFC 7323).
//!
//! A segment tells when the receiver sent an ACK, by the receiver's clock, and that it had reached
//! the sender when the segment left, by the sender's clock. Which segments that ACK answered follows
//! from the times at which they came by (`hypothesis`). The round trip is that of the first of them,
//! as a sender measures it: what the receiver waited is part of it.

use super::delayed_acks::Answered;
use super::holes::before;
use super::hypothesis::{Arrival, Hypothesis, Told};
use super::in_order::InOrder;
use super::way_back::WayBack;
use std::collections::VecDeque;

/// Usual clocks of timestamps, in microseconds for each tick (RFC 7323, section 5.4: 1 ms to
/// 1 s; Linux has 1 ms, and 1 µs by choice).
const TICKS_US: [f64; 6] = [1.0, 1e3, 2e3, 4e3, 1e4, 1e5];
/// A clock whose rate is so far from all usual ones is not understood.
const FAR: f64 = 0.1;
/// Time after which a clock's rate is known; before, queues that change may look like another clock.
const SETTLED_US: u32 = 2_000_000;
/// Minimum number of ticks for an estimate of a clock's rate.
const FEWEST_TICKS: u32 = 10;
/// Time after which two clocks with rates that differ by 1e-4 differ by 6 ms.
const DRIFTED_US: u32 = 60_000_000;
/// Segments of a flow that are watched at a time.
const WATCHED: usize = 1024;
/// Segments that are stored until the clocks are known.
const EARLY: usize = 256;
/// Steps of this size fill an interval evenly (Weyl 1916).
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// What a segment with data says.
#[derive(Clone, Copy)]
pub struct Stamped {
    /// Time since the SYN came by.
    pub since_us: u32,
    /// Time from the SYN to the end of the handshake.
    pub handshake_us: u32,
    /// TSval and TSecr.
    pub stamps: (u32, u32),
    /// Sequence numbers of its first byte and of that after its last.
    pub range: (u32, u32),
    /// It was not sent before.
    pub fresh: bool,
}

/// A round trip, and for how many ACKs it counts.
pub struct Trip {
    /// Microseconds.
    pub us: f64,
    /// What it is at least and at most: the segment may have been answered at once, and the ACK have reached
    /// the sender as fast as any of this connection; the difference of two stamps is known to a tick.
    pub ends_us: (f64, f64),
    /// ACKs of segments that were not watched, and this one.
    pub weight: u32,
}

/// The state of one connection.
pub struct OneWay {
    /// The clocks at the SYN: the sender's and the receiver's.
    bases: (u32, u32),
    /// Microseconds in a tick of each.
    clocks_us: (Option<f64>, Option<f64>),
    received: InOrder,
    arrivals: VecDeque<Arrival>,
    hypotheses: Vec<Hypothesis>,
    last_echo: u32,
    /// When the latest segment was sent, in ticks since the SYN.
    last_left: u32,
    way_back: WayBack,
    /// Segments until the clocks are known.
    early: Vec<Stamped>,
    /// Where in a tick the last round trip was put, from 0 to 1.
    place: f64,
    /// Segments that were not watched since the last round trip.
    unwatched: u32,
    full: bool,
}

impl OneWay {
    /// The clocks of sender and receiver when the SYN was there, from the handshake's stamps.
    pub fn new(sender: u32, receiver: u32) -> Self {
        Self {
            bases: (sender, receiver),
            clocks_us: (None, None),
            received: InOrder::default(),
            arrivals: VecDeque::new(),
            hypotheses: Hypothesis::all(),
            last_echo: receiver,
            last_left: 0,
            way_back: WayBack::default(),
            early: Vec::new(),
            place: 0.0,
            unwatched: 0,
            full: false,
        }
    }

    /// A segment with data comes by. Gives the round trips that it completes.
    pub fn data(&mut self, segment: &Stamped, trips: &mut impl FnMut(Trip)) {
        if segment.since_us >= DRIFTED_US {
            return;
        }
        if before(self.last_echo, segment.stamps.1) {
            let known_us = self.clocks_us;
            self.settle_clocks(segment);
            if self.clocks_us != known_us {
                self.restart();
            }
        }
        let (Some(sender_us), Some(receiver_us)) = self.clocks_us else {
            if segment.since_us >= SETTLED_US {
                self.early = Vec::new(); // A clock that is not known by now will hardly be.
            } else if self.early.len() < EARLY {
                self.early.push(*segment);
            }
            return;
        };
        for early in std::mem::take(&mut self.early) {
            self.segment(&early, (sender_us, receiver_us), trips);
        }
        self.segment(segment, (sender_us, receiver_us), trips);
    }

    /// A segment comes by, and the clocks are known.
    fn segment(&mut self, segment: &Stamped, clocks_us: (f64, f64), trips: &mut impl FnMut(Trip)) {
        let (value, echo) = segment.stamps;
        let left = value.wrapping_sub(self.bases.0);
        if before(self.last_echo, echo) {
            self.told(segment, clocks_us, trips);
            self.last_echo = echo;
        }
        self.last_left = left;
        let (expected, in_order) = self.received.arrives(segment.range.0, segment.range.1);
        let measures = segment.fresh || expected;
        self.watch(Arrival { since_us: segment.since_us, left, in_order, measures });
    }

    /// The clocks' rates. Queues that change make a clock look slow or fast at first, which one that is known
    /// survives; later only faster ones are taken: a stamp that is old makes a clock look slow.
    fn settle_clocks(&mut self, segment: &Stamped) {
        let ((value, echo), since_us) = (segment.stamps, segment.since_us);
        let behind_us = since_us.wrapping_sub(segment.handshake_us);
        let sender = usual(value.wrapping_sub(self.bases.0), since_us);
        let receiver = usual(echo.wrapping_sub(self.bases.1), behind_us);
        let early = since_us < SETTLED_US;
        let better = |old: Option<f64>, new: Option<f64>| match (old, new) {
            (Some(old), Some(new)) if !early => Some(old.min(new)),
            (_, new) if early => new.or(old),
            _ => old.or(new),
        };
        self.clocks_us = (better(self.clocks_us.0, sender), better(self.clocks_us.1, receiver));
    }

    /// What was learnt by other rates of the clocks is wrong.
    fn restart(&mut self) {
        self.arrivals.clear();
        self.hypotheses = Hypothesis::all();
        self.way_back = WayBack::default();
    }

    /// Segments are watched until there are too many of them, and again once all are answered.
    fn watch(&mut self, arrival: Arrival) {
        if self.full && self.arrivals.is_empty() {
            self.full = false;
            self.hypotheses.iter_mut().for_each(Hypothesis::interrupt);
        }
        self.full |= self.arrivals.len() >= WATCHED;
        if self.full {
            self.unwatched += 1;
        } else {
            self.arrivals.push_back(arrival);
        }
    }

    /// The sender has told of an ACK, and of none since the one before.
    fn told(&mut self, segment: &Stamped, clocks_us: (f64, f64), trips: &mut impl FnMut(Trip)) {
        let (value, echo) = segment.stamps;
        let tick = f64::from(echo.wrapping_sub(self.bases.1));
        let best = self.best();
        let first = self.hypotheses[best].first_of_tick(&self.arrivals, tick, clocks_us.1);
        if let Some(sent_us) = first {
            let at_us = f64::from(value.wrapping_sub(self.bases.0)) * clocks_us.0;
            self.way_back.told(f64::from(sent_us), at_us);
        }
        let older_us = f64::from(self.last_left) * clocks_us.0;
        let told = Told { tick, clocks_us, back_us: self.way_back.us(clocks_us.0), older_us };
        let mut found = Vec::new();
        for (place, one) in self.hypotheses.iter_mut().enumerate() {
            let chosen = best == place;
            one.told(&self.arrivals, &told, &mut |trip| found.extend(chosen.then_some(trip)));
        }
        self.forget_answered();
        found.into_iter().for_each(|one| self.give(one, clocks_us.0, trips));
    }

    /// The hypothesis with the fewest deviations.
    fn best(&self) -> usize {
        let deviations = self.hypotheses.iter().map(Hypothesis::deviations).enumerate();
        deviations.min_by_key(|&(_, deviations)| deviations).map_or(0, |(place, _)| place)
    }

    /// Forgets the segments that are answered by all hypotheses.
    fn forget_answered(&mut self) {
        let answered = self.hypotheses.iter().map(|one| one.answered).min().unwrap_or(0);
        self.arrivals.drain(..answered);
        self.hypotheses.iter_mut().for_each(|one| one.answered -= answered);
    }

    /// A stamp is that of the beginning of its tick, and stands for an even spread over it: quantiles would
    /// else be whole ticks.
    fn give(&mut self, one: Answered, tick_us: f64, trips: &mut impl FnMut(Trip)) {
        self.place = (self.place + GOLDEN).fract();
        let us = one.us - self.place * tick_us;
        if us < 1.0 {
            return;
        }
        let late_us = self.way_back.spread_us();
        let ends_us = ((us - one.waited_us - late_us - tick_us).max(1.0), us + tick_us);
        let segments = self.hypotheses[self.best()].segments_of_an_ack();
        trips(Trip { us, ends_us, weight: 1 + std::mem::take(&mut self.unwatched) / segments });
    }
}

/// The usual rate of a clock that a measured one is near.
fn usual(ticks: u32, us: u32) -> Option<f64> {
    let measured_us = f64::from(us) / f64::from(ticks);
    let near = |tick: &f64| (measured_us / tick - 1.0).abs() < FAR;
    TICKS_US.into_iter().find(near).filter(|_| ticks >= FEWEST_TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u32 = 1000;
    /// What the receiver's clock is beyond a whole tick at the SYN.
    const FRACTION_US: u32 = 300;

    /// Segments by twos, 7 ms apart, each sent when an ACK has come: 30 ms there and 20 ms back. Returns
    /// the mean round trip in milliseconds that the data tells, with clocks of this tick.
    fn mean_ms(delayed: bool, tick_us: u32) -> f64 {
        let mut flow = OneWay::new(5, 90);
        let (mut sum, mut count) = (0.0, 0.0);
        let round_us = if delayed { 57_000 } else { 50_000 };
        for number in 0..200u32 {
            let left_us = 50_000 + round_us * (number / 2) + 7_000 * (number % 2);
            let told_us = if delayed { left_us - 7_000 * (number % 2) } else { left_us } - 20_000;
            let segment = Stamped {
                since_us: left_us,
                handshake_us: 50_000,
                stamps: (5 + left_us / tick_us, 90 + (told_us - 30_000 + FRACTION_US) / tick_us),
                range: (number * BYTES, (number + 1) * BYTES),
                fresh: true,
            };
            flow.data(&segment, &mut |trip| {
                sum += trip.us / 1000.0;
                count += 1.0;
            });
        }
        sum / count
    }

    #[test]
    fn the_wait_of_a_delayed_ack_is_part_of_the_round_trip() {
        assert!((mean_ms(true, 1000) - 57.0).abs() < 0.6, "{}", mean_ms(true, 1000));
        assert!((mean_ms(false, 1000) - 50.0).abs() < 0.6, "{}", mean_ms(false, 1000));
    }

    #[test]
    fn segments_before_the_clocks_are_known_count() {
        let mut flow = OneWay::new(0, 0);
        let mut first_us = f64::NAN;
        for number in 0..40u32 {
            let left_us = 3_000 + 1_000 * number;
            let segment = Stamped {
                since_us: left_us,
                handshake_us: 3_000,
                stamps: (left_us / 1000, (left_us - 3_000) / 1000),
                range: (number * BYTES, (number + 1) * BYTES),
                fresh: true,
            };
            flow.data(&segment, &mut |trip| {
                if first_us.is_nan() {
                    first_us = trip.us;
                    assert!(number >= 9, "ten ticks make a clock: {number}");
                }
            });
            assert_eq!(
                flow.early.is_empty(),
                flow.clocks_us.0.is_some() && flow.clocks_us.1.is_some()
            );
        }
        assert!((first_us - 3_000.0).abs() < 1_600.0, "{first_us}");
    }

    #[test]
    fn a_clock_of_an_unusual_rate_gives_no_round_trip() {
        assert!(mean_ms(true, 1_500).is_nan());
    }

    #[test]
    fn at_most_so_many_segments_are_watched_and_the_others_count() {
        let mut flow = OneWay::new(0, 0);
        let mut weight = 0;
        for number in 0..1_000u32 {
            let since_us = 2_000_000 + 100 * number;
            let segment = Stamped {
                since_us,
                handshake_us: 20_000,
                stamps: (since_us / 1000, (since_us - 20_000 * u32::from(number < 999)) / 1000),
                range: (number * BYTES, (number + 1) * BYTES),
                fresh: true,
            };
            flow.data(&segment, &mut |trip| weight += trip.weight);
            assert!(flow.arrivals.len() <= WATCHED);
        }
        assert!(weight > 100, "{weight}");
    }
}
