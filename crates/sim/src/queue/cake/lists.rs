//! The orders in which queues are served: new ones, old ones, and empty ones that come to rest.

use super::flow_queues::QUEUES;

/// One of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    New,
    Old,
    Decaying,
}

/// Circular lists through one pair of tables: a queue is in one of them or in none, and leaves it
/// from anywhere. The head of a list stands behind all queues.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    next: Box<[u16]>,
    previous: Box<[u16]>,
}

impl Lists {
    pub fn new() -> Self {
        // Each, head or queue, alone.
        let alone: Box<[u16]> = (0..QUEUES as u16 + 3).collect();
        Self { next: alone.clone(), previous: alone }
    }

    /// The queue whose turn it is.
    #[inline]
    pub fn first(&self, list: List) -> Option<usize> {
        let first = usize::from(self.next[head(list)]);
        (first < QUEUES).then_some(first)
    }

    /// Out of wherever it is, and to the end of a list.
    #[inline]
    pub fn move_to(&mut self, queue: usize, list: List) {
        self.remove(queue);
        let head = head(list);
        let last = usize::from(self.previous[head]);
        self.join(last, queue);
        self.join(queue, head);
    }

    /// Out of wherever it is, if anywhere.
    #[inline]
    pub fn remove(&mut self, queue: usize) {
        let (before, after) = (self.previous[queue], self.next[queue]);
        self.join(before.into(), after.into());
        self.join(queue, queue);
    }

    fn join(&mut self, before: usize, after: usize) {
        self.next[before] = after as u16;
        self.previous[after] = before as u16;
    }
}

fn head(list: List) -> usize {
    QUEUES + list as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_leaves_from_anywhere_and_joins_at_the_end() {
        let mut lists = Lists::new();
        let all = |lists: &Lists, list| {
            let mut lists = lists.clone();
            let mut found = Vec::new();
            while let Some(queue) = lists.first(list) {
                found.push(queue);
                lists.remove(queue);
            }
            found
        };
        [3, 0, 1023].into_iter().for_each(|queue| lists.move_to(queue, List::New));
        assert_eq!(all(&lists, List::New), [3, 0, 1023]);
        lists.move_to(0, List::Old);
        lists.move_to(3, List::New);
        assert_eq!((all(&lists, List::New), all(&lists, List::Old)), (vec![1023, 3], vec![0]));
        lists.remove(0);
        lists.remove(0);
        assert_eq!((lists.first(List::Old), lists.first(List::Decaying)), (None, None));
    }
}
