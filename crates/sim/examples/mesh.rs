//! A random network from the command line: `mesh [key=value ...]`, speed and memory on one line.
//!
//! Each flow crosses `least` to `most` links, drawn anew; this is for profiling.

use forebay_sim::config::{Config, FlowSpec, LinkSpec, Route, Source};
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::simulation::{Control, run_on};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};
use std::collections::HashMap;
use std::time::Instant;

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(bound)) >> 64) as u64
    }
}

/// A field of /proc/self/status, in kilobytes.
fn memory_kb(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}

fn main() {
    let given: HashMap<String, String> = std::env::args()
        .skip(1)
        .filter_map(|arg| arg.split_once('=').map(|(key, value)| (key.into(), value.into())))
        .collect();
    let number = |key: &str, default: f64| {
        given.get(key).and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let seconds = |key: &str, default: f64| (number(key, default) * SECOND as f64) as Picos;
    let mut random = Random(number("seed", 1.0) as u64);
    let (links, flows) = (number("links", 1000.0) as u64, number("n", 50_000.0) as u64);
    let (least, most) = (number("least", 4.0) as u64, number("most", 7.0) as u64);
    let both_ways = number("back", 0.0) != 0.0;
    let route = |random: &mut Random| {
        let hops = least + random.below(most - least + 1);
        (0..hops).map(|_| random.below(links) as u32).collect::<Vec<_>>()
    };
    let routes = (0..number("routes", flows as f64) as u64)
        .map(|_| Route {
            forward: route(&mut random),
            backward: if both_ways { route(&mut random) } else { vec![] },
        })
        .collect::<Vec<_>>();
    let profile = Profile::by_name(given.get("sender").map_or("linux", |name| name.as_str()));
    let classes = number("classes", 1.0) as u64;
    let spread = number("spread", 1.0);
    let queue = QueueSpec::by_name(given.get("queue").map_or("pfifo", |name| name.as_str()));
    let queue = queue.expect("a discipline's name").sized(number("B", 100.0) as u32, 1500);
    let link = |index: u64| {
        // Some links `spread` times as fast as the others.
        let rate_bps = number("bw", 1e8) * if index.is_multiple_of(10) { spread } else { 1.0 };
        LinkSpec { delay: MILLISECOND, ..LinkSpec::plain(rate_bps, queue.clone()) }
    };
    let flow = |index: u64| FlowSpec {
        class: (index % classes) as u16,
        route: (index % routes.len() as u64) as u32,
        congestion_control: "reno",
        rtt: (30 + random.below(170)) * MILLISECOND,
        start: random.below(SECOND),
        source: Source::Segments(u64::MAX),
        packet_bytes: 1500,
        access_bps: number("acc", 1e9),
    };
    let config = Config {
        links: (0..links).map(link).collect(),
        pools: vec![],
        seed: 1,
        flows: (0..flows).map(flow).collect(),
        routes,
        profiles: vec![profile.expect("ns2 or linux"); classes as usize],
        datagrams: vec![],
        files: vec![],
        barriers: vec![],
        warmup: seconds("t0", 1.0),
        window: seconds("t1", 3.0) - seconds("t0", 1.0),
        batches: number("batches", 20.0) as u32,
        trace: None,
        capture: false,
        flow_records: false,
        logged_links: 0,
        foreign: Default::default(),
    };
    let before = memory_kb("VmRSS");
    let began = Instant::now();
    let threads = number("threads", 1.0) as usize;
    let report =
        run_on(&config, &Control::default(), threads).expect("valid").expect("not stopped");
    let took = began.elapsed().as_secs_f64();
    let counts = || report.links.iter().flat_map(|link| &link.batches).flat_map(|b| &b.classes);
    let arrivals: u64 = counts().map(|class| class.arrivals).sum();
    let drops: u64 = counts().map(|class| class.drops).sum();
    let window = config.window as f64 / (config.warmup + config.window) as f64;
    let busy: u64 = report.links.iter().flat_map(|l| &l.batches).map(|b| b.busy / 1000).sum();
    println!(
        "util={:.3} loss={:.4} packets={} events={} hops={} s={:.2} Mhop/s={:.2} MB={} peak={}",
        100.0 * busy as f64 * 1000.0 / config.window as f64 / links as f64,
        100.0 * drops as f64 / arrivals.max(1) as f64,
        report.packets,
        report.events,
        arrivals,
        took,
        arrivals as f64 / window / took / 1e6,
        (memory_kb("VmRSS") - before) / 1024,
        memory_kb("VmHWM") / 1024,
    );
}
