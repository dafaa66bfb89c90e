//! A wire of varying rate against sums by hand.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::config::{Config, Datagram, LossSpec, RateTrace, Source};
use forebay_sim::queue::registry::{NAMES, QueueSpec};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};
use std::sync::Arc;

/// 12 Mbit/s for 2 s and 6 Mbit/s for 2 s, again and again: a packet takes 1 ms or 2 ms.
fn two_steps() -> RateTrace {
    RateTrace::new(vec![(0, 12e6), (2 * SECOND, 6e6)], 4 * SECOND, true).expect("valid")
}

/// Packets `gap` apart for 8 s over the two steps.
fn datagrams(discipline: &str, gap: Picos, limit: u32, trace: RateTrace) -> Config {
    let packets = 8 * SECOND / gap;
    let mut source = flow(MILLISECOND, 0);
    (source.source, source.access_bps) = (Source::Datagrams(0, packets as u32), 1e12);
    let mut spec = link(trace.mean_bps(), limit);
    spec.queue = QueueSpec::by_name(discipline).expect("listed").sized(limit, 1500);
    spec.rate_trace = Some(Arc::new(trace));
    let mut made = dumbbell(spec, Profile::ns2(), vec![source]);
    made.datagrams = (0..packets).map(|n| Datagram { at: n * gap, bytes: 1500 }).collect();
    (made.warmup, made.window, made.batches) = (0, 8 * SECOND, 8);
    made
}

#[test]
fn a_full_wire_sends_what_its_rate_allows_in_every_second() {
    for name in NAMES {
        let report = simulate(&datagrams(name, MILLISECOND / 2, 50, two_steps()));
        for (second, batch) in report.links[0].batches.iter().enumerate() {
            let packets = if second % 4 < 2 { 1000 } else { 500 };
            assert!(batch.classes[0].sent.abs_diff(packets) <= 1, "{name} {second}: {batch:?}");
            // At the mean rate, 9 Mbit/s, a packet takes 4/3 ms.
            let busy = packets * 4 * MILLISECOND / 3;
            assert!(batch.busy.abs_diff(busy) < 2 * MILLISECOND / 100, "{name}: {}", batch.busy);
            assert!(batch.classes[0].busy.abs_diff(busy) < 2 * MILLISECOND / 100, "{name}");
        }
    }
}

/// 8 Mbit/s, a packet in 1.5 ms: none waits at 12 Mbit/s. At 6 Mbit/s the queue grows by a packet in 6 ms, from the
/// step at 2 s: 333 wait at 4 s, and the fast wire, which sends 333 a second more than come, has emptied it by 5 s.
#[test]
fn a_queue_grows_and_shrinks_by_the_difference_of_the_rates() {
    let report = simulate(&datagrams("pfifo", MILLISECOND * 3 / 2, 1000, two_steps()));
    let held: Vec<_> = report.links[0].batches.iter().map(|batch| batch.held as i64).collect();
    for (seen, expected) in held.iter().zip([0, 0, 167, 333, 0, 0, 167, 333]) {
        assert!((seen - expected).abs() <= 1, "{held:?}");
    }
    assert_eq!(report.links[0].batches.iter().map(|batch| batch.classes[0].drops).sum::<u64>(), 0);
    // The longest wait is of the packet at 3.5 s: 250 before it, of which the last leaves at 4 s.
    let longest = report.links[0].longest;
    assert!(longest.abs_diff(500 * MILLISECOND) < 10 * MILLISECOND, "{longest}");
}

/// A packet takes 1.5 ms, a whole number of picoseconds: where it does not, a trace rounds up and a plain wire does not.
#[test]
fn a_trace_of_one_rate_is_that_wire() {
    for name in ["pfifo", "red", "pie", "codel", "fq_codel"] {
        let trace = RateTrace::new(vec![(0, 8e6), (SECOND, 8e6)], 2 * SECOND, true).expect("valid");
        let varying = datagrams(name, MILLISECOND, 40, trace);
        let mut plain = varying.clone();
        plain.links[0].rate_trace = None;
        plain.links[0].loss = Some(LossSpec::bernoulli(0.0));
        let (one, other) = (simulate(&varying), simulate(&plain));
        let counts = |report: &forebay_sim::report::Report| {
            let of = &report.links[0].batches;
            of.iter().map(|batch| (batch.held, batch.classes[0].sent)).collect::<Vec<_>>()
        };
        assert_eq!(counts(&one), counts(&other), "{name}");
    }
}

/// 12 Mbit/s but for 1 s to 2 s; a packet in 2 ms. While it is down 500 wait, or are dropped.
#[test]
fn a_link_that_is_down_holds_what_arrives_or_drops_it() {
    for (drops, name) in [(false, "pfifo"), (true, "pfifo"), (false, "codel"), (true, "fq_codel")] {
        let steps = vec![(0, 12e6), (SECOND, 0.0), (2 * SECOND, 12e6)];
        let trace = RateTrace::new(steps, 3 * SECOND, false).expect("valid");
        let mut config = datagrams(name, 2 * MILLISECOND, 1000, trace);
        config.links[0].rate_bps = 12e6;
        config.links[0].drops_while_down = drops;
        let report = simulate(&config);
        let batches = &report.links[0].batches;
        let sent: Vec<_> = batches.iter().map(|batch| batch.classes[0].sent as i64).collect();
        let dropped: u64 = batches.iter().map(|batch| batch.classes[0].drops).sum();
        assert!((sent[0] - 500).abs() <= 1 && sent[1] <= 1, "{name}: {sent:?}");
        if drops {
            assert!(dropped.abs_diff(500) <= 1 && (sent[2] - 500).abs() <= 1, "{name} {sent:?}");
        } else if name == "pfifo" {
            assert!(dropped == 0 && (sent[2] - 1000).abs() <= 1, "{sent:?}");
        }
        // At the rate while it is up.
        assert!(batches[5].busy.abs_diff(SECOND / 2) < MILLISECOND * 2, "{}", batches[5].busy);
    }
}
