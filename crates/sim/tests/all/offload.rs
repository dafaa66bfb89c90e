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

/// BBR's pacer releases a burst at a time, or spreads its packets.
#[test]
fn bursts_are_paced_whole_unless_they_are_spread() {
    let singly = Offload { paces_bursts: false, ..Offload::ON };
    let [off, on, singly] =
        [Offload::OFF, Offload::ON, singly].map(|offload| sent(&run("bbr", 40, profile(offload))));
    assert!(on != off && singly != on);
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

/// A flow whose window is a few segments short of a burst waits for the ACK.
#[test]
fn parts_of_bursts_wait_for_an_ack() {
    let never = Offload { deferral: Deferral::Never, ..Offload::ON };
    let half = Offload { deferral: Deferral::HalfRoundTrip, ..Offload::ON };
    let [never, half] = [never, half].map(|offload| run("reno", 100, profile(offload)));
    assert_ne!(sent(&half), sent(&never));
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
