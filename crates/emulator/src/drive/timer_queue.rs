//! The queue of timed tasks.

use forebay_sim::time::Picos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A task of a side at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Task {
    /// End a batch and begin the next.
    Cut,
    /// Read TCP_INFO of every connection.
    Sample,
    /// Read the datagrams that have arrived.
    Collect,
    /// Connect for this flow's next file.
    Open(u32),
    /// Send over the connection in this slot.
    Begin(u32),
}

/// Tasks by time; equal times are in the order of `Task`.
#[derive(Default)]
pub(super) struct TimerQueue {
    tasks: BinaryHeap<Reverse<(Picos, Task)>>,
}

impl TimerQueue {
    /// Adds a task.
    pub(super) fn put(&mut self, at: Picos, task: Task) {
        self.tasks.push(Reverse((at, task)));
    }

    /// When the first task is due.
    pub(super) fn next_at(&self) -> Option<Picos> {
        self.tasks.peek().map(|Reverse((at, _))| *at)
    }

    /// Removes the first task if it is due, and returns it with its time.
    pub(super) fn due(&mut self, now: Picos) -> Option<(Picos, Task)> {
        self.next_at().filter(|&at| at <= now)?;
        self.tasks.pop().map(|Reverse(entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_come_in_time_and_none_too_early() {
        let mut timer_queue = TimerQueue::default();
        timer_queue.put(20, Task::Sample);
        timer_queue.put(10, Task::Open(1));
        timer_queue.put(20, Task::Cut);
        assert_eq!(timer_queue.due(9), None);
        assert_eq!(timer_queue.due(15), Some((10, Task::Open(1))));
        assert_eq!(timer_queue.due(15), None);
        assert_eq!(timer_queue.next_at(), Some(20));
        assert_eq!(timer_queue.due(25), Some((20, Task::Cut)));
        assert_eq!(timer_queue.due(25), Some((20, Task::Sample)));
    }
}
