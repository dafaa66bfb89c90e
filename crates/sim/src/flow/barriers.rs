//! Flows that answer one request together, and wait for each other before the next.

use crate::config::{Barrier, Config};
use crate::time::{NEVER, Picos};
use std::ops::Range;

/// A request that all flows of its barrier have answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    /// The flows that answered it.
    pub(crate) flows: Range<u32>,
    /// When it was asked.
    pub(crate) asked: Picos,
    /// When the last answer had arrived.
    pub(crate) ended: Picos,
    /// When the next one is asked; `None` where there is none.
    pub(crate) next: Option<Picos>,
}

/// The present request of a barrier.
struct Request {
    number: usize,
    asked: Picos,
    /// Answers that have not arrived.
    missing: usize,
    /// When the last of the others arrived.
    last_arrival: Picos,
}

/// All barriers, in the order of their flows.
pub(crate) struct Barriers<'a> {
    barriers: &'a [Barrier],
    requests: Vec<Request>,
}

impl<'a> Barriers<'a> {
    /// Those of a configuration, before its run.
    pub(crate) fn of(config: &'a Config) -> Self {
        let first = |barrier: &Barrier| Request::new(0, barrier.asked, barrier);
        Self { barriers: &config.barriers, requests: config.barriers.iter().map(first).collect() }
    }

    /// The answer of `flow` arrives at `at`: its request, if it was the last one.
    pub(crate) fn answered(&mut self, flow: u32, at: Picos) -> Option<Answered> {
        let index = self.barriers.partition_point(|barrier| barrier.flows.end <= flow);
        let barrier = self.barriers.get(index)?;
        let request = &mut self.requests[index];
        request.missing -= 1;
        request.last_arrival = request.last_arrival.max(at);
        if request.missing > 0 {
            return None;
        }
        let (asked, ended) = (request.asked, request.last_arrival);
        let next = barrier.thinks.get(request.number).map(|think| ended + think);
        *request = Request::new(request.number + 1, next.unwrap_or(NEVER), barrier);
        Some(Answered { flows: barrier.flows.clone(), asked, ended, next })
    }

    /// When each request was asked that is not known to be answered, and the first of its flows.
    pub(crate) fn open(&self) -> impl Iterator<Item = (u32, Picos)> {
        let both = self.barriers.iter().zip(&self.requests);
        both.map(|(barrier, request)| (barrier.flows.start, request.asked))
    }
}

impl Request {
    fn new(number: usize, asked: Picos, barrier: &Barrier) -> Self {
        Self { number, asked, missing: barrier.flows.len(), last_arrival: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_ends_a_request_and_the_next_is_asked_a_pause_later() {
        let barriers = [Barrier { flows: 0..2, asked: 5, thinks: vec![7] }, Barrier::once(3..4, 1)];
        let requests = barriers.iter().map(|each| Request::new(0, each.asked, each)).collect();
        let mut all = Barriers { barriers: &barriers, requests };
        assert_eq!(all.answered(1, 30), None);
        let answered = Answered { flows: 0..2, asked: 5, ended: 30, next: Some(37) };
        assert_eq!(all.answered(0, 20), Some(answered), "it arrived before the other one");
        assert_eq!(all.open().collect::<Vec<_>>(), [(0, 37), (3, 1)]);
        let alone = Answered { flows: 3..4, asked: 1, ended: 9, next: None };
        assert_eq!(all.answered(3, 9), Some(alone));
        assert_eq!(all.open().collect::<Vec<_>>(), [(0, 37), (3, NEVER)]);
    }
}
