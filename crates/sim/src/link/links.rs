//! All links of a network, and the memory that some of them share.

use super::{Link, Verdict};
use crate::packet::Packet;
use crate::queue::shared::SharedBuffer;
use crate::time::Picos;
use std::ops::{Deref, DerefMut};

/// The links of a network by number.
pub struct Links {
    links: Vec<Link>,
    /// Bytes of each memory that links share.
    pools: Vec<u64>,
}

impl Links {
    /// `links` that share memories of so many bytes (`LinkSpec::pool` says which).
    pub fn new(links: Vec<Link>, pools: Vec<u64>) -> Self {
        Self { links, pools }
    }

    /// A packet of a class arrives at a link's queue. `None` where more has to be known of it: nothing was done
    /// then, and `enqueue` is to be asked.
    #[inline(always)]
    pub fn try_enqueue_fast(&mut self, now: Picos, link: usize, class: u16) -> Option<Verdict> {
        self.links[link].try_enqueue_fast(now, class)
    }

    /// A packet arrives at a link's queue. Others that are dropped because of it go to `lost`.
    #[inline(always)]
    pub fn enqueue(
        &mut self,
        now: Picos,
        link: usize,
        packet: &Packet,
        lost: &mut Vec<Packet>,
    ) -> Verdict {
        let shared = self.links[link].pool;
        if shared.is_some_and(|shared| !self.memory_admits(now, link, packet.bytes, shared)) {
            self.links[link].refuse(now, packet.class);
            return Verdict::Dropped;
        }
        self.links[link].enqueue(now, packet, lost)
    }

    /// Whether the memory that a link shares has room for so many bytes more.
    #[inline(never)]
    fn memory_admits(
        &mut self,
        now: Picos,
        link: usize,
        bytes: u32,
        (pool, alpha): (usize, f64),
    ) -> bool {
        let shares = |other: &&mut Link| other.pool.is_some_and(|(index, _)| index == pool);
        let used = self.links.iter_mut().filter(shares).map(|other| other.bytes_held(now)).sum();
        let memory = SharedBuffer::holding(self.pools[pool], used);
        memory.admits(self.links[link].bytes_held(now), bytes, alpha)
    }
}

impl Deref for Links {
    type Target = [Link];

    #[inline(always)]
    fn deref(&self) -> &[Link] {
        &self.links
    }
}

impl DerefMut for Links {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }
}

impl IntoIterator for Links {
    type Item = Link;
    type IntoIter = std::vec::IntoIter<Link>;

    fn into_iter(self) -> Self::IntoIter {
        self.links.into_iter()
    }
}
