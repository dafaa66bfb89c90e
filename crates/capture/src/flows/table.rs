//! All active flows, in bounded memory.

use super::flow::{Flow, NONE};
use super::one_way::OneWay;
use super::tally::Tally;
use crate::packet::FlowKey;
use foldhash::fast::RandomState;
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashTable};
use std::hash::{BuildHasher, Hasher};

/// Flows allocated at a time, so that growing never copies them.
const CHUNK: usize = 1 << 12;
/// Places checked for idle flows at each new flow: twice as many, so that all are checked in time.
const SWEEP: usize = 2;
/// Places from which the longest-idle flow is removed if the table is full.
const SAMPLED: usize = 64;
/// Connections of which only data is seen that are watched at a time: a state takes some kB.
const ONE_WAY: usize = 1 << 12;

/// Flows by key. A flow idle for `idle_ns` has ended; later packets are of a new flow.
pub struct Table {
    index: HashTable<u32>,
    chunks: Vec<Vec<Flow>>,
    free: Vec<u32>,
    used: Vec<u64>,
    /// Connections of which only data was seen, by place.
    one_way: HashMap<u32, OneWay, RandomState>,
    state: RandomState,
    hand: usize,
    idle_ns: u64,
    most: usize,
    /// Place of the last packet's flow: the next is often of the same flow.
    recent: u32,
    /// Active flows that were removed because the table was full.
    pub crowded_out: u64,
    /// Maximum number of active flows.
    pub peak: usize,
}

impl Table {
    /// Makes a table of at most `most` flows, which end when idle for `idle_ns`.
    pub fn new(most: usize, idle_ns: u64) -> Self {
        Self {
            index: HashTable::new(),
            chunks: Vec::new(),
            free: Vec::new(),
            used: Vec::new(),
            one_way: HashMap::default(),
            state: RandomState::default(),
            hand: 0,
            idle_ns,
            most: most.clamp(1, NONE as usize - 1),
            recent: NONE,
            crowded_out: 0,
            peak: 0,
        }
    }

    /// The flow in an occupied place.
    pub fn flow(&mut self, place: u32) -> &mut Flow {
        &mut self.chunks[place as usize / CHUNK][place as usize % CHUNK]
    }

    /// The state of a connection of which only data was seen, if it is one of those watched.
    pub fn one_way(&mut self, place: u32) -> Option<&mut OneWay> {
        let (bases, full) = (self.flow(place).rtt.bases, self.one_way.len() >= ONE_WAY);
        match self.one_way.entry(place) {
            Entry::Vacant(_) if full => None,
            entry => Some(entry.or_insert_with(|| OneWay::new(bases.0, bases.1))),
        }
    }

    /// The place of a packet's flow, which is added if it is new.
    pub fn place(&mut self, key: &FlowKey, now_ns: u64, on_link: bool, tally: &mut Tally) -> u32 {
        let found = self.find(key);
        if let Some(place) = found {
            let idle_ns = self.idle_ns;
            let flow = self.flow(place);
            let first_on_link = on_link && !flow.is_on_link(); // it was seen at other interfaces
            if first_on_link || now_ns - flow.last_ns > idle_ns {
                let peer = flow.peer;
                let old = std::mem::replace(flow, Flow::new(*key, now_ns, on_link));
                flow.peer = peer;
                self.one_way.remove(&place);
                old.finish(tally);
            }
            self.recent = place;
            return place;
        }
        self.sweep(now_ns, tally);
        if self.index.len() >= self.most {
            self.crowd_out(tally);
        }
        let place = self.insert(Flow::new(*key, now_ns, on_link));
        self.introduce(place, key);
        self.recent = place;
        place
    }

    /// Ends all flows.
    pub fn finish(&mut self, tally: &mut Tally) {
        for place in 0..self.places() {
            if self.is_used(place) {
                self.remove(place as u32, tally);
            }
        }
    }

    fn find(&mut self, key: &FlowKey) -> Option<u32> {
        if self.recent != NONE && self.flow(self.recent).key == *key {
            return Some(self.recent);
        }
        let hash = hash(&self.state, key);
        let chunks = &self.chunks;
        self.index.find(hash, |&place| at(chunks, place).key == *key).copied()
    }

    fn insert(&mut self, flow: Flow) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| self.grow(flow));
        *self.flow(place) = flow;
        self.used[place as usize / 64] |= 1 << (place % 64);
        let (state, chunks) = (&self.state, &self.chunks);
        let again = |&place: &u32| hash(state, &at(chunks, place).key);
        self.index.insert_unique(hash(state, &flow.key), place, again);
        self.peak = self.peak.max(self.index.len());
        place
    }

    fn grow(&mut self, flow: Flow) -> u32 {
        let place = self.places();
        if place.is_multiple_of(CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
            self.used.resize((place + CHUNK) / 64, 0);
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(flow);
        }
        place as u32
    }

    fn places(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    fn is_used(&self, place: usize) -> bool {
        self.used[place / 64] >> (place % 64) & 1 == 1
    }

    /// Links the two directions of a connection.
    fn introduce(&mut self, place: u32, key: &FlowKey) {
        let reversed = key.reversed();
        let hash = hash(&self.state, &reversed);
        let chunks = &self.chunks;
        let found = self.index.find(hash, |&other| at(chunks, other).key == reversed).copied();
        if let Some(other) = found.filter(|&other| other != place) {
            for (one, other) in [(place, other), (other, place)] {
                let flow = self.flow(one);
                flow.peer = other;
                flow.rtt.meet();
                self.one_way.remove(&one);
            }
        }
    }

    fn sweep(&mut self, now_ns: u64, tally: &mut Tally) {
        for _ in 0..SWEEP.min(self.places()) {
            self.hand = (self.hand + 1) % self.places();
            let place = self.hand;
            if self.is_used(place) && now_ns - self.flow(place as u32).last_ns > self.idle_ns {
                self.remove(place as u32, tally);
            }
        }
    }

    fn crowd_out(&mut self, tally: &mut Tally) {
        let places = self.places();
        let sampled = (1..=SAMPLED.min(places)).map(|k| (self.hand + k) % places);
        let candidates: Vec<usize> = sampled.filter(|&place| self.is_used(place)).collect();
        let silent = candidates.into_iter().min_by_key(|&place| self.flow(place as u32).last_ns);
        self.hand = (self.hand + SAMPLED) % places;
        if let Some(place) = silent {
            self.remove(place as u32, tally);
            self.crowded_out += 1;
        }
    }

    fn remove(&mut self, place: u32, tally: &mut Tally) {
        let flow = *self.flow(place);
        let hash = hash(&self.state, &flow.key);
        if let Ok(entry) = self.index.find_entry(hash, |&other| other == place) {
            entry.remove();
        }
        if flow.peer != NONE {
            self.flow(flow.peer).peer = NONE;
        }
        self.used[place as usize / 64] &= !(1 << (place % 64));
        self.one_way.remove(&place);
        self.free.push(place);
        if self.recent == place {
            self.recent = NONE;
        }
        flow.finish(tally);
    }
}

fn at(chunks: &[Vec<Flow>], place: u32) -> &Flow {
    &chunks[place as usize / CHUNK][place as usize % CHUNK]
}

fn hash(state: &RandomState, key: &FlowKey) -> u64 {
    let half = |bytes: &[u8]| bytes.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    let mut hasher = state.build_hasher();
    for address in [&key.from, &key.to] {
        hasher.write_u64(half(&address[..8]));
        hasher.write_u64(half(&address[8..]));
    }
    let ports = u64::from(key.from_port) << 16 | u64::from(key.to_port);
    hasher.write_u64(ports << 8 | u64::from(key.protocol));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u32) -> FlowKey {
        let mut from = [0; 16];
        from[..4].copy_from_slice(&n.to_be_bytes());
        FlowKey { from, to: [9; 16], from_port: 1, to_port: 2, protocol: 17 }
    }

    #[test]
    fn a_live_flow_takes_at_most_200_bytes() {
        // An index at its emptiest, 7/16, holds 4 bytes and a tag a flow; a bit says it is used.
        let bytes = size_of::<Flow>() as f64 + 5.0 * 16.0 / 7.0 + 4.0 / 8.0 + 0.125;
        assert!(bytes <= 200.0, "{bytes}");
    }

    #[test]
    fn flows_end_after_silence_and_the_table_has_a_bound() {
        let (mut table, mut tally) = (Table::new(100, 1_000), Tally::default());
        for n in 0..10_000 {
            let place = table.place(&key(n), u64::from(n) * 10, true, &mut tally);
            table.flow(place).packet(u64::from(n) * 10, 100, None, &mut tally);
        }
        assert!(table.peak <= 100 && table.places() <= 101);
        table.finish(&mut tally);
        assert_eq!(tally.tuples, 10_000, "none is forgotten");
        let (mut table, mut tally) = (Table::new(100_000, 1_000), Tally::default());
        for n in 0..10_000u32 {
            table.place(&key(n), u64::from(n) * 10, true, &mut tally);
        }
        assert!(table.peak < 400, "those that ended have gone: {}", table.peak);
        assert_eq!(table.crowded_out, 0);
    }

    #[test]
    fn both_directions_know_each_other_until_one_has_gone() {
        let (mut table, mut tally) = (Table::new(10, 1_000), Tally::default());
        let one = table.place(&key(1), 0, true, &mut tally);
        let other = table.place(&key(1).reversed(), 0, true, &mut tally);
        assert_eq!((table.flow(one).peer, table.flow(other).peer), (other, one));
        table.remove(one, &mut tally);
        assert_eq!(table.flow(other).peer, NONE);
    }
}
