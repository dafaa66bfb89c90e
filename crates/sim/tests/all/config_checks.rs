//! Which configurations are refused, and that those accepted neither panic nor stop making progress, however extreme.

use crate::testbench::{dumbbell, flow, link, simulate, spread};
use forebay_sim::cc;
use forebay_sim::config::{
    BucketSpec, Config, ConfigError, Datagram, File, FlowSpec, LinkSpec, Refill, Route, Source,
    TraceSpec,
};
use forebay_sim::queue::registry::{NAMES, QueueSpec};
use forebay_sim::report::Report;
use forebay_sim::simulation::{Control, run};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};
use proptest::prelude::*;

fn one() -> Config {
    dumbbell(link(1e6, 10), Profile::linux(), spread(1))
}

/// Refused by a change of one that runs.
fn refusal(change: impl FnOnce(&mut Config)) -> ConfigError {
    let mut config = one();
    assert!(config.check().is_ok());
    change(&mut config);
    config.check().expect_err("refused")
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let no_segments = File { segments: 0, think: 0 };
    assert_eq!(
        refusal(|config| {
            config.files = vec![no_segments];
            config.flows[0].source = Source::Files(0, 1);
        }),
        ConfigError::NotPositive("file length"),
    );
    let empty = |config: &mut Config| config.flows[0].source = Source::Segments(0);
    assert_eq!(refusal(empty), ConfigError::NotPositive("flow length"));
    let nothing = |config: &mut Config| config.datagrams = vec![Datagram { at: 0, bytes: 0 }];
    assert_eq!(refusal(nothing), ConfigError::NotPositive("packet size"));
    for window in [0, 1] {
        let mut config = one();
        config.profiles[0].initial_window = window;
        assert_eq!(config.check().is_ok(), window == 1);
        config.profiles[0].initial_window = 2;
        config.profiles[0].max_window = window;
        assert_eq!(config.check().is_ok(), window == 1);
    }
}

#[test]
fn links_beside_so_many_classes_that_no_flow_can_name_both_are_refused() {
    let fits = |links: usize, classes: usize| {
        let mut config = one();
        config.links = vec![config.links[0].clone(); links];
        config.profiles = vec![config.profiles[0].clone(); classes];
        config.check()
    };
    assert_eq!(fits(1 << 16, 1 << 16), Ok(()));
    let (links, classes) = ((1 << 16) + 1, (1 << 15) + 1);
    assert_eq!(fits(links, classes), Err(ConfigError::TooManyLinks(links, classes)));
}

#[test]
fn what_outlasts_the_clock_is_refused() {
    let changes: [fn(&mut Config); 8] = [
        |config| config.links[0].rate_bps = 1e-7,
        |config| config.flows[0].access_bps = 1e-7,
        |config| config.flows[0].rtt = Picos::MAX - 5,
        |config| config.flows[0].start = Picos::MAX - 5,
        |config| config.links[0].delay = Picos::MAX - 5,
        |config| config.profiles[0].jitter = Picos::MAX - 5,
        |config| config.profiles[0].timer_tick = Picos::MAX - 5,
        |config| config.profiles[0].min_rto = Picos::MAX - 5,
    ];
    for change in changes {
        assert!(matches!(refusal(change), ConfigError::TooLarge(_)));
    }
}

/// An open-loop source has no round trip; its packets take the links' delays all the same.
#[test]
fn datagrams_cross_links_with_delay() {
    let mut config = one();
    config.links.push(link(1e6, 10));
    config.links[0].delay = 5 * MILLISECOND;
    config.routes = vec![Route { forward: vec![0, 1], backward: vec![] }];
    config.datagrams = (0..10).map(|i| Datagram { at: i * SECOND, bytes: 1000 }).collect();
    config.flows[0].rtt = 0;
    config.flows[0].source = Source::Datagrams(0, 10);
    (config.warmup, config.window) = (0, 20 * SECOND);
    let report = simulate(&config);
    assert_eq!(report.flow_bytes, [10_000]);
}

/// A queue in bytes holds as many packets as the smallest that are listed let it.
#[test]
fn listed_packets_may_be_smaller_than_any_flow_says() {
    for discipline in ["bfifo", "red"] {
        let mut config = one();
        config.links[0].queue = QueueSpec::by_name(discipline).expect("listed").sized(100, 1500);
        config.datagrams = (0..5000).map(|_| Datagram { at: 0, bytes: 1 }).collect();
        config.flows[0].source = Source::Datagrams(0, 5000);
        config.flows[0].access_bps = 1e12;
        (config.warmup, config.window) = (0, SECOND);
        let report = simulate(&config);
        let waited = report.links[0].batches.iter().map(|batch| batch.queue_area).sum::<u128>();
        assert!(waited > 0, "{discipline}");
    }
}

/// More work waits than the clock can count: it never leaves, and nothing wraps round.
#[test]
fn a_queue_that_outlasts_the_clock() {
    let mut config = one();
    config.links[0] = link(1000.0, 1_000_000);
    config.links[0].transmit_ring = 1;
    config.datagrams = (0..60_000).map(|i| Datagram { at: i, bytes: 65_535 }).collect();
    config.flows[0].source = Source::Datagrams(0, 60_000);
    config.flows[0].access_bps = 1e19;
    (config.warmup, config.window) = (0, 2000 * SECOND);
    let report = simulate(&config);
    let batches = &report.links[0].batches;
    let drops: u64 = batches.iter().map(|batch| batch.classes[0].drops).sum();
    assert_eq!((drops, batches.iter().map(|batch| batch.busy).sum::<u64>()), (0, config.window));
    assert_eq!(report.flow_bytes, [3 * 65_535], "one every 524 s");
}

/// A fast link that rests for long: the event queue goes straight to what is next.
#[test]
fn a_day_of_silence_takes_no_time() {
    let mut config = dumbbell(link(1e13, 10), Profile::ns2(), vec![flow(1_000_000, 0)]);
    config.flows[0].access_bps = 1e13;
    config.files = vec![File { segments: 3, think: 80_000 * SECOND }; 3];
    config.flows[0].source = Source::Files(0, 3);
    (config.warmup, config.window) = (0, 200_000 * SECOND);
    let began = std::time::Instant::now();
    let report = simulate(&config);
    assert_eq!(report.completions[0].len(), 3);
    assert!(began.elapsed().as_secs() < 20);
}

/// Numbers of all magnitudes from 10^low to 10^high, its ends more often than others.
fn magnitude(low: f64, high: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (low..high).prop_map(|power| 10_f64.powf(power)),
        1 => Just(10_f64.powf(low)),
        1 => Just(10_f64.powf(high)),
    ]
}

fn span(low: f64, high: f64) -> impl Strategy<Value = Picos> {
    magnitude(low, high).prop_map(|value| value as Picos)
}

const LISTED: u32 = 200;
const FILES: u32 = 12;

fn sources() -> impl Strategy<Value = Source> {
    prop_oneof![
        2 => Just(Source::Segments(u64::MAX)),
        2 => (1_u64..500).prop_map(Source::Segments),
        2 => (0..LISTED, 0..LISTED).prop_map(|(a, b)| Source::Datagrams(a.min(b), a.max(b))),
        2 => (0..FILES).prop_map(|first| Source::Files(first, FILES)),
    ]
}

fn any_flow(routes: u32) -> impl Strategy<Value = FlowSpec> {
    let numbers = (span(6.0, 13.5), span(0.0, 13.0), 0..routes, 0..cc::NAMES.len(), 0_u16..2);
    (numbers, sources(), magnitude(3.0, 18.0), 1_u32..65_536).prop_map(
        |(numbers, source, rate, bytes)| {
            let (rtt, start, route, cc, class) = numbers;
            let mut made = flow(rtt, start);
            (made.class, made.route, made.source) = (class, route, source);
            (made.packet_bytes, made.access_bps) = (bytes, rate);
            made.congestion_control = cc::NAMES[cc];
            made
        },
    )
}

fn any_bucket() -> impl Strategy<Value = Option<BucketSpec>> {
    let refill = prop::sample::select(vec![Refill::Continuous, Refill::Interval, Refill::Deficit]);
    let bytes = (magnitude(3.0, 9.0), magnitude(0.0, 9.0));
    let bucket = (magnitude(3.0, 13.0), bytes, refill).prop_map(|(rate_bps, bytes, refill)| {
        BucketSpec { rate_bps, burst_bytes: bytes.0 as u64, excess_bytes: bytes.1 as u64, refill }
    });
    prop::option::weighted(0.2, bucket)
}

fn any_link() -> impl Strategy<Value = LinkSpec> {
    let queue = (0..NAMES.len(), magnitude(0.0, 9.0), 1_u32..65_536);
    let rest = (magnitude(3.0, 13.0), span(0.0, 11.0), 0_u32..100, any::<bool>(), 0.001..1000.0);
    let buckets = (any_bucket(), any_bucket());
    (queue, rest, buckets).prop_map(|(queue, rest, (shaper, policer))| {
        let ((name, packets, bytes), (rate_bps, delay, ring, shares, alpha)) = (queue, rest);
        let queue = QueueSpec::by_name(NAMES[name]).expect("listed");
        LinkSpec {
            transmit_ring: if shaper.is_some() { 0 } else { ring },
            pool: shares.then_some((0, alpha)),
            delay,
            shaper,
            policer,
            ..LinkSpec::plain(rate_bps, queue.sized(packets as u32, bytes))
        }
    })
}

fn any_profile() -> impl Strategy<Value = Profile> {
    let numbers = (1_u32..1000, prop::option::of(1_u32..10_000), span(0.0, 12.0), span(9.0, 13.8));
    (any::<[bool; 5]>(), numbers).prop_map(|(on, (initial, most, jitter, min_rto))| {
        let mut made = if on[0] { Profile::linux() } else { Profile::ns2() };
        (made.initial_window, made.max_window) = (initial, most.unwrap_or(u32::MAX));
        (made.sack, made.ecn, made.min_rto) = (on[1], on[2], min_rto);
        made.jitter = if on[3] { jitter } else { 0 };
        made.delayed_ack = on[4].then_some(40 * MILLISECOND);
        made
    })
}

fn any_route(links: u32) -> impl Strategy<Value = Route> {
    let forward = prop::collection::vec(0..links, 1..6);
    let backward = prop::collection::vec(0..links, 0..6);
    (forward, backward).prop_map(|(forward, backward)| Route { forward, backward })
}

fn any_config() -> impl Strategy<Value = Config> {
    let links = prop::collection::vec(any_link(), 1..4);
    let routes = prop::collection::vec(any_route(4), 1..4);
    let flows = prop::collection::vec(any_flow(4), 0..8);
    let window = (span(9.0, 13.0), span(0.0, 12.0), 1_u32..40, span(0.0, 10.0), any::<bool>());
    (links, routes, flows, [any_profile(), any_profile()], window).prop_map(
        |(links, mut routes, mut flows, profiles, (window, warmup, batches, gap, traced))| {
            let last = links.len() as u32 - 1;
            for route in &mut routes {
                let all = route.forward.iter_mut().chain(&mut route.backward);
                all.for_each(|link| *link = (*link).min(last));
            }
            let most = routes.len() as u32 - 1;
            flows.iter_mut().for_each(|flow| flow.route = flow.route.min(most));
            let mut config = dumbbell(link(1e6, 1), Profile::ns2(), flows);
            let listed = |i| Datagram { at: u64::from(i) * gap, bytes: 1 + i * 331 % 65_535 };
            config.datagrams = (0..LISTED).map(listed).collect();
            let file = |i: u32| File { segments: 1 + u64::from(i * 13 % 90), think: gap };
            config.files = (0..FILES).map(file).collect();
            (config.links, config.routes, config.profiles) = (links, routes, profiles.to_vec());
            (config.pools, config.warmup, config.window) = (vec![100_000], warmup, window);
            config.batches = batches;
            let step = window / 20 + 1;
            let watched =
                TraceSpec { step, link_details: true, every_flow: true, ..TraceSpec::default() };
            config.trace = traced.then_some(watched);
            config
        },
    )
}

/// Runs it for a second of the clock at most, so that no case is dear.
fn for_a_second(config: &Config) -> Result<Option<Report>, ConfigError> {
    let control = Control::default();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run(config, &control));
        for _ in 0..100 {
            if running.is_finished() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        control.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        running.join().expect("no panic")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_let_in_runs(config in any_config()) {
        let Ok(Some(report)) = for_a_second(&config) else { return Ok(()) };
        for link in &report.links {
            let total: Picos = link.batches.iter().flat_map(|batch| &batch.queue_time).sum();
            prop_assert_eq!(total, config.window);
            prop_assert!(link.batches.iter().map(|batch| batch.busy).sum::<Picos>() <= config.window);
        }
        let bytes: u64 = report.flow_bytes.iter().sum();
        let classes = report.classes.iter().flatten();
        prop_assert_eq!(bytes, classes.map(|class| class.delivered_bytes).sum::<u64>());
    }
}
