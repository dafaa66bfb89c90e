//! Which segments each ACK of a receiver answers, from the times of the segments and of the ACKs.
//!
//! Only the times of ACKs are known, in ticks of the receiver's clock, and of ACKs within one tick
//! only that there was one. A receiver answers every second segment in order (RFC 1122, section
//! 4.2.3.2; RFC 5681, section 4.2), one that waits longer when its timer ends, and all else at
//! once. So a segment in order either waits or ends a wait, and which of them do is the path of
//! fewest deviations (Viterbi 1967): an ACK whose tick no one tells, a tick that no ACK explains,
//! a segment in order that is answered at once although it could wait. An ACK that had reached the
//! sender before a segment that tells of an older one cannot have been sent.

/// A segment that a receiver gets.
#[derive(Clone, Copy)]
pub struct Segment {
    /// When it comes by, in microseconds since the SYN.
    pub came_us: f64,
    /// When its sender sent it, in microseconds by the sender's clock; NaN if its answer measures
    /// nothing.
    pub left_us: f64,
    /// It is the next one expected, and none before it is missing.
    pub in_order: bool,
}

/// What the sender's segments say of an ACK.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// One of its tick was told.
    Told,
    /// None was, and none need be: the sender was silent when it came.
    Hidden,
    /// The sender told of an older one after it would have come.
    Refuted,
}

/// Deviations of an ACK that was refuted: more than any other path to its state has.
const REFUTED: u32 = 4;

/// An ACK that goes now.
#[derive(Clone, Copy)]
pub struct Ack {
    /// Whether it was told.
    pub seen: Seen,
    /// When a segment that it answers at once comes by, in microseconds since the SYN.
    pub sent_us: f64,
    /// When it reaches the sender, in microseconds by the sender's clock; NaN if unknown.
    pub reaches_us: f64,
}

/// A round trip of the first segment that an ACK answers, in microseconds, and how much of it that
/// segment waited for the ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answered {
    /// The round trip.
    pub us: f64,
    /// The wait.
    pub waited_us: f64,
}

impl Ack {
    /// What it deviates by, where one is `expected`.
    pub fn deviates(&self, expected: bool) -> u32 {
        match self.seen {
            Seen::Told => 0,
            Seen::Hidden => u32::from(expected),
            Seen::Refuted => REFUTED,
        }
    }

    /// The round trip of `first`, if this is the first ACK for it.
    pub fn answers(&self, first: Segment) -> Answered {
        let waited_us = (self.sent_us - first.came_us).max(0.0);
        Answered { us: self.reaches_us - first.left_us, waited_us }
    }
}

/// Round trips that are stored until the paths agree.
const STORED: usize = 8;

#[derive(Clone, Copy)]
struct Path {
    deviations: u32,
    /// The segment that waits for a second one.
    waiting: Option<Segment>,
    /// An ACK of the current tick is part of the path.
    explained: bool,
    trips: [Answered; STORED],
    stored: usize,
}

impl Path {
    const fn new() -> Self {
        let (trips, stored) = ([Answered { us: 0.0, waited_us: 0.0 }; STORED], 0);
        Self { deviations: 0, waiting: None, explained: false, trips, stored }
    }

    /// An ACK goes, and `first` is the first segment that it answers.
    fn acknowledge(mut self, first: Segment, ack: Ack, expected: bool) -> Self {
        self.waiting = None;
        self.explained |= ack.seen == Seen::Told;
        self.deviations += ack.deviates(expected);
        let trip = ack.answers(first);
        if trip.us > 0.0 && self.stored < STORED {
            self.trips[self.stored] = trip;
            self.stored += 1;
        }
        self
    }

    fn wait(mut self, segment: Segment) -> Self {
        self.waiting = Some(segment);
        self
    }

    fn deviating(mut self) -> Self {
        self.deviations += 1;
        self
    }
}

/// The better path to each of two states: a segment waits for its ACK, or none does.
#[derive(Clone)]
pub struct DelayedAcks {
    paths: [Option<Path>; 2],
}

impl Default for DelayedAcks {
    fn default() -> Self {
        Self { paths: [Some(Path::new()), None] }
    }
}

impl DelayedAcks {
    /// Deviations of the better path.
    pub fn deviations(&self) -> u32 {
        self.paths.iter().flatten().map(|path| path.deviations).min().unwrap_or(0)
    }

    /// A segment arrives; `ack` is what goes if it is answered now. Gives round trips
    /// to `trip` as soon as the paths agree on them.
    pub fn arrive(&mut self, segment: Segment, ack: Ack, trip: &mut impl FnMut(Answered)) {
        let mut next = Successors::default();
        for (from, path) in self.paths.into_iter().enumerate() {
            let Some(path) = path else { continue };
            match path.waiting {
                _ if !segment.in_order => {
                    let first = path.waiting.unwrap_or(segment);
                    next.put(path.acknowledge(first, ack, false), from);
                }
                None => {
                    next.put(path.wait(segment), from);
                    next.put(path.acknowledge(segment, ack, true).deviating(), from);
                }
                Some(first) => {
                    next.put(path.acknowledge(first, ack, true), from);
                    if ack.seen == Seen::Told && !path.explained {
                        next.put(path.acknowledge(first, ack, true).wait(segment), from);
                    }
                }
            }
        }
        self.succeed(next, trip);
    }

    /// No more segments of a tick that was told, which began at `begin_us`: an ACK that nothing explains is
    /// that of a segment whose wait has ended. One that came in this tick was answered at once.
    pub fn end_tick(&mut self, ack: Ack, begin_us: f64, trip: &mut impl FnMut(Answered)) {
        let mut next = Successors::default();
        for (from, path) in self.paths.into_iter().enumerate() {
            let Some(path) = path else { continue };
            let ended = match path.waiting {
                _ if path.explained => path,
                Some(first) if first.came_us >= begin_us => {
                    let at_once = Ack { sent_us: first.came_us, ..ack };
                    path.acknowledge(first, at_once, true).deviating()
                }
                Some(first) => path.acknowledge(first, ack, true),
                None => path.deviating(),
            };
            next.put(Path { explained: false, ..ended }, from);
        }
        self.succeed(next, trip);
    }

    /// Segments were not watched: whether one waits is unknown.
    pub fn interrupt(&mut self) {
        let path = Path { deviations: self.deviations(), ..Path::new() };
        self.paths = [Some(path), None];
    }

    /// Gives what all successors have from one path, or the better one if it can store no more.
    fn succeed(&mut self, mut next: Successors, trip: &mut impl FnMut(Answered)) {
        if next.paths.iter().flatten().any(|(path, _)| path.stored + 1 >= STORED) {
            next.keep_better();
        }
        let origins = next.paths.iter().flatten().map(|&(_, from)| from);
        let agreed = origins.clone().min().filter(|&from| origins.max() == Some(from));
        let given = agreed.and_then(|from| self.paths[from]).map_or(0, |path| path.stored);
        let survivor = next.paths.iter().flatten().next();
        if let Some((path, _)) = survivor {
            path.trips[..given].iter().for_each(|&one| trip(one));
        }
        self.paths = next.paths.map(|kept| kept.map(|(path, _)| path.without(given)));
    }
}

impl Path {
    fn without(mut self, given: usize) -> Self {
        self.trips.copy_within(given..self.stored, 0);
        self.stored -= given;
        self
    }
}

/// Paths one step on, each with the place of the one before it.
#[derive(Default)]
struct Successors {
    paths: [Option<(Path, usize)>; 2],
}

impl Successors {
    /// Of paths to the same state the first of those with fewest deviations stays.
    fn put(&mut self, path: Path, from: usize) {
        let place = &mut self.paths[usize::from(path.waiting.is_some())];
        if place.is_none_or(|(other, _)| path.deviations < other.deviations) {
            *place = Some((path, from));
        }
    }

    fn keep_better(&mut self) {
        if let [Some((one, _)), Some((other, _))] = &self.paths {
            let worse = usize::from(one.deviations <= other.deviations);
            self.paths[worse] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1000.0;
    /// What an ACK needs to its sender, here, in milliseconds.
    const BACK: f64 = 20.0;

    /// Round trips in milliseconds of segments that come at these ticks, each sent 30 ms before, with ACKs
    /// told of at those.
    fn trips(came: &[u32], told: &[u32]) -> (Vec<f64>, u32) {
        let (mut delayed, mut found) = (DelayedAcks::default(), Vec::new());
        let mut came = came.iter().copied().peekable();
        for &tick in told {
            let ack = |at: u32| Ack {
                seen: if at == tick { Seen::Told } else { Seen::Hidden },
                sent_us: f64::from(at) * MS,
                reaches_us: (f64::from(at) + BACK) * MS,
            };
            let begin_us = f64::from(tick) * MS;
            while let Some(at) = came.next_if(|&at| at <= tick) {
                let left_us = (f64::from(at) - 30.0) * MS;
                delayed.arrive(
                    Segment { came_us: f64::from(at) * MS, left_us, in_order: true },
                    ack(at),
                    &mut |one| {
                        found.push(one.us / MS);
                    },
                );
            }
            delayed.end_tick(ack(tick), begin_us, &mut |one| found.push(one.us / MS));
        }
        (found, delayed.deviations())
    }

    #[test]
    fn every_second_segment_ends_a_wait() {
        let (found, deviations) = trips(&[100, 107, 200, 201], &[107, 201]);
        assert_eq!(found[..1], [57.0], "the first one waited for 7 ms");
        assert_eq!(deviations, 0);
    }

    #[test]
    fn a_wait_that_nobody_ends_ends_by_its_timer() {
        let (found, deviations) = trips(&[100, 107, 111, 200, 203], &[107, 151, 203]);
        assert_eq!(found[..2], [57.0, 90.0]);
        assert_eq!(deviations, 0);
    }

    #[test]
    fn what_comes_later_tells_which_of_a_tick_waited() {
        // Of three in a tick one waits, first or last; an ACK at 140 has only the last to answer.
        let (found, _) = trips(&[100, 100, 100, 140, 180, 181], &[100, 140, 181]);
        assert_eq!(found[..2], [50.0, 90.0]);
        // No ACK was told at 140: it waits itself, and all of the three were answered.
        let (found, _) = trips(&[90, 100, 100, 100, 140, 144], &[100, 144]);
        assert_eq!(found[..2], [60.0, 50.0]);
    }

    #[test]
    fn acks_at_once_deviate_from_delayed_ones() {
        let (_, deviations) = trips(&[100, 110, 120, 130], &[100, 110, 120, 130]);
        assert_eq!(deviations, 4, "no timer ends in the tick in which it began");
        let mut at_once = DelayedAcks::default();
        let ack = Ack { seen: Seen::Hidden, sent_us: 0.0, reaches_us: 0.0 };
        let segment = Segment { came_us: 0.0, left_us: 0.0, in_order: true };
        (0..10).for_each(|_| at_once.arrive(segment, ack, &mut |_| ()));
        assert_eq!(at_once.deviations(), 5, "of ten segments five ACKs, and none was told");
    }

    #[test]
    fn an_ack_that_the_sender_did_not_have_when_it_should_was_not_sent() {
        let arrive = |seen: Seen| {
            let mut delayed = DelayedAcks::default();
            let ack = Ack { seen, sent_us: 0.0, reaches_us: 0.0 };
            let segment = Segment { came_us: 0.0, left_us: 0.0, in_order: true };
            (0..2).for_each(|_| delayed.arrive(segment, ack, &mut |_| ()));
            delayed.deviations()
        };
        assert_eq!(arrive(Seen::Hidden), 1, "the sender was silent");
        assert_eq!(arrive(Seen::Refuted), REFUTED, "no path is without such an ACK");
    }
}
