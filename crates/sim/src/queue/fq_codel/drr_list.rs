//! The order in which queues are served.

use super::FlowQueue;

const NONE: u32 = u32::MAX;

/// A list of queues, linked through the table that holds them.
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
    pub fn push(&mut self, queue: u32, queues: &mut [FlowQueue]) {
        if self.first == NONE {
            self.first = queue;
        } else {
            queues[self.last as usize].next = queue;
        }
        queues[queue as usize].next = NONE;
        self.last = queue;
    }

    /// Takes the first queue off; there is one.
    #[inline]
    pub fn pop(&mut self, queues: &[FlowQueue]) -> u32 {
        let queue = self.first;
        self.first = queues[queue as usize].next;
        queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_leave_in_the_order_they_came() {
        let mut queues = vec![FlowQueue::default(); 5];
        let mut ring = DrrList::EMPTY;
        assert_eq!(ring.first(), None);
        for queue in [3, 0, 4] {
            ring.push(queue, &mut queues);
        }
        assert_eq!(ring.pop(&queues), 3);
        ring.push(3, &mut queues);
        assert_eq!([ring.pop(&queues), ring.pop(&queues), ring.pop(&queues)], [0, 4, 3]);
        assert_eq!(ring.first(), None);
        ring.push(1, &mut queues);
        assert_eq!(ring.first(), Some(1));
    }
}
