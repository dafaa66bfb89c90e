//! One dumbbell from the command line: `dumbbell [key=value ...]`, readings on one line.
//!
//! The random draws are a simple generator's, not the workload's: this is for profiling.

#[path = "detail/mod.rs"]
mod detail;

use forebay_sim::cc::{self, IncreaseRule};
use forebay_sim::config::{Config, FlowSpec, LinkSpec, Route, Source};
use forebay_sim::meters::link::ClassCounts;
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::report::Report;
use forebay_sim::simulation::{Control, run};
use forebay_sim::tcp::offload::Offload;
use forebay_sim::tcp::profile::{Profile, RtoRule};
use forebay_sim::time::{Picos, SECOND};
use std::collections::HashMap;
use std::time::Instant;

struct Uniform(u64);

impl Uniform {
    /// splitmix64, as a number in [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / 2_f64.powi(64)
    }
}

fn seconds(value: f64) -> Picos {
    (value * SECOND as f64) as Picos
}

fn total(report: &Report, count: impl Fn(&ClassCounts) -> u64) -> u64 {
    report.links[0].batches.iter().flat_map(|batch| &batch.classes).map(count).sum()
}

/// Switches single mechanisms of the profile: `rack=0`, `delack=0.04`, `increase_rule=ack`.
fn adjust(profile: &mut Profile, given: &HashMap<String, String>) {
    let number = |key: &str| given.get(key).and_then(|value| value.parse::<f64>().ok());
    let time = |value: f64| (value > 0.0).then(|| seconds(value));
    for (key, field) in [
        ("sack", &mut profile.sack),
        ("prr", &mut profile.prr),
        ("rack", &mut profile.rack),
        ("tlp", &mut profile.tail_loss_probe),
        ("frto", &mut profile.f_rto),
        ("cutagain", &mut profile.timeout_reduces_again),
        ("adaptive", &mut profile.adaptive_ack_delay),
        ("validate", &mut profile.validates_window),
        ("timestamps", &mut profile.timestamps),
        ("tsq", &mut profile.small_queues),
        ("rcvwin", &mut profile.tunes_receive_window),
    ] {
        *field = number(key).map_or(*field, |value| value != 0.0);
    }
    if number("offload").is_some_and(|value| value != 0.0) {
        profile.offload = Offload::ON;
    }
    profile.quick_acks = number("quick").map_or(profile.quick_acks, |value| value as u32);
    profile.delayed_ack = number("delack").map_or(profile.delayed_ack, time);
    profile.sack_compression = number("compress").map_or(profile.sack_compression, time);
    profile.min_rto = number("minrto").map_or(profile.min_rto, seconds);
    profile.jitter = number("jitter").map_or(profile.jitter, seconds);
    match given.get("growth").map(String::as_str) {
        Some("ack") => profile.increase_rule = IncreaseRule::PerAck,
        Some("window") => profile.increase_rule = IncreaseRule::PerWindow,
        _ => {}
    }
    match given.get("rto").map(String::as_str) {
        Some("linux") => profile.rto = RtoRule::Linux,
        Some("rfc") => profile.rto = RtoRule::Rfc6298(seconds(0.01)),
        _ => {}
    }
}

fn main() {
    let given: HashMap<String, String> = std::env::args()
        .skip(1)
        .filter_map(|arg| arg.split_once('=').map(|(key, value)| (key.into(), value.into())))
        .collect();
    let text = |key: &str, default: &str| given.get(key).cloned().unwrap_or(default.into());
    let number =
        |key: &str, default: f64| text(key, &default.to_string()).parse().unwrap_or(default);
    let mut profile = Profile::by_name(&text("sender", "ns2")).expect("ns2 or linux");
    profile.initial_window = number("iw", 10.0) as u32;
    profile.max_window = number("maxwindow", f64::from(u32::MAX)) as u32;
    adjust(&mut profile, &given);
    let named = text("cc", "reno");
    let control = |named: &str| {
        let found = cc::NAMES.iter().find(|name| **name == named);
        *found.unwrap_or_else(|| panic!("cc= one of {:?}, or some joined by +", cc::NAMES))
    };
    let controls: Vec<_> = named.split('+').map(control).collect();
    let mut random = Uniform(number("seed", 1.0) as u64);
    let (low, high) = (number("rttlo", 0.08), number("rtthi", 0.12));
    let flows = (0..number("n", 100.0) as usize)
        .map(|nth| FlowSpec {
            class: 0,
            route: 0,
            congestion_control: controls[nth % controls.len()],
            rtt: seconds(low + (high - low) * random.next()),
            start: seconds(number("startmax", 10.0) * random.next()),
            source: Source::Segments(u64::MAX),
            packet_bytes: 1500,
            access_bps: number("acc", 1e9),
        })
        .collect();
    let queue = QueueSpec::by_name(&text("queue", "pfifo"))
        .expect("a discipline's name")
        .sized(number("B", 129.0) as u32, 1500);
    let mut config = Config {
        links: vec![LinkSpec::plain(number("bw", 155e6), queue)],
        pools: vec![],
        seed: number("seed", 1.0) as u64,
        routes: vec![Route { forward: vec![0], backward: vec![] }],
        profiles: vec![profile],
        flows,
        datagrams: vec![],
        files: vec![],
        barriers: vec![],
        warmup: seconds(number("t0", 20.0)),
        window: seconds(number("t1", 60.0) - number("t0", 20.0)),
        batches: 20,
        trace: None,
        capture: false,
        flow_records: false,
        logged_links: 0,
        foreign: Default::default(),
    };
    let detailed = number("detail", 0.0) != 0.0;
    if detailed {
        detail::prepare(&mut config);
    }
    let began = Instant::now();
    let report = run(&config, &Control::default()).expect("valid").expect("not stopped");
    let took = began.elapsed().as_secs_f64();
    let busy: u64 = report.links[0].batches.iter().map(|batch| batch.busy).sum();
    let area: u128 = report.links[0].batches.iter().map(|batch| batch.queue_area).sum();
    let arrivals = total(&report, |class| class.arrivals);
    let drops = total(&report, |class| class.drops);
    let timeouts: u64 = report.classes.iter().flatten().map(|class| class.timeouts).sum();
    let sum: f64 = report.flow_bytes.iter().map(|&bytes| bytes as f64).sum();
    let squares: f64 = report.flow_bytes.iter().map(|&bytes| (bytes as f64).powi(2)).sum();
    if detailed {
        println!("{}", detail::describe(&config, &report));
    }
    if number("perflow", 0.0) != 0.0 {
        for (flow, &bytes) in config.flows.iter().zip(&report.flow_bytes) {
            let [start, rtt] = [flow.start, flow.rtt].map(|at| at as f64 / SECOND as f64);
            let rate = bytes as f64 * 8e6 / config.window as f64;
            println!("start={start:.3} rtt={rtt:.4} Mbit/s={rate:.3}");
        }
    }
    println!(
        "util={:.3} loss={:.4} meanq={:.2} jain={:.4} timeouts={} packets={} events={} s={:.3} Mpkt/s={:.2}",
        100.0 * busy as f64 / config.window as f64,
        100.0 * drops as f64 / arrivals as f64,
        area as f64 / config.window as f64,
        sum * sum / (squares * report.flow_bytes.len() as f64),
        timeouts,
        report.packets,
        report.events,
        took,
        report.packets as f64 / took / 1e6,
    );
}
