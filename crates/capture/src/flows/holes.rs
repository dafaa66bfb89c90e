//! Gaps in a flow's sequence numbers: losses before the capture point.

/// Maximum number of separate holes; more are counted as one that spans them.
const HOLES: usize = 3;

/// Compares sequence numbers, which wrap (RFC 9293, section 3.4).
pub fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[derive(Clone, Copy, Default)]
struct Hole {
    start: u32,
    end: u32,
    /// Time of detection, in wrapping microseconds.
    at_us: u32,
}

/// The holes of one flow, in the order of their numbers; empty ranges are free places.
#[derive(Clone, Copy, Default)]
pub struct Holes {
    holes: [Hole; HOLES],
}

impl Holes {
    /// The flow continued at `end` instead of `start`. If there is no free place, a hole older than
    /// `stale_us` is removed: the received parts of one that spans several are never filled.
    pub fn open(&mut self, start: u32, end: u32, at_us: u32, stale_us: u32) {
        if self.number() == HOLES && at_us.wrapping_sub(self.holes[0].at_us) > stale_us {
            self.close(0);
        }
        let last = self.number();
        if last < HOLES {
            self.holes[last] = Hole { start, end, at_us };
        } else {
            self.holes[HOLES - 1].end = end;
        }
    }

    /// Age of the hole that a segment below the highest number fills, if it fills one.
    pub fn fill(&mut self, start: u32, end: u32, now_us: u32) -> Option<u32> {
        let open = &self.holes[..self.number()];
        let index = open.iter().position(|h| before(start, h.end) && before(h.start, end))?;
        let hole = self.holes[index];
        let (left, right) = (before(hole.start, start), before(end, hole.end));
        match (left, right) {
            (true, true) => self.split(index, start, end),
            (true, false) => self.holes[index].end = start,
            (false, true) => self.holes[index].start = end,
            (false, false) => self.close(index),
        }
        Some(now_us.wrapping_sub(hole.at_us))
    }

    /// If there is no place for another hole, this one stays: the part below may have been
    /// lost again, and arrives later.
    fn split(&mut self, index: usize, start: u32, end: u32) {
        let open = self.number();
        if open < HOLES {
            self.holes.copy_within(index..open, index + 1);
            self.holes[index].end = start;
            self.holes[index + 1].start = end;
        }
    }

    fn close(&mut self, index: usize) {
        let open = self.number();
        self.holes.copy_within(index + 1..open, index);
        self.holes[open - 1] = Hole::default();
    }

    fn number(&self) -> usize {
        self.holes.iter().take_while(|hole| hole.start != hole.end).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_from_either_end_and_from_within() {
        let mut holes = Holes::default();
        holes.open(100, 400, 10, 1000);
        assert_eq!(holes.fill(200, 300, 25), Some(15));
        assert_eq!(holes.fill(200, 300, 26), None, "it is filled");
        assert_eq!((holes.fill(100, 200, 30), holes.fill(300, 400, 31)), (Some(20), Some(21)));
        assert_eq!(holes.fill(100, 400, 40), None);
    }

    #[test]
    fn more_holes_than_there_is_room_for_are_still_filled_and_numbers_wrap() {
        let mut holes = Holes::default();
        for hole in 0..6u32 {
            let start = (hole * 200).wrapping_sub(400);
            holes.open(start, start.wrapping_add(100), 0, 1000);
        }
        for hole in 0..6u32 {
            let start = (hole * 200).wrapping_sub(400);
            assert_eq!(holes.fill(start, start.wrapping_add(100), 9), Some(9), "{hole}");
        }
    }

    #[test]
    fn a_segment_that_was_lost_twice_fills_its_hole_after_those_behind_it() {
        let mut holes = Holes::default();
        for hole in 0..6u32 {
            holes.open(hole * 200, hole * 200 + 100, 0, 1000);
        }
        for hole in [1, 2, 3, 5, 0, 4u32] {
            let start = hole * 200;
            assert_eq!(holes.fill(start, start + 100, 9), Some(9), "{hole}");
        }
    }

    #[test]
    fn a_hole_that_is_never_filled_does_not_stay_in_the_way() {
        let mut holes = Holes::default();
        for hole in 0..10u32 {
            holes.open(hole * 200, hole * 200 + 100, hole * 2000, 1000);
        }
        assert_eq!(holes.fill(1800, 1900, 18_500), Some(500));
    }
}
