//! What holds for every scenario, on random small ones.

use crate::testbench::{dumbbell, flow, link, simulate, spread, traced, utilization};
use forebay_sim::cc;
use forebay_sim::config::{Config, Datagram, File, FlowSpec, LinkSpec, Route, Source};
use forebay_sim::queue::registry::{NAMES, QueueSpec};
use forebay_sim::report::{ClassBatch, LinkReport, Report};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, SECOND};
use proptest::prelude::*;
use proptest::test_runner::{FailurePersistence, FileFailurePersistence};

/// Packets that sources send, and files that users fetch.
const PACKETS: u64 = 300;
const FILES: u64 = 20;

fn sources() -> impl Strategy<Value = Source> {
    prop_oneof![
        3 => Just(Source::Segments(u64::MAX)),
        3 => (1_u64..200).prop_map(Source::Segments),
        1 => (0..PACKETS as u32).prop_map(|first| Source::Datagrams(first, PACKETS as u32)),
        1 => (0..FILES as u32).prop_map(|first| Source::Files(first, FILES as u32)),
    ]
}

/// A few flows of any size and timing, of two classes.
fn flows() -> impl Strategy<Value = Vec<FlowSpec>> {
    let one = (1_u64..60_000, 0_u64..2_000, sources(), 0..4_usize, 64_u32..9000);
    let made = (one, 0..cc::NAMES.len(), 0_u16..2).prop_map(|(made, cc, class)| {
        let (rtt_us, start_ms, source, access, bytes) = made;
        let mut spec = flow(rtt_us * MILLISECOND / 1000, start_ms * MILLISECOND);
        spec.congestion_control = cc::NAMES[cc];
        spec.source = source;
        spec.access_bps = [1e6, 10e6, 1e9, 1e12][access];
        spec.packet_bytes = bytes;
        spec.class = class;
        spec
    });
    prop::collection::vec(made, 1..12)
}

/// One to three links with any discipline, perhaps in one shared memory.
fn links() -> impl Strategy<Value = Vec<LinkSpec>> {
    let one = (0.5e6..50e6, 1_u32..200, 0_u32..8, 0..NAMES.len(), any::<bool>());
    let made = one.prop_map(|(rate, buffer, ring, discipline, shares)| {
        let mut made = link(rate, buffer);
        made.queue = QueueSpec::by_name(NAMES[discipline]).expect("listed").sized(buffer, 1500);
        made.transmit_ring = ring;
        made.pool = shares.then_some((0, 2.0));
        made
    });
    prop::collection::vec(made, 1..4)
}

/// A shipped one, or one with its switches thrown.
fn profiles() -> impl Strategy<Value = Profile> {
    let switches = any::<[bool; 13]>();
    let switched =
        (switches, 1_u32..20, prop::option::of(2_u32..100)).prop_map(|(on, initial, most)| {
            let mut profile = if on[0] { Profile::linux() } else { Profile::ns2() };
            profile.delayed_ack = on[1].then_some(40 * MILLISECOND);
            profile.initial_window = initial;
            profile.max_window = most.unwrap_or(u32::MAX);
            profile.ecn = on[2];
            profile.jitter = if on[3] { 5 * MILLISECOND } else { 0 };
            profile.timer_tick = if on[1] && on[4] { MILLISECOND } else { 0 };
            profile.sack = on[4];
            profile.prr = on[5];
            profile.rack = on[6];
            profile.tail_loss_probe = on[7];
            profile.f_rto = on[8];
            profile.timeout_reduces_again = on[9];
            profile.small_queues = on[10];
            profile.timestamps = on[11];
            profile.validates_window = on[12];
            profile
        });
    prop_oneof![Just(Profile::linux()), Just(Profile::ns2()), switched]
}

/// Any of it together.
pub fn scenarios() -> impl Strategy<Value = Config> {
    let given = (flows(), links(), [profiles(), profiles()], any::<bool>(), 0_u64..2);
    given.prop_map(|(flows, links, profiles, back, warmup)| {
        let mut config = dumbbell(link(1e6, 1), Profile::ns2(), flows);
        config.profiles = profiles.to_vec();
        let packet = |i| Datagram { at: i * 10 * MILLISECOND, bytes: 40 + (i * 977 % 1460) as u32 };
        config.datagrams = (0..PACKETS).map(packet).collect();
        let file = |i| File { segments: 1 + 13 * i % 90, think: 90 * MILLISECOND * (i % 3) };
        config.files = (0..FILES).map(file).collect();
        config.warmup = warmup * SECOND;
        config.window = 3 * SECOND;
        config.batches = 3;
        config.pools = vec![100_000];
        let all: Vec<u32> = (0..links.len() as u32).collect();
        // ACKs share the data's own queues: the hardest way back there is.
        let backward = if back { all.iter().rev().copied().collect() } else { vec![] };
        config.routes = vec![Route { forward: all, backward }];
        config.links = links;
        config
    })
}

fn packets_at(report: &Report, link: usize) -> (u64, u64) {
    let classes = report.links[link].batches.iter().flat_map(|batch| &batch.classes);
    classes
        .fold((0, 0), |(arrivals, drops), class| (arrivals + class.arrivals, drops + class.drops))
}

/// What once failed is kept beside this file, and tried first. `PROPTEST_CASES` says how many cases are new.
pub fn cases() -> ProptestConfig {
    let kept = FileFailurePersistence::WithSource("proptest-regressions");
    let failure_persistence = Some(Box::new(kept) as Box<dyn FailurePersistence>);
    ProptestConfig { failure_persistence, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn physics_holds(config in scenarios()) {
        let report = simulate(&config);
        for link in &report.links {
            for batch in &link.batches {
                let span = config.window / u64::from(config.batches);
                prop_assert!(batch.busy <= span);
                prop_assert_eq!(batch.queue_time.iter().sum::<u64>(), span);
            }
        }
        for link in 0..config.links.len() {
            let (arrivals, drops) = packets_at(&report, link);
            prop_assert!(drops <= arrivals);
        }
        let classes: Vec<_> = report.classes.iter().flatten().collect();
        let bytes: u64 = report.flow_bytes.iter().sum();
        prop_assert_eq!(bytes, classes.iter().map(|class| class.delivered_bytes).sum::<u64>());
        if config.warmup == 0 {
            let sum = |count: fn(&ClassBatch) -> u64| classes.iter().map(|&class| count(class)).sum();
            let (sent, drops): (u64, u64) = (sum(|class| class.sent_segments), sum(|class| class.drops));
            prop_assert!(drops + sum(|class| class.delivered_segments) <= sent);
            let last = &report.links[config.links.len() - 1].batches;
            let left: u64 = last.iter().flat_map(|batch| &batch.classes).map(|class| class.sent_bytes).sum();
            prop_assert!(bytes <= left, "{bytes} of {left}");
        }
    }

    #[test]
    fn closer_readings_agree_and_disturb_nothing(config in scenarios()) {
        let (plain, close) = (simulate(&config), simulate(&traced(config.clone(), 7 * MILLISECOND)));
        prop_assert_eq!(&plain.flow_bytes, &close.flow_bytes);
        prop_assert_eq!(&plain.classes, &close.classes);
        for (index, link) in close.links.iter().enumerate() {
            let detail = link.detail.as_ref().expect("asked for");
            let (busy, idle) = (&detail.periods.busy, &detail.periods.idle);
            prop_assert_eq!(busy.total + idle.total, config.window);
            prop_assert_eq!(busy.total, link.batches.iter().map(|batch| batch.busy).sum::<u64>());
            let numbers = [busy, idle].map(|each| each.lengths.counts().iter().sum::<u64>());
            prop_assert!(numbers[0].abs_diff(numbers[1]) <= 1, "they take turns");
            prop_assert_eq!(detail.queue_seen_by_arrivals.iter().sum::<u64>(), packets_at(&close, index).0);
        }
    }

    #[test]
    fn the_same_configuration_gives_the_same_report(config in scenarios()) {
        let (one, two) = (simulate(&config), simulate(&config));
        prop_assert_eq!(one.events, two.events);
        prop_assert_eq!(one.flow_bytes, two.flow_bytes);
        prop_assert_eq!(one.classes, two.classes);
    }
}

/// A link that a packet of another size might cross keeps its packets; any other does not.
#[test]
fn a_silent_flow_of_another_size_changes_no_reading() {
    let mut second = Profile::linux();
    second.ack_bytes = Profile::ns2().ack_bytes;
    for (name, rate, detailed) in
        [("pfifo", 12e6, false), ("bfifo", 12e6, true), ("red", 12e6, false)]
    {
        let mut config = dumbbell(link(rate, 30), Profile::ns2(), spread(20));
        config.links[0].queue = QueueSpec::by_name(name).expect("listed").sized(30, 1500);
        config.links.extend([link(13e6, 25), link(0.22e6, 20)]);
        config.profiles.push(second.clone());
        config.routes = vec![Route { forward: vec![0, 1], backward: vec![2] }];
        config.flows.iter_mut().step_by(3).for_each(|flow| flow.class = 1);
        if detailed {
            config = traced(config, 10 * MILLISECOND);
        }
        let uniform = simulate(&config);
        let mut silent = flow(100 * MILLISECOND, 1000 * SECOND);
        silent.packet_bytes = 9000;
        config.flows.push(silent);
        config.routes.push(Route { forward: vec![0, 1, 2], backward: vec![] });
        config.flows[20].route = 1;
        let kept = simulate(&config);
        for (one, two) in uniform.links.iter().zip(&kept.links) {
            assert!(one.batches == two.batches, "{name}");
            assert_eq!(one.delay.counts(), two.delay.counts(), "{name}");
            let seen = |link: &LinkReport| {
                link.detail.as_ref().map(|detail| detail.queue_seen_by_arrivals.clone())
            };
            assert_eq!(seen(one), seen(two), "{name}");
        }
        assert_eq!(uniform.classes, kept.classes, "{name}");
        assert_eq!(uniform.flow_bytes, kept.flow_bytes[..20], "{name}");
        for link in [0, 2] {
            assert!(packets_at(&uniform, link).1 > 10, "{name}: nothing lost at {link}");
        }
    }
}

/// Over a whole run from silence to silence: what was sent is what arrived and what was dropped.
#[test]
fn packets_are_conserved() {
    let mut flows = spread(40);
    flows.iter_mut().for_each(|flow| flow.source = Source::Segments(300));
    for profile in [Profile::ns2(), Profile::linux()] {
        let mut config = dumbbell(link(10e6, 20), profile, flows.clone());
        config.warmup = 0;
        config.window = 300 * SECOND;
        let report = simulate(&config);
        let (arrivals, drops) = packets_at(&report, 0);
        let sent: u64 = report.classes.iter().map(|batch| batch[0].sent_segments).sum();
        let sent_bytes: u64 =
            report.links[0].batches.iter().map(|batch| batch.classes[0].sent_bytes).sum();
        assert_eq!(arrivals, sent);
        assert!(drops > 100, "{drops}");
        assert_eq!(sent_bytes, (arrivals - drops) * 1500);
        assert_eq!(report.completions[0].len(), 40, "every flow ends");
        assert!(report.flow_bytes.iter().all(|&bytes| bytes == 300 * 1500));
    }
}

#[test]
fn no_flow_starves_for_ever() {
    for profile in [Profile::ns2(), Profile::linux()] {
        let mut config = dumbbell(link(20e6, 10), profile, spread(100));
        config.window = 120 * SECOND;
        let report = simulate(&config);
        let least = report.flow_bytes.iter().min().expect("flows");
        assert!(*least > 20 * 1500, "{least}");
        assert!(utilization(&config, &report) > 0.9);
    }
}

#[test]
fn a_transmit_ring_holds_what_the_queue_does_not_count() {
    let mut config = dumbbell(link(50e6, 43), Profile::ns2(), spread(50));
    config.links[0].transmit_ring = 43;
    let hidden = simulate(&config);
    config.links[0] = link(50e6, 86);
    let whole = simulate(&config);
    assert_eq!(hidden.flow_bytes, whole.flow_bytes, "the same packets are lost");
    let mean = |report: &Report| {
        let area: u128 = report.links[0].batches.iter().map(|batch| batch.queue_area).sum();
        area as f64 / config.window as f64
    };
    assert!(mean(&hidden) < mean(&whole) - 20.0);
}
