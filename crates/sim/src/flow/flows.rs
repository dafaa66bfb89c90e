//! All flows of a run, or of a part of one, by their number: those that are made and not yet freed.

use super::Flow;

/// The flows by their number.
pub(crate) struct Flows {
    /// All of them, in a run that frees none: side by side, without a look at where each lies.
    kept: Vec<Flow>,
    /// Those of a run that frees some.
    made: Vec<Option<Box<Flow>>>,
    /// What those that are freed have counted, by flow; empty where none ever is.
    freed: Vec<Delivered>,
}

/// What a flow's receiver and its queues have counted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Delivered {
    /// Bytes in order.
    pub(crate) bytes: u64,
    /// Packets that queues dropped.
    pub(crate) drops: u32,
}

impl Delivered {
    fn by(flow: &Flow) -> Self {
        Self { bytes: flow.counts().received_bytes, drops: flow.route.drops }
    }
}

impl Flows {
    /// So many, of which none is made.
    pub(crate) fn of(flows: usize, some_are_freed: bool) -> Self {
        let freed = vec![Delivered::default(); if some_are_freed { flows } else { 0 }];
        let (kept, apart) = if some_are_freed { (0, flows) } else { (flows, 0) };
        let made = (0..apart).map(|_| None).collect();
        Self { kept: Vec::with_capacity(kept), made, freed }
    }

    /// A flow that is made and not freed.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<&Flow> {
        self.kept.get(index).or_else(|| self.made.get(index)?.as_deref())
    }

    /// See `get`.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut Flow> {
        self.kept.get_mut(index).or_else(|| self.made.get_mut(index)?.as_deref_mut())
    }

    /// The flow of a packet on its way.
    #[inline(always)]
    pub(crate) fn of_packet(&mut self, index: u32) -> &mut Flow {
        self.get_mut(index as usize).expect("not freed while a packet is on its way")
    }

    /// Those that are made and not freed, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Flow> {
        self.kept.iter().chain(self.made.iter().filter_map(Option::as_deref))
    }

    /// See `iter`.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Flow> {
        self.kept.iter_mut().chain(self.made.iter_mut().filter_map(Option::as_deref_mut))
    }

    /// Adds one that is made.
    pub(crate) fn make(&mut self, flow: Flow) -> &mut Flow {
        let index = flow.index() as usize;
        if self.made.is_empty() {
            self.kept.push(flow);
            return &mut self.kept[index];
        }
        self.made[index].insert(Box::new(flow))
    }

    /// Frees one of those of which some are freed.
    pub(crate) fn free(&mut self, index: u32) {
        if let Some(flow) = self.made[index as usize].take() {
            self.freed[index as usize] = Delivered::by(&flow);
        }
    }

    /// What each flow's receiver and its queues have counted.
    pub(crate) fn delivered(&self) -> impl Iterator<Item = Delivered> {
        let freed = |index: usize| self.freed.get(index).copied().unwrap_or_default();
        let flows = self.made.iter().enumerate();
        let made = flows
            .map(move |(index, flow)| flow.as_deref().map_or_else(|| freed(index), Delivered::by));
        self.kept.iter().map(Delivered::by).chain(made)
    }
}
