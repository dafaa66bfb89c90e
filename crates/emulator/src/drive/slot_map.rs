//! Numbered slots for connections.

/// Slots whose numbers are reused, but not before `settle`: an event that was already
/// fetched for a connection never reaches another one.
pub(super) struct SlotMap<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
    left: Vec<u32>,
}

impl<T> Default for SlotMap<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), left: Vec::new() }
    }
}

impl<T> SlotMap<T> {
    /// The number that the next `insert` returns.
    pub(super) fn next(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.places.len() as u32)
    }

    /// Stores a value in a free slot and returns its number.
    pub(super) fn insert(&mut self, value: T) -> u32 {
        let place = self.next();
        match self.free.pop() {
            Some(place) => self.places[place as usize] = Some(value),
            None => self.places.push(Some(value)),
        }
        place
    }

    /// The value in a slot.
    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    /// Removes the value of a slot.
    pub(super) fn remove(&mut self, place: u32) -> Option<T> {
        let value = self.places.get_mut(place as usize)?.take();
        if value.is_some() {
            self.left.push(place);
        }
        value
    }

    /// Frees the removed slots, because no event fetched before is left.
    pub(super) fn settle(&mut self) {
        self.free.append(&mut self.left);
    }

    /// All values.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten()
    }

    /// All values, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_given_again_only_after_settling() {
        let mut slot_map = SlotMap::default();
        assert_eq!((slot_map.insert("a"), slot_map.insert("b")), (0, 1));
        assert_eq!(slot_map.remove(0), Some("a"));
        assert_eq!(slot_map.remove(0), None);
        assert_eq!(slot_map.insert("c"), 2);
        slot_map.settle();
        assert_eq!((slot_map.next(), slot_map.insert("d")), (0, 0));
        assert_eq!(slot_map.get_mut(0), Some(&mut "d"));
        assert_eq!(slot_map.iter().count(), 3);
    }
}
