//! Deficit round robin among the classes of one level: a class that has packets gets its quantum
//! once a turn, and what is too little for its next packet it keeps for its next turn. A class that
//! runs empty keeps nothing. Nor does one that its largest rate holds back.
//!
//! Before that, classes that have not got their least rate send; these packets are no part of their turns.

use super::class_queue::ClassQueue;
use super::rate_meter::RateMeter;
use crate::time::Picos;
use std::collections::VecDeque;

/// The classes of a level that have packets, in the order of their turns.
#[derive(Clone, Debug)]
pub(super) struct RoundRobin {
    active: VecDeque<u16>,
    /// The first has got the quantum of this turn.
    granted: bool,
    /// Some of them have a rate that they get first.
    has_min_rates: bool,
}

impl RoundRobin {
    /// An empty level of at most `classes` classes.
    pub fn new(classes: usize, has_min_rates: bool) -> Self {
        Self { active: VecDeque::with_capacity(classes), granted: false, has_min_rates }
    }

    /// A class that was empty has got a packet: its turn comes last.
    #[inline]
    pub fn join(&mut self, queue: usize) {
        self.active.push_back(queue as u16);
    }

    /// The class whose first packet is sent next, and that packet's size, if any of these has one.
    #[inline]
    pub fn take_turn(&mut self, now: Picos, queues: &mut [ClassQueue]) -> Option<(usize, u32)> {
        if let Some(place) = self.within_min_rate(now, queues) {
            return self.take_guaranteed(now, place, queues);
        }
        let mut held = 0;
        loop {
            let index = usize::from(*self.active.front()?);
            let queue = &mut queues[index];
            if queue.held_until() > now {
                held += 1;
                if held > self.active.len() {
                    return None;
                }
                queue.deficit = 0;
                let index = self.end_turn();
                self.active.extend(index);
                continue;
            }
            held = 0;
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
            if let Some(meter) = &mut queue.max_rate {
                meter.take(now, bytes);
            }
            if queue.packets() == 1 {
                queue.deficit = 0;
                self.end_turn();
            }
            return Some((index, bytes));
        }
    }

    /// Of the classes that have not got their least rate the one that is furthest behind: its place among
    /// the active.
    #[inline]
    fn within_min_rate(&self, now: Picos, queues: &[ClassQueue]) -> Option<usize> {
        if !self.has_min_rates {
            return None;
        }
        let behind = |(place, &index): (usize, &u16)| {
            let queue = &queues[usize::from(index)];
            let paid_at = queue.min_rate.as_ref().map(RateMeter::conforms_at)?;
            (paid_at <= now && queue.held_until() <= now).then_some((paid_at, place))
        };
        let (_, place) = self.active.iter().enumerate().filter_map(behind).min()?;
        Some(place)
    }

    /// A packet that is no part of a turn.
    fn take_guaranteed(
        &mut self,
        now: Picos,
        place: usize,
        queues: &mut [ClassQueue],
    ) -> Option<(usize, u32)> {
        let index = usize::from(self.active[place]);
        let queue = &mut queues[index];
        let bytes = queue.next_bytes()?;
        for meter in [&mut queue.min_rate, &mut queue.max_rate].into_iter().flatten() {
            meter.take(now, bytes);
        }
        if queue.packets() == 1 {
            queue.deficit = 0;
            self.granted &= place > 0;
            self.active.remove(place);
        }
        Some((index, bytes))
    }

    fn end_turn(&mut self) -> Option<u16> {
        self.granted = false;
        self.active.pop_front()
    }
}
