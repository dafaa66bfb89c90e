//! The order in which queues are served.

const NONE: u32 = u32::MAX;

/// A list of queues, linked through a table that its owner keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrrList {
    first: u32,
    last: u32,
}

impl DrrList {
    pub const EMPTY: Self = Self { first: NONE, last: NONE };

    /// The queue whose turn it is.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// Adds a queue at the end.
    #[inline]
    pub fn push(&mut self, queue: u32, next: &mut [u32]) {
        if self.first == NONE {
            self.first = queue;
        } else {
            next[self.last as usize] = queue;
        }
        next[queue as usize] = NONE;
        self.last = queue;
    }

    /// Takes the first queue off; there is one.
    #[inline]
    pub fn pop(&mut self, next: &[u32]) -> u32 {
        let queue = self.first;
        self.first = next[queue as usize];
        queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_leave_in_the_order_they_came() {
        let mut next = vec![NONE; 5];
        let mut ring = DrrList::EMPTY;
        assert_eq!(ring.first(), None);
        for queue in [3, 0, 4] {
            ring.push(queue, &mut next);
        }
        assert_eq!(ring.pop(&next), 3);
        ring.push(3, &mut next);
        assert_eq!([ring.pop(&next), ring.pop(&next), ring.pop(&next)], [0, 4, 3]);
        assert_eq!(ring.first(), None);
        ring.push(1, &mut next);
        assert_eq!(ring.first(), Some(1));
    }
}
