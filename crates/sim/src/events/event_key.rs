//! Whose event it is, and of what kind.
//!
//! Events of the same instant fire in the order of `rank`. Links' dequeues come first, so that a
//! packet that arrives then finds the queue without the packet that leaves it, as where departures are
//! planned on arrival. Then come the flows in an order of the instant, and of each flow the kinds of event as they are
//! listed here: its timer before its ACK. Events of one key fire in the order in which they were scheduled.

use crate::fast::flow_kind::ACK_EVENT_KINDS;
use crate::time::Picos;

/// Whose event it is and of what kind.
pub type EventKey = i32;

/// The timer of a flow's sender, or of its source.
pub(crate) const TIMER: u32 = 0;
// Kinds 1 to `ACK_EVENT_KINDS`: an ACK reaches the sender, one kind for each `FlowKind`.
/// A packet leaves the flow's access link.
pub(crate) const ACCESS: u32 = ACK_EVENT_KINDS + 1;
/// The pacing timer.
pub(crate) const PACE: u32 = ACCESS + 1;
/// The timer of an ACK that the receiver holds back.
pub(crate) const DELACK: u32 = PACE + 1;
/// A packet reaches a queue of its route; a segment any but the first.
pub(crate) const HOP: u32 = DELACK + 1;
/// The application behind the flow stops.
pub(crate) const STOP: u32 = HOP + 1;
/// A flow that waited for others begins its next file.
pub(crate) const NEXT_FILE: u32 = STOP + 1;
const KIND_BITS: u32 = 5;

/// The flow and the kind of an event; of a link's event no flow.
#[inline(always)]
pub(crate) fn decode(key: EventKey) -> (usize, u32) {
    let key = key as u32; // a link's is then that of a flow beyond all others
    ((key >> KIND_BITS) as usize, key & ((1 << KIND_BITS) - 1))
}

/// The key that `decode` takes apart.
#[inline(always)]
pub(crate) fn encode(flow: u32, kind: u32) -> EventKey {
    ((flow << KIND_BITS) + kind) as EventKey
}

/// The place of a key among those of an instant: links, then flows in an order that is another at each instant, then the
/// kinds of a flow as they are listed here. Flows of equal links and paths meet again and again at the same instants
/// (phase effects, Floyd and Jacobson 1991). In one order the same flow would lose each time, and the other none.
#[inline]
pub(super) fn rank(key: EventKey, at: Picos) -> u64 {
    if key < 0 {
        return (key as u32).into();
    }
    // A flow has one number in each order: all steps can be undone.
    let (flow, kind) = decode(key);
    let instant = (at ^ at >> 32) as u32;
    let mixed = (flow as u32 ^ instant.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0x9e37_79b1);
    let order = (mixed ^ mixed >> 15).wrapping_mul(0x2c1b_3c6d);
    1 << 63 | u64::from(order) << KIND_BITS | u64::from(kind)
}

/// The key of a link's dequeue.
#[inline]
pub(crate) fn encode_link(link: usize) -> EventKey {
    EventKey::MIN + link as EventKey
}

/// The link whose dequeue it is.
#[inline]
pub(crate) fn decode_link(key: EventKey) -> usize {
    (key - EventKey::MIN) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MAX_FLOWS;

    #[test]
    fn keys_of_links_come_before_those_of_flows() {
        let last_flow = MAX_FLOWS as u32 - 1;
        let keys = [encode_link(0), encode_link(65_535), encode(0, TIMER), encode(0, HOP)];
        assert!(keys.is_sorted() && keys[3] < encode(1, TIMER));
        assert!(encode(1, TIMER) < encode(last_flow, HOP));
        assert_eq!(decode(encode(last_flow, NEXT_FILE)), (last_flow as usize, NEXT_FILE));
        assert_eq!(decode_link(keys[1]), 65_535);
        assert!(decode(keys[1]).0 >= MAX_FLOWS, "a link is no flow");
    }

    #[test]
    fn links_rank_first_and_a_flow_keeps_the_order_of_its_kinds() {
        let mut firsts = std::collections::HashSet::new();
        for at in (0..200).map(|tick| tick * 12_000_000) {
            let ranked = |flow, kind| rank(encode(flow, kind), at);
            assert!(rank(encode_link(0), at) < rank(encode_link(1), at));
            assert!((0..50).all(|flow| rank(encode_link(65_535), at) < ranked(flow, TIMER)));
            assert!((0..50).all(|flow| ranked(flow, TIMER) < ranked(flow, HOP)));
            firsts.insert((0..50).min_by_key(|&flow| ranked(flow, TIMER)));
        }
        assert!(
            firsts.len() > 40,
            "of 50 flows {} are the first at some of 200 instants",
            firsts.len()
        );
    }
}
