//! Segments that are held up on their way to the receiver.

mod testbench;

use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};
use testbench::{dumbbell, flow, link, simulate};

const RTT: Picos = 100 * MILLISECOND;

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
