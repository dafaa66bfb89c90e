//! Segments that are held up on their way to the receiver.

use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

const RTT: Picos = 100 * MILLISECOND;

/// With a window of one segment a round trip ends at the first multiple of the timer's period.
#[test]
fn a_timer_delivers_segments_at_its_ticks() {
    let (tick, rtt) = (30 * MILLISECOND, RTT);
    let profile = Profile { max_window: 1, timer_tick: tick, ..Profile::ns2() };
    let mut config = dumbbell(link(1e9, 30), profile, vec![flow(rtt, 0)]);
    config.window = 1200 * SECOND;
    let segments = simulate(&config).flow_bytes[0] / 1500;
    // Each waits for the tick after it has taken RTT: at 120 ms, 240 ms, ...
    assert!(segments.abs_diff(10_000) <= 1, "{segments}");
}

/// With a window of one segment a round trip takes half of the jitter longer in the mean.
#[test]
fn jitter_holds_segments_up_evenly() {
    let jitter = 50 * MILLISECOND;
    let run = |jitter| {
        let profile = Profile { max_window: 1, jitter, ..Profile::ns2() };
        let mut config = dumbbell(link(10e6, 30), profile, vec![flow(RTT, 0)]);
        config.window = 2000 * SECOND;
        let segments = simulate(&config).flow_bytes[0] / 1500;
        config.window as f64 / segments as f64
    };
    let more = (run(jitter) - run(0)) / jitter as f64;
    assert!((more - 0.5).abs() < 0.01, "{more}");
}
