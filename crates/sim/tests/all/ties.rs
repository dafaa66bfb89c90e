//! What happens first of all that happens at an instant.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::config::{Config, Datagram, FlowSpec, Route, Source};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, SECOND};

/// Packets that leave their senders every 20, 30 and 60 ms: of those that meet at a queue for one, one is
/// sent, one waits, and one is dropped.
fn meeting(periods_ms: [u64; 3]) -> Config {
    let mut config = dumbbell(link(12e6, 1), Profile::ns2(), vec![]);
    (config.warmup, config.window, config.batches) = (0, 6 * SECOND, 1);
    for period in periods_ms {
        let first = config.datagrams.len() as u32;
        let at = |i| Datagram { at: SECOND + i * period * MILLISECOND, bytes: 1500 };
        config.datagrams.extend((0..4020 / period).map(at));
        let source = Source::Datagrams(first, config.datagrams.len() as u32);
        config.flows.push(FlowSpec { source, ..flow(MILLISECOND, 0) });
    }
    config
}

/// Neither the flow of the lowest number goes first, nor what was scheduled earlier.
#[test]
fn of_packets_that_meet_each_flow_loses_its_share() {
    for periods in [[20, 30, 60], [60, 30, 20], [30, 60, 20]] {
        let report = simulate(&meeting(periods));
        let drops: Vec<u64> = report.flow_packets.iter().map(|&(dropped, _)| dropped).collect();
        let met = drops.iter().sum::<u64>();
        assert_eq!(met, 67, "{periods:?}: they meet every 60 ms from 1 to 5.02 s");
        assert!(drops.iter().all(|each| (12..34).contains(each)), "{periods:?}: {drops:?}");
    }
}

/// A hundred first windows meet at a queue for a hundred packets: no flow is always the one that gets through.
#[test]
fn flows_that_start_together_have_about_the_same() {
    for profile in [Profile::ns2(), Profile::linux()] {
        let flows = (0..100).map(|_| flow(100 * MILLISECOND, 0)).collect();
        let mut config = dumbbell(link(1e9, 100), profile, flows);
        (config.warmup, config.window, config.batches) = (0, 3 * SECOND, 1);
        let bytes = simulate(&config).flow_bytes;
        let (mean, most) = (bytes.iter().sum::<u64>() / 100, *bytes.iter().max().unwrap());
        assert!(most < 10 * mean, "{mean}, {bytes:?}");
    }
}

/// Two streams whose packets meet at the second queue of a network: neither is always the one that loses.
#[test]
fn of_packets_that_meet_behind_equal_links_each_flow_loses() {
    let mut config = meeting([20, 20, 20]);
    config.links = vec![link(12e6, 10), link(12e6, 10), link(12e6, 10), link(12e6, 1)];
    let over = |first| Route { forward: vec![first, 3], backward: vec![] };
    config.routes = vec![over(0), over(1), over(2)];
    for (flow, route) in config.flows.iter_mut().zip(0..) {
        flow.route = route;
    }
    let report = simulate(&config);
    let drops: Vec<u64> = report.flow_packets.iter().map(|&(dropped, _)| dropped).collect();
    let met = drops.iter().sum::<u64>();
    assert!(met > 150 && drops.iter().all(|&each| 5 * each > met), "{drops:?}");
}
