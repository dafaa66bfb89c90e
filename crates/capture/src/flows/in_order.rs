//! Which segments a receiver gets in order, with none before them missing.

use super::holes::before;

/// Ranges beyond a missing segment that are stored; if there are more, the missing ones are given up.
const RANGES: usize = 64;

/// What a receiver has of one direction.
#[derive(Default)]
pub struct InOrder {
    next: Option<u32>,
    beyond: Vec<(u32, u32)>,
}

impl InOrder {
    /// A segment from `start` to `end` arrives: whether it is the next one, and whether none is missing.
    pub fn arrives(&mut self, start: u32, end: u32) -> (bool, bool) {
        let next = *self.next.get_or_insert(start);
        if before(next, start) {
            self.keep(start, end);
            return (false, false);
        }
        let (expected, whole) = (start == next, self.beyond.is_empty());
        if before(next, end) {
            self.advance(end);
        }
        (expected, expected && whole)
    }

    fn advance(&mut self, end: u32) {
        let mut next = end;
        while let Some(place) = self.beyond.iter().position(|&(start, _)| !before(next, start)) {
            let (_, end) = self.beyond.swap_remove(place);
            next = if before(next, end) { end } else { next };
        }
        self.next = Some(next);
    }

    fn keep(&mut self, start: u32, end: u32) {
        match self.beyond.iter_mut().find(|range| range.1 == start) {
            Some(range) => range.1 = end,
            None => self.beyond.push((start, end)),
        }
        if self.beyond.len() > RANGES {
            self.beyond.clear();
            self.next = Some(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_in_order_until_what_is_missing_has_come() {
        let mut all = InOrder::default();
        let order = [(10, true), (20, true), (40, false), (50, false), (70, false), (30, false)];
        for (start, expected) in order {
            assert_eq!(all.arrives(start, start + 10).1, expected, "{start}");
        }
        assert!(all.arrives(60, 70) == (true, false), "it fills the last gap");
        assert!(!all.arrives(60, 70).0, "and once more");
        assert!(all.arrives(80, 90).1);
        assert!(all.arrives(90, 100).1);
    }

    #[test]
    fn numbers_wrap() {
        let mut all = InOrder::default();
        assert!(all.arrives(u32::MAX - 4, 5).1);
        assert!(all.arrives(5, 15).1);
    }
}
