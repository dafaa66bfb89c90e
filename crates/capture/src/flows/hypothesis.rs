//! What a receiver's clock and rule for its ACKs may be, and how well it fits what was told.

use super::delayed_acks::{Ack, Answered, DelayedAcks, Seen, Segment};
use std::collections::VecDeque;

/// Places in a tick that the receiver's clock may have had at the SYN.
const FRACTIONS: u32 = 8;

/// A segment that came by.
#[derive(Clone, Copy)]
pub struct Arrival {
    /// When, in microseconds since the SYN.
    pub since_us: u32,
    /// When its sender sent it, in ticks of the sender's clock since the SYN.
    pub left: u32,
    /// See `Segment`.
    pub in_order: bool,
    /// Its answer measures a round trip: it was not sent before, or the receiver waited for it.
    pub measures: bool,
}

/// The latest ACK of which the sender told.
pub struct Told {
    /// When the receiver sent it, in ticks of its clock since the SYN.
    pub tick: f64,
    /// Microseconds in a tick of the sender's and of the receiver's clock.
    pub clocks_us: (f64, f64),
    /// From a segment that is answered at once to the sender, and what the clocks differ; NaN while unknown.
    pub back_us: f64,
    /// When the last segment that told of an older ACK was sent, by the sender's clock.
    pub older_us: f64,
}

impl Told {
    /// An ACK of a tick no later, to a segment that comes by at `sent_us`.
    fn ack(&self, tick: f64, sent_us: f64) -> Ack {
        let reaches_us = sent_us + self.back_us;
        let seen = match tick >= self.tick {
            true => Seen::Told,
            false if reaches_us + self.clocks_us.0 < self.older_us => Seen::Refuted,
            false => Seen::Hidden,
        };
        Ack { seen, sent_us, reaches_us }
    }
}

/// When a receiver answers segments in order.
enum Rule {
    /// At once; what was told deviates so often.
    AtOnce(u32),
    /// RFC 1122, section 4.2.3.2.
    Delayed(Box<DelayedAcks>),
}

/// What may be.
pub struct Hypothesis {
    /// What the receiver's clock was beyond a whole tick when it got the SYN.
    fraction: f64,
    rule: Rule,
    /// Segments at the front of those watched that were answered.
    pub answered: usize,
}

impl Hypothesis {
    /// All that are considered.
    pub fn all() -> Vec<Self> {
        let rules = [|| Rule::Delayed(Box::default()), || Rule::AtOnce(0)];
        let fraction = |place: u32| (f64::from(place) + 0.5) / f64::from(FRACTIONS);
        let of = |rule: fn() -> Rule| {
            let with = move |place| Self { fraction: fraction(place), rule: rule(), answered: 0 };
            (0..FRACTIONS).map(with)
        };
        rules.into_iter().flat_map(of).collect()
    }

    /// Number of ACKs, ticks and segments that do not fit.
    pub fn deviations(&self) -> u32 {
        match &self.rule {
            Rule::AtOnce(deviations) => *deviations,
            Rule::Delayed(delayed) => delayed.deviations(),
        }
    }

    /// When a segment comes, in ticks of the receiver's clock, if it comes by `since_us` after the SYN.
    fn ticks(&self, since_us: u32, tick_us: f64) -> f64 {
        f64::from(since_us) / tick_us + self.fraction
    }

    /// The first segment that came in a tick and is not answered: when it came by.
    pub fn first_of_tick(&self, all: &VecDeque<Arrival>, tick: f64, tick_us: f64) -> Option<u32> {
        let rest = all.iter().skip(self.answered).map(|one| one.since_us);
        let mut of_it = rest.skip_while(|&since_us| self.ticks(since_us, tick_us) < tick);
        of_it.next().filter(|&since_us| self.ticks(since_us, tick_us) < tick + 1.0)
    }

    /// The sender has told of an ACK, and of none since the one before. Gives round trips
    /// to `trip`.
    pub fn told(&mut self, all: &VecDeque<Arrival>, told: &Told, trip: &mut impl FnMut(Answered)) {
        let (mut explained, tick_us) = (false, told.clocks_us.1);
        while let Some(arrival) = all.get(self.answered) {
            let came = self.ticks(arrival.since_us, tick_us);
            if came >= told.tick + 1.0 {
                break;
            }
            self.answered += 1;
            let came_us = f64::from(arrival.since_us);
            let ack = told.ack(came.floor(), came_us);
            explained |= ack.seen == Seen::Told;
            let left_us = f64::from(arrival.left) * told.clocks_us.0;
            let left_us = if arrival.measures { left_us } else { f64::NAN };
            self.answer(Segment { came_us, left_us, in_order: arrival.in_order }, ack, trip);
        }
        let begin_us = (told.tick - self.fraction) * tick_us;
        let timer = told.ack(told.tick, begin_us + tick_us / 2.0);
        match &mut self.rule {
            Rule::AtOnce(deviations) => *deviations += u32::from(!explained),
            Rule::Delayed(delayed) => delayed.end_tick(timer, begin_us, trip),
        }
    }

    fn answer(&mut self, segment: Segment, ack: Ack, trip: &mut impl FnMut(Answered)) {
        match &mut self.rule {
            Rule::Delayed(delayed) => delayed.arrive(segment, ack, trip),
            Rule::AtOnce(deviations) => {
                *deviations += ack.deviates(segment.in_order);
                let one = ack.answers(segment);
                if one.us > 0.0 {
                    trip(one);
                }
            }
        }
    }

    /// Segments that an ACK answers where nothing is missing.
    pub fn segments_of_an_ack(&self) -> u32 {
        match self.rule {
            Rule::AtOnce(_) => 1,
            Rule::Delayed(_) => 2,
        }
    }

    /// Segments were not watched.
    pub fn interrupt(&mut self) {
        if let Rule::Delayed(delayed) = &mut self.rule {
            delayed.interrupt();
        }
    }
}
