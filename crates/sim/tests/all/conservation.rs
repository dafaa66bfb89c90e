//! On random networks: what leaves one queue of a route reaches the next, none of it overtaken.
//!
//! That no datagram without ECN overtakes another of its source is asserted where they are received
//! (`app_source`).

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::cc;
use forebay_sim::config::{Config, Datagram, File, FlowSpec, LinkSpec, Route, Source};
use forebay_sim::queue::registry::{NAMES, QueueSpec};
use forebay_sim::report::Report;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};
use proptest::prelude::*;

const DATAGRAMS: u32 = 200;
const FILES: u32 = 4;
/// The last quarter of the window is far longer than all queues together can delay a packet.
const BATCHES: u32 = 4;
const WINDOW: Picos = 800 * SECOND;

fn any_link() -> impl Strategy<Value = LinkSpec> {
    let given = (0.5e6..50e6, 1_u32..120, 0_u64..6, 0..NAMES.len(), any::<bool>());
    given.prop_map(|(rate, buffer, delay_ms, discipline, shares)| {
        let mut made = link(rate, buffer);
        made.queue = QueueSpec::by_name(NAMES[discipline]).expect("listed").sized(buffer, 1500);
        made.delay = delay_ms * MILLISECOND;
        made.pool = shares.then_some((0, 2.0));
        made
    })
}

/// Up to four queues there and three back, all of them different.
fn any_route(links: usize) -> impl Strategy<Value = Route> {
    let order = Just((0..links as u32).collect::<Vec<_>>()).prop_shuffle();
    (order, 1_usize..5, 0_usize..4).prop_map(move |(order, there, back)| {
        let there = there.min(links);
        let back = back.min(links - there);
        Route { forward: order[..there].to_vec(), backward: order[there..there + back].to_vec() }
    })
}

fn any_flow(routes: usize) -> impl Strategy<Value = FlowSpec> {
    let sources = prop_oneof![
        4 => (1_u64..150).prop_map(Source::Segments),
        1 => (0..FILES).prop_map(|first| Source::Files(first, FILES)),
        2 => (0..DATAGRAMS).prop_map(|first| Source::Datagrams(first, DATAGRAMS)),
    ];
    let given = (30_u64..120, 0_u64..3000, sources, 0..cc::NAMES.len(), 0..routes, 64_u32..1500);
    given.prop_map(|(rtt_ms, start_ms, source, controller, route, packet_bytes)| FlowSpec {
        congestion_control: cc::NAMES[controller],
        source,
        route: route as u32,
        packet_bytes,
        ..flow(rtt_ms * MILLISECOND, start_ms * MILLISECOND)
    })
}

/// Each flow is a class of its own, so that each link counts its packets apart.
fn networks() -> impl Strategy<Value = Config> {
    let links = prop::collection::vec(any_link(), 1..8);
    let sized = links.prop_flat_map(|links| {
        let routes = prop::collection::vec(any_route(links.len()), 1..5);
        (Just(links), routes)
    });
    let flows = prop::collection::vec(any_flow(4), 1..10);
    (sized, flows, any::<[bool; 2]>()).prop_map(|((links, routes), mut flows, on)| {
        for (class, flow) in (0..).zip(&mut flows) {
            flow.class = class;
            flow.route = flow.route.min(routes.len() as u32 - 1);
        }
        let mut config = dumbbell(link(1e6, 1), Profile::ns2(), flows);
        let profile = |i: usize| {
            let mut made =
                if i.is_multiple_of(2) == on[0] { Profile::linux() } else { Profile::ns2() };
            made.jitter = if on[1] && i.is_multiple_of(3) { MILLISECOND } else { 0 };
            made
        };
        config.profiles = (0..config.flows.len()).map(profile).collect();
        let at = |i: u32| u64::from(i) * 7 * MILLISECOND;
        config.datagrams =
            (0..DATAGRAMS).map(|i| Datagram { at: at(i), bytes: 40 + i * 977 % 1460 }).collect();
        let file = |i: u32| File { segments: 1 + u64::from(37 * i % 90), think: at(i) };
        config.files = (0..FILES).map(file).collect();
        (config.links, config.routes, config.pools) = (links, routes, vec![100_000]);
        (config.warmup, config.window, config.batches) = (0, WINDOW, BATCHES);
        config
    })
}

/// Packets of a class that reached a link's queue, and those that it did not drop.
fn in_and_out(report: &Report, link: u32, class: usize) -> (u64, u64) {
    let batches = report.links[link as usize].batches.iter();
    batches.map(|batch| batch.classes[class]).fold((0, 0), |(reached, left), counts| {
        (reached + counts.arrivals, left + counts.arrivals - counts.drops)
    })
}

proptest! {
    #[test]
    fn packets_are_conserved_at_each_hop(config in networks()) {
        let report = simulate(&config);
        for (class, flow) in config.flows.iter().enumerate() {
            let batches = report.classes.iter().map(|batch| batch[class]);
            let sent: u64 = batches.clone().map(|batch| batch.sent_segments).sum();
            let silent = report.classes[BATCHES as usize - 1][class].sent_segments == 0;
            let route = &config.routes[flow.route as usize];
            let (mut before, mut dropped) = (sent, 0);
            for &link in &route.forward {
                let (reached, left) = in_and_out(&report, link, class);
                prop_assert!(reached <= before, "link {link}: {reached} of {before}");
                prop_assert!(!silent || reached == before, "link {link}: {reached} of {before}");
                dropped += reached - left;
                before = left;
            }
            let counted = report.flow_packets[class];
            prop_assert!(!silent || counted == (dropped, before), "{counted:?}, {dropped} {before}");
            let acks = route.backward.iter().map(|&link| in_and_out(&report, link, class));
            let acks: Vec<_> = acks.collect();
            prop_assert!(acks.first().is_none_or(|first| first.0 <= before), "{acks:?} for {before}");
            for pair in acks.windows(2) {
                prop_assert!(pair[1].0 <= pair[0].1, "{acks:?}");
                prop_assert!(!silent || pair[1].0 == pair[0].1, "{acks:?}");
            }
            // Whoever is silent has come to its end, and every segment has been received.
            if let Source::Segments(segments) = flow.source {
                let received: u64 = batches.map(|batch| batch.delivered_segments).sum();
                prop_assert!(received <= segments.min(before));
                prop_assert!(!silent || received == segments, "{received} of {segments}");
            }
        }
    }
}
