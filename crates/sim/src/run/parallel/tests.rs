//! A run in parts reads the same as one in a piece.

use super::run_in_parts;
use crate::cc;
use crate::config::{Config, File, FlowSpec, LinkSpec, Route, Source, TraceSpec};
use crate::meters::report::Report;
use crate::queue::registry::{NAMES, QueueSpec};
use crate::run::partition::Partition;
use crate::run::simulation::{Control, run, run_on};
use crate::tcp::profile::Profile;
use crate::time::{MICROSECOND, MILLISECOND, Picos, SECOND, serialization};
use proptest::prelude::*;
use std::sync::atomic::Ordering;

fn any_link() -> impl Strategy<Value = LinkSpec> {
    let given = (1e6..50e6, 2_u32..80, 1_u64..6, 0..NAMES.len());
    given.prop_map(|(rate_bps, buffer, delay_ms, discipline)| {
        let queue = QueueSpec::by_name(NAMES[discipline]).expect("listed").sized(buffer, 1500);
        LinkSpec { delay: delay_ms * MILLISECOND, ..LinkSpec::plain(rate_bps, queue) }
    })
}

/// Up to four queues there and two back, all of them different.
fn any_route(links: usize) -> impl Strategy<Value = Route> {
    let order = Just((0..links as u32).collect::<Vec<_>>()).prop_shuffle();
    (order, 1_usize..5, 0_usize..3).prop_map(move |(order, there, back)| {
        let there = there.min(links);
        let back = back.min(links - there);
        Route { forward: order[..there].to_vec(), backward: order[there..there + back].to_vec() }
    })
}

fn any_flow() -> impl Strategy<Value = FlowSpec> {
    let segments = prop_oneof![Just(u64::MAX), 1_u64..200];
    let given = (1_u64..100, 0_u64..1500, segments, 0..cc::NAMES.len(), 0_u16..5, 0_u16..3);
    given.prop_map(|(edge_ms, start_ms, segments, controller, route, class)| FlowSpec {
        class,
        route: route.into(),
        congestion_control: cc::NAMES[controller],
        rtt: edge_ms * MILLISECOND, // `networks` adds the links'
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
    (sized, flows, any::<u64>(), any::<bool>(), any::<bool>()).prop_map(
        |((links, routes), mut flows, seed, jitter, flow_records)| {
            for flow in &mut flows {
                let Route { forward, backward } = &routes[flow.route as usize];
                let queues = forward.iter().chain(backward);
                flow.rtt += queues.map(|&link| links[link as usize].delay).sum::<Picos>();
            }
            let jitter = if jitter { MILLISECOND } else { 0 };
            Config {
                logged_links: if flow_records { links.len() as u32 } else { 0 },
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
                barriers: vec![],
                warmup: SECOND,
                window: 3 * SECOND,
                batches: 3,
                trace: None,
                capture: false,
                flow_records,
                foreign: Default::default(),
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
        (report.flow_records.clone(), report.packet_log.clone()),
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

/// A chain of four links, with so many flows over all of them and over each.
fn chain(delay: Picos) -> Config {
    let queue = QueueSpec::by_name("pfifo").expect("listed").sized(100, 1500);
    let link = LinkSpec { delay, ..LinkSpec::plain(1e9, queue) };
    let over = |forward: Vec<u32>| Route { forward, backward: vec![] };
    let flow = |index: u16| FlowSpec {
        class: 0,
        route: u32::from(index % 5),
        congestion_control: "reno",
        rtt: 100 * MILLISECOND,
        start: u64::from(index) * MILLISECOND, // else all lose together, and hardly send
        source: Source::Segments(u64::MAX),
        packet_bytes: 1500,
        access_bps: 1e9,
    };
    Config {
        links: vec![link; 4],
        routes: vec![
            over(vec![0, 1, 2, 3]),
            over(vec![0]),
            over(vec![1]),
            over(vec![2]),
            over(vec![3]),
        ],
        flows: (0..100).map(flow).collect(),
        seed: 1,
        pools: vec![],
        profiles: vec![Profile::linux()],
        datagrams: vec![],
        files: vec![],
        barriers: vec![],
        warmup: SECOND,
        window: SECOND,
        batches: 1,
        trace: None,
        capture: false,
        flow_records: false,
        logged_links: 0,
        foreign: Default::default(),
    }
}

#[test]
fn a_network_is_split_where_propagation_leaves_time_for_it() {
    let smallest_packet = MICROSECOND * 416 / 1000;
    let split = Partition::of(&chain(10 * MILLISECOND), 2);
    assert_eq!((split.parts, split.lookahead), (2, 10 * MILLISECOND + smallest_packet));
    assert_eq!(Partition::of(&chain(10 * MILLISECOND), 9).parts, 4, "no more than there are links");
    let whole = Partition { parts: 1, by_link: vec![0; 4], lookahead: Picos::MAX };
    assert_eq!(Partition::of(&chain(MICROSECOND), 2), whole, "too few packets in so short a time");
    assert_eq!(Partition::of(&chain(10 * MILLISECOND), 1), whole, "one thread");
}

#[test]
fn what_belongs_together_is_not_split() {
    let with = |change: &dyn Fn(&mut Config)| {
        let mut config = chain(10 * MILLISECOND);
        change(&mut config);
        Partition::of(&config, 2)
    };
    let share =
        |links: &mut [LinkSpec]| links.iter_mut().for_each(|link| link.pool = Some((0, 1.0)));
    assert_eq!(with(&|config: &mut Config| share(&mut config.links)).parts, 1, "one memory");
    let pair = with(&|config: &mut Config| share(&mut config.links[1..3]));
    assert!(pair.parts == 2 && pair.by_link[1] == pair.by_link[2]);
    let files = with(&|config: &mut Config| {
        config.files = vec![File { segments: 100, think: 0 }; 9];
        config.flows[0].source = Source::Files(0, 9);
    });
    assert!(files.parts == 2 && files.by_link[0] == files.by_link[3], "sender and receiver");
    let traced = with(&|config: &mut Config| {
        config.trace = Some(TraceSpec { step: SECOND, ..TraceSpec::default() })
    });
    assert_eq!(traced.parts, 1);
}

/// Nothing has an effect in another part sooner than an ACK that the receiver has held back.
#[test]
fn the_lookahead_is_no_longer_than_the_way_back_of_an_ack() {
    let mut config = chain(10 * MILLISECOND);
    config.links.iter_mut().for_each(|link| link.rate_bps = 1e6);
    config.routes[0].forward = vec![0, 1];
    config.flows.retain(|flow| flow.route == 0);
    config.flows.iter_mut().for_each(|flow| flow.rtt = 12 * MILLISECOND);
    let partition = Partition::given(&config, 2, vec![0, 1, 1, 1]);
    let whole = run(&config, &Control::default()).expect("valid").expect("not stopped");
    let parts = run_in_parts(&config, &Control::default(), &partition).expect("not stopped");
    let access = serialization(1500, 1e9);
    assert_eq!(
        partition.lookahead,
        2 * MILLISECOND + access,
        "an ACK's way back, and the access link"
    );
    assert_eq!(readings(&whole), readings(&parts));
}

#[test]
fn two_threads_read_the_same_as_one_and_stop() {
    let config = chain(10 * MILLISECOND);
    let one = run(&config, &Control::default()).expect("valid").expect("not stopped");
    let two = run_on(&config, &Control::default(), 2).expect("valid").expect("not stopped");
    assert!(one.packets > 100_000);
    assert_eq!(readings(&one), readings(&two));
    let stopped = Control::default();
    stopped.stop.store(true, Ordering::Relaxed);
    assert!(run_on(&config, &stopped, 2).expect("valid").is_none());
}
