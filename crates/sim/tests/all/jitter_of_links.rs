//! A link behind whose wire packets are delayed by chance, and may overtake each other.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::config::{Config, ConfigError, JitterSpec, Route};
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::report::Report;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

const RTT: Picos = 40 * MILLISECOND;

/// A flow over a link of 10 Mbit/s with jitter, and a fast one behind it.
fn config(jitter: Option<JitterSpec>, profile: Profile, discipline: &str) -> Config {
    let mut config = dumbbell(link(10e6, 60), profile, vec![flow(RTT, 0)]);
    config.links[0].queue = QueueSpec::by_name(discipline).expect("listed").sized(60, 1500);
    config.links[0].jitter = jitter;
    config.links.push(link(1e13, 1_000_000));
    config.routes = vec![Route { forward: vec![0, 1], backward: vec![] }];
    (config.warmup, config.window) = (10 * SECOND, 60 * SECOND);
    config
}

fn jitter(most: Picos, share: f64, reorders: bool) -> Option<JitterSpec> {
    Some(JitterSpec { most, share, reorders })
}

fn retransmissions(report: &Report) -> u64 {
    report.classes.iter().map(|batch| batch[0].retransmissions).sum()
}

/// Of the link's rate, in packets that receivers counted.
fn used(report: &Report) -> f64 {
    let bytes: u64 = report.classes.iter().map(|batch| batch[0].delivered_bytes).sum();
    bytes as f64 * 8.0 / 60.0 / 10e6
}

/// With a window of one segment a round trip takes half of the jitter longer in the mean.
#[test]
fn jitter_delays_packets_evenly() {
    for (reorders, discipline) in [(false, "pfifo"), (true, "pfifo"), (true, "codel")] {
        let profile = Profile { max_window: 1, ..Profile::ns2() };
        let run = |jitter| {
            let mut config = config(jitter, profile.clone(), discipline);
            config.window = 400 * SECOND;
            config.window as f64 / (simulate(&config).flow_bytes[0] / 1500) as f64
        };
        let spread = 20 * MILLISECOND;
        let more = (run(jitter(spread, 1.0, reorders)) - run(None)) / spread as f64;
        assert!((more - 0.5).abs() < 0.02, "{reorders} {discipline}: {more}");
    }
}

#[test]
fn without_reordering_a_flow_loses_nothing_by_jitter() {
    let mut config = config(jitter(5 * MILLISECOND, 1.0, false), Profile::linux(), "pfifo");
    config.profiles[0].max_window = 60;
    let report = simulate(&config);
    assert_eq!(retransmissions(&report), 0);
    assert!(used(&report) > 0.99, "{}", used(&report));
}

/// Nothing is lost: three duplicate ACKs halve a NewReno's window again and again; with RACK a sender takes its first
/// reductions back, and then waits for what is late.
#[test]
fn a_sender_with_rack_learns_of_reordering_and_newreno_does_not() {
    let run = |profile: Profile, most: Picos| {
        let mut config = config(jitter(most, 1.0, true), profile, "pfifo");
        config.profiles[0].max_window = 80;
        let report = simulate(&config);
        assert_eq!(report.links[0].batches.iter().map(|b| b.classes[0].drops).sum::<u64>(), 0);
        (used(&report), retransmissions(&report))
    };
    // A quarter of the least round trip is 10 ms, or more by what waits: this is within it.
    let (used, resent) = run(Profile::linux(), 8 * MILLISECOND);
    assert!(used > 0.97 && resent < 20, "{used} {resent}");
    // Beyond it, DSACKs widen the window.
    let (used, resent) = run(Profile::linux(), 25 * MILLISECOND);
    assert!(used > 0.8 && resent < 400, "{used} {resent}");
    let (used, resent) = run(Profile::ns2(), 8 * MILLISECOND);
    assert!(used < 0.7 && resent > 400, "{used} {resent}");
}

/// One packet in a hundred comes up to 30 ms late, and queues drop too: what is lost is still repaired.
#[test]
fn losses_are_repaired_among_late_packets() {
    for (name, discipline) in [("cubic", "pfifo"), ("bbr", "pfifo"), ("reno", "fq_codel")] {
        let mut config = config(jitter(30 * MILLISECOND, 0.01, true), Profile::linux(), discipline);
        config.flows = (0..4).map(|n| flow(RTT + n * MILLISECOND, n * SECOND)).collect();
        config.flows.iter_mut().for_each(|flow| flow.congestion_control = name);
        let report = simulate(&config);
        assert!(used(&report) > 0.9, "{name}: {}", used(&report));
        assert!(retransmissions(&report) > 0, "{name}");
        let timeouts: u64 = report.classes.iter().map(|batch| batch[0].timeouts).sum();
        assert!(timeouts < 20, "{name}: {timeouts}");
    }
}

#[test]
fn a_link_that_reorders_is_not_the_last() {
    let mut config = config(jitter(MILLISECOND, 1.0, true), Profile::linux(), "pfifo");
    config.routes[0].forward = vec![0];
    assert_eq!(config.check(), Err(ConfigError::ReordersBeforeReceiver));
    config.links[0].jitter = jitter(MILLISECOND, 1.0, false);
    assert_eq!(config.check(), Ok(()));
    config.links[0].transmit_ring = 4;
    assert_eq!(config.check(), Err(ConfigError::RingOfLossyLink));
}
