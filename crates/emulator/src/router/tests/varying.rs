//! Links that vary: rates over time, outages, loss of their own, jitter.

use super::super::Side;
use super::super::packet::tests::segment;
use super::super::recorder::RouterReadings;
use super::{MICRO, Seen, drain, link, plan, router, send, times, to_right};
use forebay_sim::time::{Picos, SECOND};
use serde_json::{Value, json};

/// A million bits in the first millisecond, none in the second, half as many in each one after.
fn varying() -> Value {
    let mut link = link(100);
    link["rate_bps"] = json!(50e6);
    link["rate_trace"] = json!({
        "steps": [[0, 100e6], [SECOND / 1000, 0.0], [SECOND / 500, 50e6]],
        "period_ps": SECOND / 250, "repeats": false,
    });
    link
}

#[test]
fn a_wire_of_varying_rate_sends_as_its_trace_says() {
    let (mut router, mut seen) = (router(plan(vec![varying()], &[(&[0], &[])])), Seen::default());
    for _ in 0..10 {
        send(&mut router, &mut seen, 0, Side::Left, &segment(to_right(0), 1500, 0));
    }
    drain(&mut router, &mut seen);
    let sent = times(&seen);
    assert_eq!(sent[..8], [1, 2, 3, 4, 5, 6, 7, 8].map(|number| number * 120 * MICRO));
    // 40 µs of the ninth are sent before the pause of a millisecond, and 80 µs at half the rate after it.
    assert_eq!(sent[8..], [2160 * MICRO, 2400 * MICRO]);
}

#[test]
fn what_comes_while_the_link_is_down_waits_or_is_dropped() {
    for (drops, delivered) in [(false, 1), (true, 0)] {
        let mut link = varying();
        link["drops_while_down"] = json!(drops);
        let (mut router, mut seen) = (router(plan(vec![link], &[(&[0], &[])])), Seen::default());
        let down = 1500 * MICRO;
        send(&mut router, &mut seen, down, Side::Left, &segment(to_right(0), 1500, 0));
        drain(&mut router, &mut seen);
        assert_eq!(seen.delivered.len(), delivered);
        assert_eq!(router.finish().classes[0][0].drops, 1 - delivered as u64);
    }
}

#[test]
fn a_link_loses_packets_of_its_own_and_counts_them_apart() {
    for before_queue in [false, true] {
        let mut link = link(100);
        link["loss"] = json!({
            "in_good": 0.5, "in_bad": 0.5, "good_to_bad": 0.0, "bad_to_good": 1.0,
            "unit": "packet", "place": if before_queue { "before-queue" } else { "after-queue" },
        });
        let (mut router, mut seen) = (router(plan(vec![link], &[(&[0], &[])])), Seen::default());
        for number in 0..400 {
            let at = number * 120 * MICRO;
            send(&mut router, &mut seen, at, Side::Left, &segment(to_right(0), 1500, 0));
        }
        drain(&mut router, &mut seen);
        let RouterReadings { links, classes, .. } = router.finish();
        let lost = 400 - seen.delivered.len() as u64;
        assert!((150..250).contains(&lost), "half of 400 with a deviation of 10: {lost}");
        let batch = &links[0].batches[0];
        assert_eq!((batch.lost, classes[0][0].drops), (lost, lost));
        assert_eq!(batch.classes[0].drops, 0, "the queue has dropped none");
        let carried = if before_queue { 400 - lost } else { 400 };
        assert_eq!(batch.busy, carried * 120 * MICRO);
    }
}

#[test]
fn jitter_delays_packets_and_none_overtakes_another() {
    let mut link = link(100);
    link["jitter"] = json!({"most_ps": 1000 * MICRO, "share": 1.0});
    let (mut router, mut seen) = (router(plan(vec![link], &[(&[0], &[])])), Seen::default());
    for number in 0..200 {
        let at = number * 500 * MICRO;
        send(&mut router, &mut seen, at, Side::Left, &segment(to_right(0), 1500, 0));
    }
    drain(&mut router, &mut seen);
    let late: Vec<_> = times(&seen)
        .into_iter()
        .zip(0..)
        .map(|(at, number): (Picos, Picos)| at - (number * 500 + 120) * MICRO)
        .collect();
    assert!(late.iter().all(|&late| late <= 1000 * MICRO));
    assert!(late.iter().any(|&late| late > 500 * MICRO));
    assert!(times(&seen).is_sorted());
}
