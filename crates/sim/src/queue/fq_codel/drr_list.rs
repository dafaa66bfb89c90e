//! The order in which queues are served.

use super::FlowQueue;

/// No queue: beyond the end of any table of them.
pub(super) const NONE: u32 = u32::MAX;

/// A list of queues, linked through the table that holds them.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrrList {
    first: u32,
    last: u32,
}

impl DrrList {
    pub const EMPTY: Self = Self { first: NONE, last: NONE };

    /// The queue whose turn it is, or `NONE`.
    #[inline(always)]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// No queue is in it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// Adds a queue that is in no list, with none to follow it, at the end.
    #[inline(always)]
    pub fn push(&mut self, queue: u32, queues: &mut [FlowQueue]) {
        if self.is_empty() {
            self.first = queue;
        } else {
            queues[self.last as usize].next = queue;
        }
        self.last = queue;
    }

    /// The first queue has left it, and `next` had followed that.
    #[inline(always)]
    pub fn begin_at(&mut self, next: u32) {
        self.first = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_leave_in_the_order_they_came() {
        let mut queues = vec![FlowQueue::default(); 5];
        let mut ring = DrrList::EMPTY;
        let pop = |ring: &mut DrrList, queues: &mut [FlowQueue]| {
            let queue = ring.first();
            ring.begin_at(std::mem::replace(&mut queues[queue as usize].next, NONE));
            queue
        };
        assert!(ring.is_empty());
        for queue in [3, 0, 4] {
            ring.push(queue, &mut queues);
        }
        assert_eq!(pop(&mut ring, &mut queues), 3);
        ring.push(3, &mut queues);
        assert_eq!([(); 3].map(|()| pop(&mut ring, &mut queues)), [0, 4, 3]);
        assert!(ring.is_empty());
        ring.push(1, &mut queues);
        assert_eq!(ring.first(), 1);
    }
}
