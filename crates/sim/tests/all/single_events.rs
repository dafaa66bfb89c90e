//! Packets that go on without an event, because nothing else happens before: to the digit as with one.

use crate::properties::{cases, scenarios};
use crate::testbench::{dumbbell, link, simulate, spread};
use forebay_sim::config::{Config, FlowSpec, JitterSpec, LossSpec, Route, Source};
use forebay_sim::queue::registry::{NAMES, QueueSpec};
use forebay_sim::report::{LinkReport, Report};
use forebay_sim::simulation::{Control, run_on};
use forebay_sim::tcp::offload::{Deferral, Offload};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, SECOND};
use proptest::prelude::*;

const CONTROLS: [&str; 6] = ["reno", "cubic", "bbr", "bbr3", "dctcp", "prague"];

/// All readings but the number of events.
fn assert_same(one: &Report, other: &Report, what: &str) {
    for (one, other) in one.links.iter().zip(&other.links) {
        assert_eq!(one.batches, other.batches, "{what}");
        let waits = |link: &LinkReport| {
            let by_class: Vec<_> =
                link.delays.iter().map(|class| class.counts().to_vec()).collect();
            (link.delay.counts().to_vec(), by_class, link.longest, link.held_at_first)
        };
        assert_eq!(waits(one), waits(other), "{what}");
    }
    assert_eq!(one.classes, other.classes, "{what}");
    let round_trips = |report: &Report| {
        report.rtt.iter().map(|class| class.counts().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(round_trips(one), round_trips(other), "{what}");
    assert_eq!(one.flow_bytes, other.flow_bytes, "{what}");
    assert_eq!(one.flow_packets, other.flow_packets, "{what}");
    assert_eq!(one.completions, other.completions, "{what}");
    assert_eq!(one.unfinished, other.unfinished, "{what}");
    assert_eq!(one.capture, other.capture, "{what}");
    assert_eq!(one.flow_records, other.flow_records, "{what}");
    assert_eq!(one.packet_log, other.packet_log, "{what}");
    assert_eq!(one.packets, other.packets, "{what}");
}

fn with_single_events(config: &Config, threads: usize) -> Report {
    let control = Control { single_events: true, ..Control::default() };
    run_on(config, &control, threads).expect("valid").expect("not stopped")
}

fn offloads() -> impl Strategy<Value = Offload> {
    let deferral = prop_oneof![
        Just(Deferral::Never),
        Just(Deferral::HalfRoundTrip),
        Just(Deferral::Millisecond)
    ];
    let switched = (any::<[bool; 4]>(), deferral).prop_map(|(on, deferral)| Offload {
        autosizing: on[0],
        deferral,
        grows_buffers: on[1],
        paces_bursts: on[2],
        queues_bursts: on[3],
    });
    prop_oneof![2 => Just(Offload::ON), 1 => switched]
}

/// A random scenario whose hosts send bursts, with loss, jitter and readings of single packets.
fn bursts() -> impl Strategy<Value = Config> {
    let added = (offloads(), any::<[bool; 5]>(), 0_u64..20, 1.0..20.0);
    (scenarios(), added).prop_map(|(mut config, (offload, on, delay, faster))| {
        config.profiles.iter_mut().for_each(|profile| profile.offload = offload);
        let last = config.links.len() - 1;
        for (index, link) in config.links.iter_mut().enumerate() {
            let jitter =
                JitterSpec { most: MILLISECOND, share: 0.3, reorders: on[2] && index < last };
            link.rate_bps *= faster;
            link.delay = delay * MILLISECOND;
            link.loss = on[0].then(|| LossSpec::bernoulli(0.02));
            link.jitter = on[1].then_some(jitter);
            if on[0] || on[1] {
                link.transmit_ring = 0;
            }
        }
        let links = 2 * config.links.len() as u64 * delay * MILLISECOND;
        config.flows.iter_mut().for_each(|flow| flow.rtt += links);
        config.capture = on[3] && config.links.len() == 1 && config.routes[0].backward.is_empty();
        (config.flow_records, config.logged_links) = (on[4], u32::from(on[4]));
        config
    })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn an_event_for_each_packet_changes_no_reading(config in bursts()) {
        assert_same(&simulate(&config), &with_single_events(&config, 1), "random");
    }
}

/// Flows of one control over a link so fast that their bursts overtake each other, with events in sorted buckets and in slots.
fn fast(control: &'static str, queue: &str, flows: u64) -> Config {
    let mut profile = Profile { offload: Offload::ON, ..Profile::linux() };
    profile.ecn = matches!(control, "dctcp" | "prague");
    let made = |flow: FlowSpec| FlowSpec {
        congestion_control: control,
        access_bps: 10e9,
        rtt: flow.rtt / 4,
        start: flow.start / 10,
        ..flow
    };
    let mut config =
        dumbbell(link(1e9, 300), profile, spread(flows).into_iter().map(made).collect());
    config.links[0].queue = QueueSpec::by_name(queue).expect("listed").sized(300, 1500);
    (config.warmup, config.window) = (SECOND / 10, SECOND / 2);
    config
}

#[test]
fn bursts_on_a_fast_link_are_the_same_in_every_queue() {
    for (queue, control) in NAMES.iter().flat_map(|queue| CONTROLS.map(|control| (*queue, control)))
    {
        let config = fast(control, queue, 60);
        let (plain, single) = (simulate(&config), with_single_events(&config, 1));
        assert_same(&plain, &single, &format!("{control}, {queue}"));
        assert!(plain.events < single.events, "{control}, {queue}: {} events", plain.events);
    }
}

#[test]
fn a_thousand_flows_that_lose_much_are_the_same() {
    for control in ["cubic", "bbr", "bbr3"] {
        let mut config = fast(control, "pfifo", 1000);
        config.profiles.push(config.profiles[0].clone());
        config.flows.iter_mut().step_by(2).for_each(|flow| flow.class = 1);
        assert_same(&simulate(&config), &with_single_events(&config, 1), control);
    }
}

#[test]
fn bursts_over_several_links_are_the_same_in_one_thread_and_in_two() {
    for control in CONTROLS {
        let mut config = fast(control, "pfifo", 80);
        let more = [link(0.9e9, 200), link(1.1e9, 250), link(5e9, 1000)];
        config.links.extend(more);
        config.links.iter_mut().for_each(|link| link.delay = 2 * MILLISECOND);
        let route = |forward: &[u32], backward: &[u32]| Route {
            forward: forward.to_vec(),
            backward: backward.to_vec(),
        };
        config.routes = vec![route(&[0, 1], &[]), route(&[2], &[3]), route(&[0, 1, 2], &[3])];
        for (flow, nth) in config.flows.iter_mut().zip(0_u16..) {
            flow.route = u32::from(nth % 3) as _;
            flow.source = if nth % 4 == 0 { Source::Segments(400) } else { flow.source };
        }
        let single = with_single_events(&config, 1);
        assert_same(&simulate(&config), &single, control);
        let two = run_on(&config, &Control::default(), 2).expect("valid").expect("not stopped");
        assert_same(&two, &single, control);
        assert_same(&with_single_events(&config, 2), &single, control);
    }
}
