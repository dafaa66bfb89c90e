//! What a reading has of what is underway, and what comes first at an instant.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::config::{Config, Datagram, Source};
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::report::Report;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, SECOND};

const BYTES: u32 = 1500;
/// A service takes one millisecond.
const RATE: f64 = 12e6;
/// CoDel's and fq_codel's target is then beyond any delay.
const FIRST_IN_FIRST_OUT: [&str; 4] = ["pfifo", "bfifo", "codel", "fq_codel"];

/// Packets at these times from an endless wire; the last is to be no later than the run.
fn open_loop(packets: Vec<Datagram>) -> Config {
    let mut source = flow(MILLISECOND, 0);
    source.source = Source::Datagrams(0, packets.len() as u32);
    source.access_bps = 1e30;
    let mut config = dumbbell(link(RATE, 100_000), Profile::ns2(), vec![source]);
    (config.warmup, config.window, config.datagrams) = (SECOND, 4 * SECOND, packets);
    config
}

fn named(queue: &str, packets: u32) -> QueueSpec {
    let queue = QueueSpec::by_name(queue).expect("listed").sized(packets, BYTES);
    match queue {
        QueueSpec::Codel(mut params) => {
            params.target = 1000 * SECOND;
            QueueSpec::Codel(params)
        }
        QueueSpec::FqCodel(mut params) => {
            params.target = 1000 * SECOND;
            QueueSpec::FqCodel(params)
        }
        other => other,
    }
}

/// Bytes of each batch whose transmission began, and that receivers counted.
fn sent_and_delivered(report: &Report) -> Vec<(u64, u64)> {
    let links = report.links[0].batches.iter().map(|batch| batch.classes[0].sent_bytes);
    links.zip(report.classes.iter().map(|batch| batch[0].delivered_bytes)).collect()
}

/// Twice what the link can carry: the queue grows by more than a batch sends.
#[test]
fn receivers_count_what_has_left_the_queue() {
    let packet = |i| Datagram { at: i * MILLISECOND / 2, bytes: BYTES };
    let mixed = |i| Datagram { bytes: if i % 8 == 0 { 40 } else { BYTES }, ..packet(i) };
    let packets = [(0..10_000).map(packet).collect(), (0..10_000).map(mixed).collect()];
    for (packets, ring) in packets.iter().flat_map(|packets| [(packets, 0), (packets, 50)]) {
        for queue in FIRST_IN_FIRST_OUT {
            let mut config = open_loop(Vec::clone(packets));
            config.links[0].queue = named(queue, 100_000);
            config.links[0].transmit_ring = ring;
            let report = simulate(&config);
            let whole = (RATE / 8.0 * 4.0) as u64;
            let mut apart = 0;
            for (sent, delivered) in sent_and_delivered(&report) {
                assert!(sent.abs_diff(whole / 10) <= u64::from(BYTES), "{queue} {ring} {sent}");
                apart += sent as i64 - delivered as i64;
                assert!(apart.abs() <= i64::from(BYTES), "{queue} {ring}: on the wire {apart}");
            }
            let delivered: u64 = report.classes.iter().map(|batch| batch[0].delivered_bytes).sum();
            assert_eq!(report.flow_bytes, [delivered]);
        }
    }
}

/// TCP into a buffer that takes all of its slow start: acknowledged or not, it is in the queue.
#[test]
fn a_flow_s_segments_count_once_they_have_left_the_queue() {
    for profile in [Profile::ns2(), Profile::linux()] {
        let flows = (0..20).map(|_| flow(50 * MILLISECOND, 0)).collect();
        let mut config = dumbbell(link(RATE, 100_000), profile, flows);
        (config.warmup, config.window) = (0, 2 * SECOND);
        let report = simulate(&config);
        let (sent, delivered) = sent_and_delivered(&report)
            .into_iter()
            .fold((0, 0), |sum, batch| (sum.0 + batch.0, sum.1 + batch.1));
        assert!(delivered <= sent && sent <= 2 * 1_500_000 + 1500, "{sent} {delivered}");
        assert_eq!(report.flow_bytes.iter().sum::<u64>(), delivered);
    }
}

/// Flow i starts after 300 + i milliseconds and ends after 751 - i; none waits, and no timeout comes.
/// From 400 to 620 ms those begin from 100 on, and of these those end from 132 on.
#[test]
fn flows_that_end_in_the_window_are_told_as_they_end() {
    let one = |i: u64| {
        let mut one = flow((900 - 4 * i) * MILLISECOND, (300 + i) * MILLISECOND);
        one.source = Source::Segments(1);
        one
    };
    let flows = (0..200).map(one).collect();
    let mut config = dumbbell(link(RATE, 100_000), Profile::ns2(), flows);
    (config.warmup, config.window) = (400 * MILLISECOND, 220 * MILLISECOND);
    let took: Vec<u64> =
        simulate(&config).completions[0].iter().map(|took| took / MILLISECOND).collect();
    let whose = (132..200_u64).rev();
    assert_eq!(took, whose.map(|i| 451 - 2 * i).collect::<Vec<u64>>());
}

/// A packet that comes when the wire has just become free finds what that takes off the queue gone.
#[test]
fn a_departure_comes_before_an_arrival_of_the_same_instant() {
    let at = |i: u64| Datagram { at: i.saturating_sub(1) * MILLISECOND, bytes: BYTES };
    for queue in FIRST_IN_FIRST_OUT {
        let mut config = open_loop((0..4000).map(at).collect());
        config.links[0].queue = named(queue, 1);
        config.warmup = 0;
        let report = simulate(&config);
        let counts = report.links[0].batches.iter().map(|batch| batch.classes[0]);
        let (arrivals, drops) =
            counts.fold((0, 0), |sum, batch| (sum.0 + batch.arrivals, sum.1 + batch.drops));
        assert_eq!((arrivals, drops), (4000, 0), "{queue}");
    }
}

/// The same where the departure has been known for longer than the arrival.
#[test]
fn a_departure_comes_before_an_arrival_that_was_planned_after_it() {
    let at = [0, 250, 500, 1000].map(|us| Datagram { at: us * MILLISECOND / 1000, bytes: BYTES });
    for queue in FIRST_IN_FIRST_OUT {
        let mut config = open_loop(at.to_vec());
        config.links[0].queue = named(queue, 2);
        config.warmup = 0;
        let report = simulate(&config);
        let drops: u64 = report.links[0].batches.iter().map(|batch| batch.classes[0].drops).sum();
        assert_eq!(drops, 0, "{queue}");
    }
}

/// Small packets fill the ring, and the large ones behind them find a queue of ten.
#[test]
fn what_waits_in_a_ring_takes_no_bytes_of_the_queue() {
    let small = (0..101).map(|_| Datagram { at: 0, bytes: 64 });
    let large = (0..60).map(|_| Datagram { at: 0, bytes: BYTES });
    let mut config = open_loop(small.chain(large).collect());
    config.links[0].queue = named("bfifo", 10);
    config.links[0].transmit_ring = 100;
    config.warmup = 0;
    let report = simulate(&config);
    let drops: u64 = report.links[0].batches.iter().map(|batch| batch.classes[0].drops).sum();
    assert_eq!(drops, 50);
}

#[test]
fn a_run_without_a_flow_is_silence() {
    let report = simulate(&dumbbell(link(RATE, 10), Profile::linux(), vec![]));
    assert_eq!(report.packets, 0);
    assert!(report.links[0].batches.iter().all(|batch| batch.busy == 0));
    assert_eq!(report.completions, [vec![]]);
}
