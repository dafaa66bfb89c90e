//! Links with a shaper or a policer.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::config::{BucketSpec, Config, Datagram, LinkSpec, Refill, Source};
use forebay_sim::queue::registry::{NAMES, QueueSpec};
use forebay_sim::simulation::{Control, run};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

/// Bc of 10 packets at 10 Mbit/s: Tc is 12 ms.
fn bucket(refill: Refill) -> BucketSpec {
    BucketSpec { rate_bps: 10e6, burst_bytes: 15_000, excess_bytes: 0, refill }
}

fn shaped(discipline: &str, packets: u32, refill: Refill) -> LinkSpec {
    let queue = QueueSpec::by_name(discipline).expect("listed").sized(packets, 1500);
    LinkSpec { shaper: Some(bucket(refill)), queue, ..link(100e6, packets) }
}

/// Datagrams of 1500 B at these times, over one link; all of the run is read.
fn datagrams(link: LinkSpec, times: Vec<Picos>, window: Picos) -> Config {
    let mut source = flow(MILLISECOND, 0);
    (source.source, source.access_bps) = (Source::Datagrams(0, times.len() as u32), 1e12);
    let mut made = dumbbell(link, Profile::ns2(), vec![source]);
    made.datagrams = times.into_iter().map(|at| Datagram { at, bytes: 1500 }).collect();
    (made.warmup, made.window, made.batches) = (0, window, 1);
    made
}

fn constant(rate_bps: f64, seconds: u64) -> Vec<Picos> {
    let gap = (12_000.0 * SECOND as f64 / rate_bps) as Picos;
    (0..seconds * SECOND / gap).map(|n| n * gap).collect()
}

#[test]
fn a_shaper_sends_at_its_rate_whatever_the_discipline() {
    for name in NAMES {
        for refill in [Refill::Continuous, Refill::Interval, Refill::Deficit] {
            let report =
                simulate(&datagrams(shaped(name, 50, refill), constant(20e6, 10), 10 * SECOND));
            let batch = &report.links[0].batches[0];
            let sent = batch.classes[0].sent;
            // 10 Mbit/s for 10 s are 8333 packets; the bucket begins with ten more.
            assert!((8300..=8345).contains(&sent), "{name} {refill:?}: {sent}");
            assert!(batch.busy <= 10 * SECOND, "{name}: {}", batch.busy);
            assert!(batch.busy > 99 * SECOND / 10, "{name}: {}", batch.busy);
        }
    }
}

#[test]
fn a_burst_leaves_at_the_wires_rate_and_the_rest_with_the_tokens() {
    // 24 packets at once: ten leave in 0.12 ms each, ten more at 12 ms, four at 24 ms.
    let made = datagrams(shaped("pfifo", 50, Refill::Interval), vec![0; 24], SECOND);
    let delay_sum = simulate(&made).links[0].batches[0].delay_sum;
    let tx = 120_u128 * MILLISECOND as u128 / 1000;
    let ms = u128::from(MILLISECOND);
    let waits =
        (0..10).sum::<u128>() * tx * 2 + 10 * 12 * ms + (0..4).sum::<u128>() * tx + 4 * 24 * ms;
    // The packets come over an access link of 12 ns each; the first finds all idle.
    assert!(delay_sum.abs_diff(waits) < ms / 100, "{delay_sum} of {waits}");
}

/// Without tokens to keep, packets start as on a wire of the shaper's rate, chosen on arrival or then.
#[test]
fn without_a_burst_packets_start_as_on_a_wire_of_the_rate() {
    for discipline in ["pfifo", "pie", "fq_codel", "cake"] {
        let wait = |spec: LinkSpec| {
            let report = simulate(&datagrams(spec, vec![0; 24], SECOND));
            report.links[0].batches[0].delay_sum
        };
        let queue = QueueSpec::by_name(discipline).expect("listed").sized(50, 1500);
        let of_wire = wait(LinkSpec { queue, ..link(10e6, 50) });
        let of_shaper = wait(shaped(discipline, 50, Refill::Deficit));
        let waits = (0..24).sum::<u128>() * 1200 * u128::from(MILLISECOND) / 1000;
        assert_eq!(of_shaper, of_wire, "{discipline}");
        assert!(of_shaper.abs_diff(waits) < u128::from(MILLISECOND) / 100, "{of_shaper}");
    }
}

/// Three packets at once, then one in each 24 ms that one takes: each waits for two others, 48 ms.
#[test]
fn cake_knows_the_rate_of_its_shaper_and_not_that_of_a_wire() {
    let gap = 24 * MILLISECOND;
    let times: Vec<Picos> = [0, 0].into_iter().chain((0..200).map(|n| n * gap)).collect();
    let drops = |spec: LinkSpec| {
        let report = simulate(&datagrams(spec, times.clone(), 5 * SECOND));
        report.links[0].batches[0].classes[0].drops
    };
    let queue = QueueSpec::by_name("cake").expect("listed").sized(50, 1500);
    let slow = BucketSpec { rate_bps: 0.5e6, ..bucket(Refill::Deficit) };
    let shaped = LinkSpec { shaper: Some(slow), queue: queue.clone(), ..link(100e6, 50) };
    assert_eq!(drops(shaped), 0);
    assert!(drops(LinkSpec { queue, ..link(0.5e6, 50) }) > 0);
}

#[test]
fn a_short_shaping_queue_overflows_in_the_pause_between_two_bursts() {
    // At 10 Mbit/s, 12 ms apart ten packets may go. Between them ten come: a queue of ten holds
    // them, and one of five loses about half.
    let lost = |packets| {
        let made =
            datagrams(shaped("pfifo", packets, Refill::Interval), constant(9.9e6, 10), 10 * SECOND);
        let counts = simulate(&made).links[0].batches[0].classes[0];
        counts.drops as f64 / counts.arrivals as f64
    };
    assert!(lost(12) == 0.0, "{}", lost(12));
    let continuous =
        datagrams(shaped("pfifo", 5, Refill::Continuous), constant(9.9e6, 10), 10 * SECOND);
    assert_eq!(simulate(&continuous).links[0].batches[0].classes[0].drops, 0);
}

#[test]
fn a_policer_loses_what_is_above_its_rate() {
    for name in ["pfifo", "codel"] {
        for refill in [Refill::Continuous, Refill::Interval] {
            let queue = QueueSpec::by_name(name).expect("listed").sized(50, 1500);
            let spec = LinkSpec { policer: Some(bucket(refill)), queue, ..link(100e6, 50) };
            let report = simulate(&datagrams(spec, constant(12.5e6, 10), 10 * SECOND));
            let counts = report.links[0].batches[0].classes[0];
            let loss = counts.drops as f64 / counts.arrivals as f64;
            assert!((loss - 0.2).abs() < 0.002, "{name} {refill:?}: {loss}");
        }
    }
}

#[test]
fn a_bucket_that_holds_no_packet_is_refused() {
    let small = BucketSpec { burst_bytes: 1000, ..bucket(Refill::Continuous) };
    let spec = LinkSpec { shaper: Some(small), ..link(100e6, 50) };
    let refused = run(&datagrams(spec, vec![0], SECOND), &Control::default()).err();
    let told = refused.expect("refused").to_string();
    assert_eq!(told, "a burst of 1000 B holds no packet of 1500 B");
}
