//! Long routes, and more classes than a link tells apart.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::config::{Datagram, File, Route, Source};
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::report::LinkReport;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, SECOND};

/// Thirty queues there and thirty back, each of which takes a segment or an ACK and a millisecond.
#[test]
fn a_route_over_thirty_links_each_way_fills_the_slowest() {
    // CoDel keeps one Reno flow's queue near empty: its window then saws between half and all of it.
    for (discipline, least) in [("pfifo", 0.9), ("fq_codel", 0.7)] {
        let mut config =
            dumbbell(link(100e6, 1000), Profile::linux(), vec![flow(80 * MILLISECOND, 0)]);
        config.links = vec![link(100e6, 1000); 60];
        config.links[17] = link(10e6, 200);
        for link in &mut config.links {
            link.queue = QueueSpec::by_name(discipline).expect("listed").sized(200, 1500);
            link.delay = MILLISECOND;
        }
        config.routes = vec![Route { forward: (0..30).collect(), backward: (30..60).collect() }];
        let report = simulate(&config);
        let busy: u64 = report.links[17].batches.iter().map(|batch| batch.busy).sum();
        let used = busy as f64 / config.window as f64;
        assert!(used > least, "{discipline}: {used}");
        let acks: u64 = report.links[59].batches.iter().map(|b| b.classes[0].arrivals).sum();
        let segments: u64 = report.links[29].batches.iter().map(|b| b.classes[0].arrivals).sum();
        assert!(acks > segments / 3 && acks <= segments + 10, "{discipline}: {acks} {segments}");
    }
}

/// Class i sends i + 1 packets over link i mod 3.
#[test]
fn of_many_classes_a_link_counts_those_that_cross_it() {
    for classes in [60_u16, 100] {
        let packets = |class: u16| u32::from(class) + 1;
        let (mut config, mut from) = (dumbbell(link(1e9, 100), Profile::ns2(), vec![]), 0);
        config.links = vec![link(1e9, 100); 3];
        config.routes = (0..3).map(|l| Route { forward: vec![l], backward: vec![] }).collect();
        config.profiles = vec![Profile::ns2(); classes as usize];
        config.warmup = 0;
        for class in 0..classes {
            let mut one = flow(MILLISECOND, 0);
            (one.class, one.route) = (class, u32::from(class % 3));
            one.source = Source::Datagrams(from, from + packets(class));
            from += packets(class);
            let at = |i| SECOND + u64::from(i) * 20 * MILLISECOND;
            config
                .datagrams
                .extend((0..packets(class)).map(|i| Datagram { at: at(i), bytes: 1500 }));
            config.flows.push(one);
        }
        let report = simulate(&config);
        for (number, link) in (0..3).zip(&report.links) {
            let crossing = |class: &u16| classes <= 64 || class % 3 == number;
            assert_eq!(link.classes, (0..classes).filter(crossing).collect::<Vec<_>>());
            for (place, &class) in link.classes.iter().enumerate() {
                let arrived: u64 = link.batches.iter().map(|b| b.classes[place].arrivals).sum();
                let sent = if class % 3 == number { packets(class) } else { 0 };
                assert_eq!(arrived, u64::from(sent), "class {class} at link {number}");
            }
        }
    }
}

/// A user's next file begins a round trip and a packet's time on the access link after the last segment of the
/// one before has left the last queue, whatever the number of queues.
#[test]
fn a_second_queue_that_takes_no_time_changes_no_transfer() {
    let transfers = |forward: Vec<u32>| {
        let mut user = flow(50 * MILLISECOND, 0);
        (user.source, user.access_bps) = (Source::Files(0, 1000), 100e3);
        let mut config = dumbbell(link(1e12, 100), Profile::linux(), vec![user]);
        config.links.push(link(1e12, 100));
        config.files = vec![File { segments: 1, think: 10 * MILLISECOND }; 1000];
        config.routes = vec![Route { forward, backward: vec![] }];
        (config.warmup, config.window) = (0, 100 * SECOND);
        simulate(&config).completions[0].len()
    };
    // 50 ms of propagation, 120 ms on the access link, and 10 ms of thought.
    assert_eq!((transfers(vec![0]), transfers(vec![0, 1])), (555, 555));
}

#[test]
fn links_and_routes_beyond_sixteen_bits_are_told_apart() {
    let (mut config, far) = (dumbbell(link(1e9, 100), Profile::ns2(), vec![]), 70_000);
    config.links = vec![link(1e9, 100); far as usize + 1];
    config.routes = (0..=far).map(|l| Route { forward: vec![l], backward: vec![] }).collect();
    config.warmup = 0;
    let mut one = flow(MILLISECOND, 0);
    (one.route, one.source) = (far, Source::Segments(10));
    config.flows = vec![one];
    let arrivals = |link: &LinkReport| -> u64 {
        link.batches.iter().flat_map(|batch| &batch.classes).map(|class| class.arrivals).sum()
    };
    let report = simulate(&config);
    let busy = report.links.iter().map(arrivals).enumerate().filter(|&(_, packets)| packets > 0);
    assert_eq!(busy.collect::<Vec<_>>(), [(far as usize, 10)]);
}
