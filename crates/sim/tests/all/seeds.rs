//! What a run's seed reaches.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::cc;
use forebay_sim::meters::link::LinkBatch;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::MILLISECOND;

/// Controllers that the kernel or the draft lets draw: BBR the phase in which it begins to probe, BBRv3
/// the wait before each probe.
const DRAW: [&str; 2] = ["bbr", "bbr3"];

fn readings(name: &'static str, seed: u64) -> Vec<LinkBatch> {
    let mut one = flow(50 * MILLISECOND, 0);
    one.congestion_control = name;
    let mut config = dumbbell(link(20e6, 200), Profile::linux(), vec![one]);
    config.seed = seed;
    simulate(&config).links[0].batches.clone()
}

#[test]
fn the_seed_reaches_each_controller_that_draws_and_no_other() {
    for name in cc::NAMES {
        let courses = [1, 1, 2, 3].map(|seed| readings(name, seed));
        assert!(courses[0] == courses[1], "{name}: the same seed");
        let differs = courses[2] != courses[0] || courses[3] != courses[0];
        assert_eq!(differs, DRAW.contains(name), "{name}: another seed");
    }
}

/// Flows that begin together, alike in all but their numbers.
#[test]
fn flows_draw_apart() {
    for name in DRAW {
        let mut one = flow(50 * MILLISECOND, 0);
        one.congestion_control = name;
        let mut config = dumbbell(link(20e6, 200), Profile::linux(), vec![one]);
        config.links.push(config.links[0].clone());
        config.routes.push(config.routes[0].clone());
        config.routes[1].forward = vec![1];
        config.flows.push(config.flows[0].clone());
        config.flows[1].route = 1;
        let report = simulate(&config);
        assert!(report.links[0].batches != report.links[1].batches, "{name}");
    }
}
