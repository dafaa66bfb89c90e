//! Deficit round robin among the classes of one level: a class that has packets gets its quantum
//! once a turn, and what is too little for its next packet it keeps for its next turn. A class that
//! runs empty keeps nothing.

use super::class_queue::ClassQueue;
use std::collections::VecDeque;

/// The classes of a level that have packets, in the order of their turns.
#[derive(Clone, Debug)]
pub(super) struct RoundRobin {
    active: VecDeque<u16>,
    /// The first has got the quantum of this turn.
    granted: bool,
}

impl RoundRobin {
    /// Of at most so many classes.
    pub fn new(classes: usize) -> Self {
        Self { active: VecDeque::with_capacity(classes), granted: false }
    }

    /// A class that was empty has got a packet: its turn comes last.
    #[inline]
    pub fn join(&mut self, queue: usize) {
        self.active.push_back(queue as u16);
    }

    /// The class whose first packet is sent next, and that packet's size, if any of these has one.
    #[inline]
    pub fn take_turn(&mut self, queues: &mut [ClassQueue]) -> Option<(usize, u32)> {
        loop {
            let index = usize::from(*self.active.front()?);
            let queue = &mut queues[index];
            if !self.granted {
                queue.deficit += queue.quantum;
                self.granted = true;
            }
            let bytes = queue.next_bytes()?;
            if u64::from(bytes) > queue.deficit {
                let index = self.end_turn();
                self.active.extend(index);
                continue;
            }
            queue.deficit -= u64::from(bytes);
            if queue.packets() == 1 {
                queue.deficit = 0;
                self.end_turn();
            }
            return Some((index, bytes));
        }
    }

    fn end_turn(&mut self) -> Option<u16> {
        self.granted = false;
        self.active.pop_front()
    }
}
