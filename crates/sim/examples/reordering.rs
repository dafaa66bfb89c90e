//! Processor time a packet on a link whose jitter reorders, over that on one whose jitter does not.
//!
//! `cargo run --release --example reordering` prints a line for each controller and number of packets in flight.

use forebay_sim::config::{Config, FlowSpec, JitterSpec, LinkSpec, Route, Source};
use forebay_sim::queue::fifo::PfifoParams;
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::simulation::{Control, run};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MICROSECOND, MILLISECOND, Picos, SECOND};

/// The time of a thread is only told to a few milliseconds.
const REPEATS: u64 = 25;

/// Time that this thread has been on a processor, which other programs on the machine hardly change; Linux alone says it.
fn processor_ns() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    told.split(' ').next().and_then(|ns| ns.parse().ok()).expect("nanoseconds")
}

fn link(rate_bps: f64, packets: u32, jitter: Option<JitterSpec>) -> LinkSpec {
    let queue = QueueSpec::Pfifo(PfifoParams { limit: packets });
    LinkSpec { jitter, ..LinkSpec::plain(rate_bps, queue) }
}

fn config(control: &'static str, rate_bps: f64, rtt: Picos, reorders: bool) -> Config {
    let jitter = JitterSpec { most: 2 * MILLISECOND, share: 1.0, reorders };
    let flow = |index: u64| FlowSpec {
        class: 0,
        route: 0,
        congestion_control: control,
        rtt,
        start: index * MILLISECOND,
        source: Source::Segments(u64::MAX),
        packet_bytes: 1500,
        access_bps: 1e12,
    };
    let packets = (rate_bps * 10e-3 / 12e3) as u32 + 100;
    Config {
        links: vec![link(rate_bps, packets, Some(jitter)), link(1e14, 1_000_000, None)],
        pools: vec![],
        seed: 1,
        routes: vec![Route { forward: vec![0, 1], backward: vec![] }],
        profiles: vec![Profile::linux()],
        flows: (0..9).map(flow).collect(),
        datagrams: vec![],
        files: vec![],
        barriers: vec![],
        warmup: SECOND,
        window: (SECOND as f64 * 100e6 / rate_bps.min(100e6)) as Picos,
        batches: 10,
        trace: None,
        capture: false,
        flow_records: false,
        logged_links: 0,
        foreign: Default::default(),
    }
}

fn main() {
    println!("control   rate, Mbit/s   packets   ns a packet: in order, reordered   ratio");
    for control in ["reno", "cubic", "bbr", "bbr3"] {
        for (rate, rtt) in
            [(13e6, 200 * MICROSECOND), (100e6, 20 * MILLISECOND), (1e9, 20 * MILLISECOND)]
        {
            let times = [false, true].map(|reorders| {
                let config = config(control, rate, rtt, reorders);
                let begun = processor_ns();
                let sent: u64 = (0..REPEATS)
                    .flat_map(|_| run(&config, &Control::default()).expect("valid"))
                    .flat_map(|report| report.links.into_iter().take(1))
                    .flat_map(|link| link.batches)
                    .map(|batch| batch.classes[0].arrivals)
                    .sum();
                ((processor_ns() - begun) / sent as f64, sent / REPEATS)
            });
            let [(plain, _), (reordered, packets)] = times;
            let ratio = reordered / plain;
            let mbps = rate / 1e6;
            println!(
                "{control:8} {mbps:10} {packets:12} {plain:14.0} {reordered:14.0} {ratio:10.2}"
            );
        }
    }
}
