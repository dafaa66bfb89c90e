//! A queue in a ring whose size is a power of two: what every packet passes through.

use prefetch_index::prefetch_index;
use std::ops::{Index, IndexMut};

/// A ring is not made smaller than this.
const LEAST: usize = 8;

/// Grows as needed, and shrinks when told to.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Box<[T]>,
    head: u32,
    len: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { slots: Box::default(), head: 0, len: 0 }
    }
}

impl<T: Copy + Default> Index<usize> for Ring<T> {
    type Output = T;

    /// # Panics
    /// There are not as many.
    #[inline(always)]
    fn index(&self, offset: usize) -> &T {
        self.get(offset).expect("an entry of the ring")
    }
}

impl<T: Copy + Default> IndexMut<usize> for Ring<T> {
    #[inline(always)]
    fn index_mut(&mut self, offset: usize) -> &mut T {
        self.get_mut(offset).expect("an entry of the ring")
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Entries in it.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The oldest.
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { Some(&self.slots[self.head as usize]) }
    }

    /// Calls both ends into the cache, and the one that `offset` others are older than, or any.
    #[inline(always)]
    pub fn prefetch(&self, offset: usize) {
        prefetch_index(&self.slots, self.head as usize);
        prefetch_index(&self.slots, self.place(offset as u32));
        prefetch_index(&self.slots, self.place(self.len));
    }

    /// The one that `offset` others are older than.
    #[inline(always)]
    pub fn get(&self, offset: usize) -> Option<&T> {
        if offset >= self.len() { None } else { Some(&self.slots[self.place(offset as u32)]) }
    }

    /// The one that `offset` others are older than, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, offset: usize) -> Option<&mut T> {
        let place = self.place(offset as u32);
        if offset >= self.len() { None } else { Some(&mut self.slots[place]) }
    }

    /// How many from entry `offset` on come before the first that `is_sought`.
    #[inline(always)]
    pub fn position_from(&self, offset: usize, is_sought: impl Fn(&T) -> bool) -> Option<usize> {
        let left = self.len().checked_sub(offset)?;
        let place = self.place(offset as u32);
        let here = &self.slots[place..self.slots.len().min(place + left)];
        here.iter().position(&is_sought).or_else(|| {
            let rest = self.slots[..left - here.len()].iter().position(is_sought);
            rest.map(|passed| here.len() + passed)
        })
    }

    /// Forgets the oldest `count`; there are as many.
    #[inline(always)]
    pub fn drop_oldest(&mut self, count: usize) {
        debug_assert!(count <= self.len());
        self.head = self.place(count as u32) as u32;
        self.len -= count as u32;
    }

    /// The newest.
    #[inline(always)]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        let last = self.place(self.len.wrapping_sub(1));
        if self.len == 0 { None } else { self.slots.get_mut(last) }
    }

    /// Adds the newest.
    #[inline(always)]
    pub fn push_back(&mut self, value: T) {
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.slots[place] = value;
        self.len += 1;
    }

    /// Adds the newest `count`, alike.
    #[inline]
    pub fn push_alike(&mut self, value: T, count: u32) {
        while (self.len + count) as usize > self.slots.len() {
            self.grow();
        }
        for _ in 0..count {
            let place = self.place(self.len);
            self.slots[place] = value;
            self.len += 1;
        }
    }

    /// Takes the oldest. One that is empty then goes on where it began, in a line of the cache that
    /// is at hand.
    #[inline(always)]
    pub fn pop_front(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.drop_oldest(1);
        if self.len == 0 {
            self.head = 0;
        }
        Some(value)
    }

    /// Takes the newest.
    #[inline(always)]
    pub fn pop_back(&mut self) -> Option<T> {
        let value = *self.back_mut()?;
        self.len -= 1;
        Some(value)
    }

    #[inline(always)]
    fn place(&self, offset: u32) -> usize {
        self.head.wrapping_add(offset) as usize & self.slots.len().wrapping_sub(1)
    }

    /// Gives back room where less than a quarter of it is in use: a small ring stays in the cache.
    #[inline(always)]
    pub fn fit(&mut self) {
        let room = self.slots.len();
        if room > LEAST && room > 4 * self.len() {
            self.resize((2 * self.len()).next_power_of_two().max(LEAST));
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.resize((2 * self.slots.len()).max(4));
    }

    #[cold]
    fn resize(&mut self, room: usize) {
        let mut slots = Vec::with_capacity(room);
        let end = self.slots.len().min(self.head as usize + self.len());
        slots.extend_from_slice(&self.slots[self.head as usize..end]);
        slots.extend_from_slice(&self.slots[..self.len() - slots.len()]);
        slots.resize(room, T::default());
        self.slots = slots.into_boxed_slice();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_deque(steps in prop::collection::vec((0_u8..8, any::<u32>()), 0..300)) {
            let (mut ring, mut model) = (Ring::default(), VecDeque::new());
            for (step, value) in steps {
                match step {
                    0 | 4 | 5 => prop_assert_eq!(ring.pop_front(), model.pop_front()),
                    1 if value % 8 == 0 => ring.fit(),
                    1 if value % 4 == 1 => prop_assert_eq!(ring.pop_back(), model.pop_back()),
                    2 => {
                        ring.push_alike(value, value % 12);
                        model.extend((0..value % 12).map(|_| value));
                    }
                    _ => {
                        ring.push_back(value);
                        model.push_back(value);
                    }
                }
                prop_assert_eq!(ring.len(), model.len());
                prop_assert_eq!(ring.front(), model.front());
                prop_assert_eq!(ring.back_mut(), model.back_mut());
            }
        }
    }

    #[test]
    fn what_no_longer_needs_its_room_gives_it_back() {
        let mut ring = Ring::default();
        (0..100).for_each(|value| ring.push_back(value));
        ring.fit();
        assert_eq!(ring.slots.len(), 128, "it is full");
        ring.drop_oldest(95);
        ring.fit();
        assert_eq!((ring.slots.len(), ring.front(), ring.len()), (16, Some(&95), 5));
        ring.drop_oldest(5);
        ring.fit();
        assert_eq!(ring.slots.len(), LEAST);
    }
}
