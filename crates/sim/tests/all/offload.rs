//! What a queue sees of hosts with segmentation offload.

use crate::testbench::{dumbbell, flow, link, simulate, spread};
use forebay_sim::config::{Config, FlowSpec, Source};
use forebay_sim::report::Report;
use forebay_sim::tcp::offload::{Deferral, Offload};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, SECOND};

fn profile(offload: Offload) -> Profile {
    Profile { offload, ..Profile::linux() }
}

fn run(control: &'static str, packets: u32, profile: Profile) -> Report {
    simulate(&config(control, packets, profile))
}

/// 20 flows over 200 Mbit/s.
fn config(control: &'static str, packets: u32, profile: Profile) -> Config {
    let flow = |flow| FlowSpec { congestion_control: control, ..flow };
    dumbbell(link(200e6, packets), profile, spread(20).into_iter().map(flow).collect())
}

fn sent(report: &Report) -> u64 {
    report.flow_bytes.iter().sum()
}

/// BBR's pacer spreads single packets; bursts of fast flows need room in the queue.
#[test]
fn paced_bursts_are_dropped_more() {
    // Ten flows over 1 Gbit/s with a tenth of a bandwidth-delay product; off is 0.4 to 0.6 of on, by the flows' starts.
    let drops = |offload| {
        let mut config = config("bbr", 167, profile(offload));
        (config.links[0].rate_bps, config.window) = (1e9, 5 * SECOND);
        config.flows.truncate(10);
        for (flow, nth) in config.flows.iter_mut().zip(1..) {
            (flow.rtt, flow.access_bps) = (19 * MILLISECOND + nth * MILLISECOND / 5, 10e9);
        }
        simulate(&config).flow_packets.iter().map(|&(dropped, _)| dropped).sum::<u64>()
    };
    let (off, on) = (drops(Offload::OFF), drops(Offload::ON));
    assert!(4 * on > 5 * off, "{on} above {off}");
    let singly = Offload { paces_bursts: false, ..Offload::ON };
    let [on, singly] = [Offload::ON, singly].map(|offload| run("bbr", 40, profile(offload)));
    assert_ne!(sent(&singly), sent(&on));
}

/// Without any of its mechanisms it is what it was before, packet for packet.
#[test]
fn bursts_of_one_are_no_bursts() {
    for control in ["reno", "cubic", "bbr", "bbr3"] {
        let off = run(control, 100, profile(Offload::OFF));
        let one = Offload { paces_bursts: true, ..Offload::OFF };
        let on = run(control, 100, profile(one));
        assert_eq!((off.classes, off.flow_bytes), (on.classes, on.flow_bytes), "{control}");
    }
}

/// A lone flow of a near receiver: the queue gets bursts of 64 KiB at the access link's rate.
#[test]
fn a_near_receiver_gets_bursts_of_64_kib() {
    let longest = |offload| {
        let mut near = flow(MILLISECOND, 0);
        near.source = Source::Segments(u64::MAX);
        near.congestion_control = "bbr";
        near.access_bps = 10e9;
        let config = dumbbell(link(1e9, 1000), profile(offload), vec![near]);
        simulate(&config).links[0].longest
    };
    let (off, on) = (longest(Offload::OFF), longest(Offload::ON));
    assert!(on > off, "{on} above {off}");
}

/// A flow whose window is a few segments short of a burst waits for the ACK: its packets then wait in the queue for each other.
#[test]
fn parts_of_bursts_wait_for_an_ack() {
    let mean_wait = |deferral| {
        let offload = Offload { deferral, ..Offload::ON };
        let profile = Profile { max_window: 83, ..profile(offload) };
        let near = FlowSpec { access_bps: 10e9, ..flow(MILLISECOND, 0) };
        let report = simulate(&dumbbell(link(1e9, 10_000), profile, vec![near]));
        let batches = report.links[0].batches.iter();
        let (sum, packets) = batches.fold((0, 0), |(sum, packets), batch| {
            (sum + u64::try_from(batch.delay_sum).unwrap(), packets + batch.classes[0].accepted)
        });
        sum / packets
    };
    let (never, half) = (mean_wait(Deferral::Never), mean_wait(Deferral::HalfRoundTrip));
    assert!(half > 10 * never, "{half} above {never}");
}

/// Everything arrives once, whatever the bursts, also with a short access link and few segments.
#[test]
fn transfers_end() {
    for segments in [1, 2, 3, 45, 46, 1000] {
        let short = FlowSpec {
            source: Source::Segments(segments),
            access_bps: 20e6,
            ..flow(20 * MILLISECOND, 6 * SECOND)
        };
        let report = simulate(&dumbbell(link(10e6, 50), profile(Offload::ON), vec![short]));
        assert_eq!(report.completions[0].len(), 1, "{segments}");
    }
}
