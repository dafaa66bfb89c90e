//! What a line adds to packets, in whole runs.

use crate::testbench::{dumbbell, flow, link, simulate, spread};
use forebay_sim::config::{BucketSpec, Config, Datagram, FramingSpec, LinkSpec, Refill, Source};
use forebay_sim::queue::registry::{NAMES, QueueSpec};
use forebay_sim::report::Report;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

/// Each with the bytes that 1500 and 40 of a packet take: an AAL5 trailer and headers in cells; 64/65; a frame.
const FRAMINGS: [(FramingSpec, u32, u32); 3] = [
    (FramingSpec { overhead: 40, least: 0, payload: 48, extra: 5, padded: true }, 1749, 106),
    (FramingSpec { overhead: 30, least: 0, payload: 64, extra: 1, padded: false }, 1554, 72),
    (FramingSpec { overhead: 38, least: 84, payload: 1, extra: 0, padded: false }, 1538, 84),
];

fn busy(report: &Report) -> Picos {
    report.links[0].batches.iter().map(|batch| batch.busy).sum()
}

/// Busy time, bytes and packets of each flow, and the queue: nothing of it knows of bytes on the line.
type Seen = (Picos, Vec<u64>, Vec<(u64, u64)>, Vec<u128>);

fn seen(report: &Report) -> Seen {
    let queue = report.links[0].batches.iter().map(|batch| batch.queue_area).collect();
    (busy(report), report.flow_bytes.clone(), report.flow_packets.clone(), queue)
}

/// Twenty flows of full packets, 800 µs each on the wire.
fn full(name: &str, rate_bps: f64, framing: Option<FramingSpec>) -> Config {
    let queue = QueueSpec::by_name(name).expect("listed").sized(40, 1500);
    let made = LinkSpec { queue, framing, ..link(rate_bps, 40) };
    dumbbell(made, Profile::linux(), spread(20))
}

#[test]
fn full_packets_have_the_rate_that_framing_leaves_them_whatever_the_discipline() {
    for name in NAMES {
        let plain = simulate(&full(name, 15e6, None));
        assert!(busy(&plain) > 5 * SECOND, "{name}");
        for (framing, bytes, _) in FRAMINGS {
            let framed = simulate(&full(name, f64::from(bytes) * 1e4, Some(framing)));
            assert_eq!(seen(&framed), seen(&plain), "{name}, {framing:?}");
        }
    }
}

/// 40 B every millisecond and 1500 B every ten, of which a second of 1 Mbit/s takes all.
fn mixed(made: LinkSpec) -> Config {
    let mut source = flow(MILLISECOND, 0);
    let times = (0..10_000).map(|n: u64| n * MILLISECOND);
    let list: Vec<Datagram> = times
        .map(|at| Datagram { at, bytes: if at % (10 * MILLISECOND) == 0 { 1500 } else { 40 } })
        .collect();
    (source.source, source.access_bps) = (Source::Datagrams(0, list.len() as u32), 1e12);
    let mut config = dumbbell(made, Profile::ns2(), vec![source]);
    (config.datagrams, config.warmup, config.window, config.batches) = (list, 0, 10 * SECOND, 1);
    config
}

#[test]
fn small_packets_take_their_cells_their_block_or_the_least_frame() {
    for (framing, large, small) in FRAMINGS {
        for shaped in [false, true] {
            let bucket = BucketSpec {
                rate_bps: 9e6,
                burst_bytes: 3000,
                excess_bytes: 0,
                refill: Refill::Continuous,
            };
            let shaper = shaped.then_some(bucket);
            let made = LinkSpec { framing: Some(framing), shaper, ..link(10e6, 100) };
            let report = simulate(&mixed(made));
            // Each packet's time is whole picoseconds.
            let bits = 8 * Picos::from(1000 * large + 9000 * small);
            let expected = bits * (SECOND / 1_000_000) / if shaped { 9 } else { 10 };
            assert!(expected.abs_diff(busy(&report)) < 10_000, "{framing:?}, shaped: {shaped}");
            let lost: u64 = report.classes[0].iter().map(|batch| batch.drops).sum();
            assert_eq!(lost, 0);
        }
    }
}
