//! Flows that answer requests together, checked by hand.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::config::{Barrier, Config, File, FlowSpec, Source};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MICROSECOND, MILLISECOND, Picos, SECOND, serialization};

const RATE: f64 = 1e9;
const RTT: Picos = 100 * MICROSECOND;
const THINK: Picos = 5 * MILLISECOND;

/// `workers` that answer `requests` with so many segments each, over access links as fast as can be.
fn incast(workers: u32, segments: u64, requests: u32, buffer: u32) -> Config {
    let worker = |i| FlowSpec {
        source: Source::Files(i * requests, (i + 1) * requests),
        access_bps: 1e15,
        ..flow(RTT, RTT / 2)
    };
    let flows = (0..workers).map(worker).collect();
    let mut config = dumbbell(link(RATE, buffer), Profile::linux(), flows);
    config.files = vec![File { segments, think: 0 }; (workers * requests) as usize];
    let thinks = vec![THINK; requests as usize - 1];
    config.barriers = vec![Barrier { flows: 0..workers, asked: 0, thinks }];
    (config.warmup, config.window) = (0, 10 * SECOND);
    config
}

fn drops(config: &Config) -> u64 {
    let report = simulate(config);
    report.classes.iter().map(|batch| batch[0].drops).sum()
}

#[test]
fn a_request_takes_a_round_trip_and_the_transmission_of_all_answers() {
    let (workers, segments, requests) = (40, 10, 7);
    let report = simulate(&incast(workers, segments, requests, 1000));
    let each = RTT + u64::from(workers) * segments * serialization(1500, RATE);
    let access = serialization(1500, 1e15);
    assert_eq!(report.requests[0].len(), requests as usize);
    for &took in &report.requests[0] {
        assert!(took.abs_diff(each) <= 4 * access, "{took} for {each}");
    }
    assert!(report.unfinished_requests[0].is_empty());
    assert_eq!(report.completions[0].len(), (workers * requests) as usize, "answers");
    assert_eq!(report.classes.iter().map(|batch| batch[0].drops).sum::<u64>(), 0);
}

#[test]
fn the_initial_windows_that_do_not_fit_are_lost() {
    // 400 packets at once: one on the wire, those of the buffer behind it.
    for buffer in [100, 300, 398, 399] {
        let mut config = incast(40, 10, 1, buffer);
        config.window = 2 * MILLISECOND; // before anything is sent again
        let expected = 400 - 1 - u64::from(buffer);
        assert_eq!(drops(&config), expected, "{buffer} packets");
    }
}

#[test]
fn no_request_is_asked_before_all_have_answered() {
    let (workers, requests) = (8, 5);
    let mut config = incast(workers, 3, requests, 1000);
    let late = 40 * MILLISECOND;
    config.files[3 * requests as usize].think = late; // worker 3 is late with its second answer
    config.files[5 * requests as usize + 1].segments = 500; // worker 5 has more in it
    config.flow_records = true;
    let report = simulate(&config);
    let records = report.flow_records.expect("asked for");
    for number in 1..requests {
        let of = |n| records.iter().filter(move |record| record.transfer == n);
        let ended = of(number - 1).map(|record| record.last_byte).max().expect("records");
        let begun = of(number).map(|record| record.start);
        let least = begun.clone().min().expect("records");
        assert_eq!(least, ended + THINK + RTT / 2, "request {number}");
        let spread = if number == 1 { late } else { 0 };
        assert_eq!(begun.max().expect("records") - least, spread, "request {number}");
    }
}

#[test]
fn a_request_that_is_under_way_at_the_end_is_told() {
    let mut config = incast(40, 10, 2, 1000);
    config.window = MILLISECOND;
    let report = simulate(&config);
    assert_eq!(report.unfinished_requests[0], [MILLISECOND], "its answers take 4.8 ms");
    config.window = 7 * MILLISECOND; // 4.9 ms, and a pause of 5 ms that is not over
    let report = simulate(&config);
    assert_eq!((report.requests[0].len(), report.unfinished_requests[0].len()), (1, 0));
}

#[test]
fn groups_do_not_wait_for_each_other() {
    let mut config = incast(20, 4, 3, 1000);
    let thinks = config.barriers[0].thinks.clone();
    let second = Barrier { flows: 10..20, asked: 0, thinks: thinks.clone() };
    config.barriers = vec![Barrier { flows: 0..10, asked: 0, thinks }, second];
    config.files[0].think = SECOND; // the second request of the first group
    let report = simulate(&config);
    let slow = report.requests[0].iter().filter(|&&took| took >= SECOND).count();
    assert_eq!((report.requests[0].len(), slow), (6, 1));
}

#[test]
fn barriers_are_checked() {
    let mut config = incast(4, 1, 2, 10);
    config.barriers[0].thinks.push(0);
    assert!(config.check().is_err(), "three requests, two files");
    let mut config = incast(4, 1, 2, 10);
    config.barriers[0].flows = 0..5;
    assert!(config.check().is_err(), "a flow that is not there");
    let mut config = incast(4, 1, 2, 10);
    config.barriers.push(config.barriers[0].clone());
    assert!(config.check().is_err(), "a flow of two barriers");
}

#[test]
fn a_lost_first_window_waits_for_the_least_timeout_and_not_for_a_second() {
    // The last worker's only packet does not fit.
    let mut config = incast(40, 1, 1, 38);
    config.profiles[0].min_rto = 10 * MILLISECOND;
    let report = simulate(&config);
    assert_eq!(report.requests[0].len(), 1);
    let took = report.requests[0][0];
    assert!((9 * MILLISECOND..12 * MILLISECOND).contains(&took), "{took}");
}
