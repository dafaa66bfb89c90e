//! A run in parts reads the same as one in a piece.

use super::partition::Partition;
use super::run::run_in_parts;
use crate::cc;
use crate::config::{Config, FlowSpec, LinkSpec, Route, Source};
use crate::queue::registry::{NAMES, QueueSpec};
use crate::report::Report;
use crate::simulation::{Control, run};
use crate::tcp::profile::Profile;
use crate::time::{MILLISECOND, SECOND};
use proptest::prelude::*;

fn any_link() -> impl Strategy<Value = LinkSpec> {
    let given = (1e6..50e6, 2_u32..80, 1_u64..6, 0..NAMES.len());
    given.prop_map(|(rate_bps, buffer, delay_ms, discipline)| LinkSpec {
        rate_bps,
        queue: QueueSpec::by_name(NAMES[discipline]).expect("listed").sized(buffer, 1500),
        transmit_ring: 0,
        pool: None,
        delay: delay_ms * MILLISECOND,
        shaper: None,
        policer: None,
    })
}

/// Up to four queues there and two back, all of them different.
fn any_route(links: usize) -> impl Strategy<Value = Route> {
    let order = Just((0..links as u16).collect::<Vec<_>>()).prop_shuffle();
    (order, 1_usize..5, 0_usize..3).prop_map(move |(order, there, back)| {
        let there = there.min(links);
        let back = back.min(links - there);
        Route { forward: order[..there].to_vec(), backward: order[there..there + back].to_vec() }
    })
}

fn any_flow() -> impl Strategy<Value = FlowSpec> {
    let segments = prop_oneof![Just(u64::MAX), 1_u64..200];
    let given = (40_u64..150, 0_u64..1500, segments, 0..cc::NAMES.len(), 0_u16..5, 0_u16..3);
    given.prop_map(|(rtt_ms, start_ms, segments, controller, route, class)| FlowSpec {
        class,
        route,
        congestion_control: cc::NAMES[controller],
        rtt: rtt_ms * MILLISECOND,
        start: start_ms * MILLISECOND,
        source: Source::Segments(segments),
        packet_bytes: 1500,
        access_bps: 1e9,
    })
}

fn networks() -> impl Strategy<Value = Config> {
    let links = prop::collection::vec(any_link(), 2..8);
    let sized = links.prop_flat_map(|links| {
        let routes = prop::collection::vec(any_route(links.len()), 5);
        (Just(links), routes)
    });
    let flows = prop::collection::vec(any_flow(), 1..12);
    (sized, flows, any::<u64>(), any::<bool>()).prop_map(
        |((links, routes), flows, seed, jitter)| {
            let jitter = if jitter { MILLISECOND } else { 0 };
            Config {
                links,
                routes,
                flows,
                seed,
                pools: vec![],
                profiles: vec![
                    Profile::linux(),
                    Profile::ns2(),
                    Profile { jitter, ..Profile::linux() },
                ],
                datagrams: vec![],
                files: vec![],
                warmup: SECOND,
                window: 3 * SECOND,
                batches: 3,
                trace: None,
                capture: false,
            }
        },
    )
}

/// What a report says, but for the number of events: of these, parts have some that a whole network saves.
fn readings(report: &Report) -> impl PartialEq + std::fmt::Debug + use<> {
    let links = report.links.iter().map(|link| {
        let delays = (link.delay.counts(), link.delay.edges(), link.longest, link.held_at_first);
        (link.batches.clone(), delays)
    });
    (
        links.collect::<Vec<_>>(),
        report.classes.clone(),
        report.rtt.iter().map(|rtt| (rtt.counts(), rtt.edges())).collect::<Vec<_>>(),
        (report.completions.clone(), report.unfinished.clone()),
        (report.flow_bytes.clone(), report.flow_packets.clone(), report.packets),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn parts_read_the_same_as_the_whole(
        config in networks(),
        by_link in prop::collection::vec(0_u8..3, 7),
    ) {
        let partition = Partition::given(&config, 3, by_link[..config.links.len()].to_vec());
        // Else it takes long.
        prop_assume!(partition.lookahead > MILLISECOND / 4);
        let whole = run(&config, &Control::default()).expect("valid").expect("not stopped");
        let parts = run_in_parts(&config, &Control::default(), &partition).expect("not stopped");
        prop_assert_eq!(readings(&whole), readings(&parts));
    }
}
