//! Links that lose packets by chance, against closed forms.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::config::{Config, Datagram, LossPlace, LossSpec, LossUnit, Source};
use forebay_sim::queue::registry::{NAMES, QueueSpec};
use forebay_sim::report::Report;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

const PACKETS: u64 = 100_000;

/// Datagrams 1 ms apart over a link that is never full: what is missing was lost by it.
fn datagrams(discipline: &str, loss: LossSpec, bytes: u32) -> Config {
    let mut source = flow(MILLISECOND, 0);
    (source.source, source.access_bps) = (Source::Datagrams(0, PACKETS as u32), 1e12);
    let mut spec = link(100e6, 50);
    spec.queue = QueueSpec::by_name(discipline).expect("listed").sized(50, 1500);
    spec.loss = Some(loss);
    let mut made = dumbbell(spec, Profile::ns2(), vec![source]);
    made.datagrams = (0..PACKETS).map(|n| Datagram { at: n * MILLISECOND, bytes }).collect();
    (made.warmup, made.window, made.batches) = (0, PACKETS * MILLISECOND + SECOND, 4);
    made
}

fn lost(report: &Report) -> u64 {
    report.links[0].batches.iter().map(|batch| batch.lost).sum()
}

fn counted(report: &Report) -> (u64, u64, u64) {
    let of = |read: fn(&forebay_sim::meters::link::ClassCounts) -> u64| {
        report.links[0].batches.iter().map(|batch| read(&batch.classes[0])).sum()
    };
    (of(|class| class.arrivals), of(|class| class.drops), of(|class| class.sent))
}

/// Four standard deviations of the share that so many independent packets lose.
fn four_sigma(p: f64) -> f64 {
    4.0 * (p * (1.0 - p) / PACKETS as f64).sqrt()
}

#[test]
fn every_discipline_loses_the_share_at_either_place_and_its_queue_drops_nothing() {
    for name in NAMES {
        for place in [LossPlace::BeforeQueue, LossPlace::AfterQueue] {
            let loss = LossSpec { place, ..LossSpec::bernoulli(0.02) };
            let report = simulate(&datagrams(name, loss, 1500));
            let lost = lost(&report);
            let share = lost as f64 / PACKETS as f64;
            assert!((share - 0.02).abs() < four_sigma(0.02), "{name} {place:?}: {share}");
            let through = if place == LossPlace::AfterQueue { PACKETS } else { PACKETS - lost };
            assert_eq!(counted(&report), (through, 0, through), "{name} {place:?}");
            let decided: (u64, u64) = report.flow_packets[0];
            assert_eq!(decided, (lost, PACKETS - lost), "{name} {place:?}");
        }
    }
}

#[test]
fn a_packet_is_lost_with_any_of_its_bytes() {
    for bytes in [100, 1500] {
        let loss = LossSpec { unit: LossUnit::Byte, ..LossSpec::bernoulli(1e-5) };
        let share = lost(&simulate(&datagrams("pfifo", loss, bytes))) as f64 / PACKETS as f64;
        let expected = 1.0 - (1.0 - 1e-5_f64).powi(bytes as i32);
        assert!((share - expected).abs() < four_sigma(expected), "{share} of {expected}");
    }
}

/// Times from one loss to the next, of packets 1 ms apart.
fn bursts(loss: LossSpec) -> (f64, f64) {
    let mut made = datagrams("pfifo", loss, 1500);
    made.batches = PACKETS as u32 + 1000; // of 1 ms each
    let report = simulate(&made);
    let hit: Vec<_> = report.links[0].batches.iter().map(|batch| batch.lost > 0).collect();
    let starts = hit.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    let total = hit.iter().filter(|&&hit| hit).count() as f64;
    (total / PACKETS as f64, total / starts)
}

#[test]
fn a_gilbert_channel_loses_in_bursts_of_its_length() {
    let burst = LossSpec {
        in_good: 0.0,
        in_bad: 1.0,
        good_to_bad: 0.01,
        bad_to_good: 0.25,
        ..LossSpec::bernoulli(0.0)
    };
    let (share, length) = bursts(burst);
    // p / (p + r) of the packets, in runs of 1 / r: about 960 runs, of which 4 standard deviations.
    assert!((share - 0.01 / 0.26).abs() < 0.0055, "{share}");
    assert!((length - 4.0).abs() < 4.0 * (0.75_f64).sqrt() * 4.0 / 960_f64.sqrt(), "{length}");
}

#[test]
fn the_seed_decides_which() {
    let run = |seed: Picos| {
        let mut made = datagrams("pfifo", LossSpec::bernoulli(0.1), 1500);
        made.seed = seed;
        (made.warmup, made.window, made.batches) = (0, SECOND, 100);
        simulate(&made).links[0].batches.iter().map(|batch| batch.lost).collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// TCP over a long queue that never fills: nothing but the link loses, and what it loses is sent again.
#[test]
fn segments_and_their_losses_are_conserved() {
    let mut spec = link(100e6, 100_000);
    spec.loss = Some(LossSpec::bernoulli(0.01));
    let report = simulate(&dumbbell(spec, Profile::linux(), vec![flow(20 * MILLISECOND, 0)]));
    let (arrivals, drops, _) = counted(&report);
    let lost = lost(&report);
    assert_eq!(drops, 0);
    assert_eq!(report.flow_packets[0].0, lost);
    assert_eq!(report.flow_packets[0].1, arrivals - lost);
    assert!(lost > 50, "{lost}");
}
