//! Against a sorted set, and the bounds of its memory.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn payload(number: u64) -> Payload {
    Payload::data(number, 0)
}

fn number(event: Event) -> u64 {
    event.payload.seq()
}

fn pop(wheel: &mut Wheel) -> Option<Event> {
    wheel.pop().map(|(event, _)| event)
}

proptest! {
    /// Against a sorted set of (time, key, number), numbers rising as events are scheduled. Spans are
    /// drawn to meet the open slot, other slots and what lies beyond the horizon.
    #[test]
    fn events_fire_in_order_of_time_then_of_key_then_of_scheduling(
        kind in 0_usize..5,
        steps in prop::collection::vec((0_u8..6, 0_u64..100_000, -2..3), 1..400)
    ) {
        let mut wheel = [
            Wheel::new(2, 1000),
            Wheel::for_network(2, 1000),
            Wheel::for_large_network(2, 1000),
            Wheel::for_large_link(2, 1000),
            Wheel { buckets: Some(Box::new(Buckets::new(100, 1000, 16))), ..Wheel::for_large_network(2, 1000) },
        ].into_iter().nth(kind).expect("one of five");
        let (mut model, mut now) = (BTreeSet::<(Picos, EventKey, u64)>::new(), 0);
        for (number_, (step, span, key)) in (0..).zip(steps) {
            if step < 2 {
                let every = key % 2 == 0;
                let limit = if every { u64::MAX } else { now + [span % 40, span][step as usize] };
                let fired = wheel.pop_before(limit);
                let fired = fired.map(|(event, _)| (event.at, event.key, number(event)));
                let due = model.first().is_some_and(|&(at, ..)| at < limit);
                prop_assert_eq!(fired, if due { model.pop_first() } else { None });
                now = fired.map_or(if every { now } else { limit }, |(at, ..)| at);
            } else {
                let at = now + [span % 3, span % 40, span % 5000, span][step as usize - 2];
                wheel.insert(at, key, payload(number_));
                model.insert((at, key, number_));
            }
            let (mut keys, mut scheduled) = (Vec::new(), Vec::new());
            wheel.for_each_key(|key| keys.push(key));
            model.iter().for_each(|&(_, key, _)| scheduled.push(key));
            keys.sort_unstable();
            scheduled.sort_unstable();
            prop_assert_eq!(keys, scheduled);
            let due = model.first().map_or(u64::MAX, |&(at, ..)| at);
            for until in [now, now + 7, now + 100] {
                prop_assert!(due > until || !wheel.is_empty_until(until));
            }
        }
        while let Some(event) = pop(&mut wheel) {
            prop_assert_eq!(Some((event.at, event.key, number(event))), model.pop_first());
        }
        prop_assert!(model.is_empty());
    }
}

#[test]
fn as_many_as_you_like_are_due_at_once() {
    let mut wheel = Wheel::new(16, 1000);
    (0..200_000).for_each(|number| wheel.insert(5, 0, payload(number)));
    (0..200_000).for_each(|number_| assert_eq!(pop(&mut wheel).map(number), Some(number_)));
    assert!(wheel.pop().is_none());
}

/// Flows that start together send together: their packets leave in the slot that is open.
#[test]
fn as_many_as_you_like_join_the_open_slot() {
    let mut wheel = Wheel::new(16, 1000);
    wheel.insert(5, 0, payload(0));
    wheel.insert(6, 0, payload(1));
    assert_eq!(pop(&mut wheel).map(number), Some(0));
    (2..200_000).for_each(|number| wheel.insert(7, 0, payload(number)));
    (1..200_000).for_each(|number_| assert_eq!(pop(&mut wheel).map(number), Some(number_)));
    assert!(wheel.pop().is_none());
}

/// Thousands of flows that start within one slot, in any order of time and key: a walk through a list past each of them would take minutes.
#[test]
fn as_many_as_you_like_join_a_slot_in_any_order() {
    const EVENTS: u64 = 300_000;
    let mut wheel = Wheel::new(1 << 20, 1 << 30);
    let mut model = Vec::new();
    for number_ in 0..EVENTS {
        let (at, key) = (number_ * 7_919 % 1009, (number_ % 3) as EventKey);
        wheel.insert(at, key, payload(number_));
        model.push((at, key, number_));
    }
    model.sort_unstable();
    for (at, _, number_) in model {
        assert_eq!(pop(&mut wheel).map(|event| (event.at, number(event))), Some((at, number_)));
    }
    assert!(wheel.pop().is_none());
}

#[test]
fn a_place_is_used_again() {
    let mut wheel = Wheel::new(16, 1000);
    for now in 0..1000 {
        wheel.insert(now, 0, payload(now));
        wheel.insert(now + 10_000, 0, payload(now));
        wheel.pop();
    }
    assert!(wheel.pool.len() <= 1001, "{}", wheel.pool.len());
}

#[test]
fn an_event_comes_with_whose_is_the_next() {
    let mut wheel = Wheel::new(16, 1000);
    for (at, key) in [(5, 1), (6, 2), (40, 3), (41, 4), (300, 5)] {
        wheel.insert(at, key, Payload::NONE);
    }
    let fired: Vec<_> = std::iter::from_fn(|| wheel.pop()).collect();
    assert!(fired.is_sorted_by(|one, other| one.1 == other.0.key));
    assert_eq!(fired.len(), 5);
}

/// The largest wheel's occupied slots come again behind its frontier.
#[test]
fn the_largest_wheel_says_each_key_once() {
    let mut wheel = Wheel::new(2, 2 * MAX_SLOTS as u64);
    assert_eq!(wheel.slots.len(), MAX_SLOTS);
    for key in 0..5 {
        wheel.insert(1 + 13_000 * key as u64, key, payload(0));
    }
    let mut keys = vec![];
    wheel.for_each_key(|key| {
        keys.push(key);
        assert!(keys.len() < 10, "{keys:?}");
    });
    keys.sort_unstable();
    assert_eq!(keys, [0, 1, 2, 3, 4]);
}
