//! Deficit round robin among the classes of one level: a class that has packets gets its quantum
//! once a turn, and what is too little for its next packet it keeps for its next turn. A class that
//! runs empty keeps nothing.

use super::class_queue::ClassQueue;
use crate::queue::QueuedPacket;
use crate::time::Picos;
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

    /// The packet that is sent next, if any of these classes has one.
    #[inline]
    pub fn dequeue(
        &mut self,
        now: Picos,
        queues: &mut [ClassQueue],
    ) -> Option<(QueuedPacket, bool)> {
        loop {
            let queue = &mut queues[usize::from(*self.active.front()?)];
            if !self.granted {
                queue.deficit += queue.quantum;
                self.granted = true;
            }
            match queue.next_bytes() {
                Some(bytes) if bytes <= queue.deficit => {
                    queue.deficit -= bytes;
                    let sent = queue.dequeue(now);
                    if queue.packets() == 0 {
                        queue.deficit = 0;
                        self.end_turn();
                    }
                    return sent;
                }
                _ => {
                    let queue = self.end_turn();
                    self.active.extend(queue);
                }
            }
        }
    }

    fn end_turn(&mut self) -> Option<u16> {
        self.granted = false;
        self.active.pop_front()
    }
}
