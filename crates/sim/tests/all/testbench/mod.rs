//! Small scenarios for tests.

pub mod path;

use forebay_sim::config::{Config, FlowSpec, LinkSpec, Route, Source, TraceSpec};
use forebay_sim::queue::fifo::PfifoParams;
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::report::Report;
use forebay_sim::simulation::{Control, run};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

/// A link with a drop-tail queue of so many packets.
pub fn link(rate_bps: f64, packets: u32) -> LinkSpec {
    LinkSpec::plain(rate_bps, QueueSpec::Pfifo(PfifoParams { limit: packets }))
}

/// A Reno flow without end, of 1500-byte packets from a fast access link, over route 0.
pub fn flow(rtt: Picos, start: Picos) -> FlowSpec {
    FlowSpec {
        class: 0,
        route: 0,
        congestion_control: "reno",
        rtt,
        start,
        source: Source::Segments(u64::MAX),
        packet_bytes: 1500,
        access_bps: 1e9,
    }
}

/// Flows with round trips spread over 80 to 120 ms and starts over a second.
pub fn spread(n: u64) -> Vec<FlowSpec> {
    let rtt = |i| 80 * MILLISECOND + 40 * MILLISECOND * ((i * 7919) % n) / n;
    let start = |i| SECOND * ((i * 104_729) % n) / n;
    (0..n).map(|i| flow(rtt(i), start(i))).collect()
}

/// All flows over one link.
pub fn dumbbell(link: LinkSpec, profile: Profile, flows: Vec<FlowSpec>) -> Config {
    Config {
        links: vec![link],
        pools: vec![],
        seed: 1,
        routes: vec![Route { forward: vec![0], backward: vec![] }],
        profiles: vec![profile],
        flows,
        datagrams: vec![],
        files: vec![],
        barriers: vec![],
        warmup: 5 * SECOND,
        window: 10 * SECOND,
        batches: 10,
        trace: None,
        capture: false,
        flow_records: false,
        logged_links: 0,
        foreign: Default::default(),
    }
}

/// With samples at each `step`, of flow 0 too.
pub fn traced(mut config: Config, step: Picos) -> Config {
    let (flows, window_sum) = (vec![0], true);
    config.trace =
        Some(TraceSpec { step, flows, window_sum, every_flow: true, link_details: true });
    config
}

pub fn simulate(config: &Config) -> Report {
    run(config, &Control::default()).expect("valid").expect("not stopped")
}

/// Share of the window in which link 0 was busy.
pub fn utilization(config: &Config, report: &Report) -> f64 {
    let busy: Picos = report.links[0].batches.iter().map(|batch| batch.busy).sum();
    busy as f64 / config.window as f64
}
