use super::{ms, parse, plan, play, steadily};
use crate::clock::Clock;
use crate::drive::Driver;
use crate::failure::Failure;
use forebay_sim::time::MILLISECOND;
use serde_json::{Value, json};

/// Slow enough for a test: the loopback device has no rate of its own.
fn gentle(kind: &str, starts: &[u64], segments: u64) -> Value {
    let mut plan = plan(kind, &ms(starts), segments);
    plan["classes"][0]["max_window"] = json!(2);
    plan
}

#[test]
fn long_flows_deliver_and_batches_add_up() {
    steadily(|| {
        let read = play(gentle("long", &[0, 10, 20], 0)).unwrap();
        assert_eq!(read.delivered_bytes.len(), 4);
        let delivered: u64 = read.delivered_bytes.iter().flatten().sum();
        assert_eq!(read.flow_bytes.iter().sum::<u64>(), delivered);
        assert!(read.flow_bytes.iter().all(|&bytes| bytes > 0 && bytes % 1500 == 0));
        assert!(read.sent.iter().flatten().sum::<u64>() > 0);
        assert_eq!((read.failures, read.refused), (0, 0));
        assert_eq!(read.trace.at.len(), 10);
        assert!(read.trace.window_sum[2] >= 2.0 && read.trace.flows.is_empty());
        assert_eq!(read.rwnd_limited, 0.0, "a limit that was asked for is not one to tell of");
    });
}

#[test]
fn short_flows_complete_whole() {
    steadily(|| {
        let read = play(gentle("short", &[20, 120, 140, 260, 400], 100)).unwrap();
        let times = &read.completions[0];
        assert_eq!(times.len(), 3, "one before the window, one after it");
        assert!(times.iter().all(|&time| time > 0 && time < 20 * MILLISECOND), "{times:?}");
        assert_eq!(read.flow_bytes, [0, 150_000, 150_000, 150_000, 0]);
        let batches: Vec<_> = read.delivered_bytes.iter().map(|row| row[0]).collect();
        assert_eq!(batches, [300_000, 0, 0, 150_000]);
        assert_eq!(read.failures, 0);
    });
}

/// A tail of one segment, and of one byte beyond what wakes a sink.
#[test]
fn no_tail_waits_for_more() {
    steadily(|| {
        for segments in [1, 45, 46] {
            let read = play(gentle("short", &[150], segments)).unwrap();
            assert_eq!(read.completions[0].len(), 1, "{segments} segments");
            assert!(read.completions[0][0] < 20 * MILLISECOND);
        }
    });
}

#[test]
fn users_fetch_file_after_file_and_think() {
    steadily(|| {
        let mut plan = gentle("session", &[110], 0);
        plan["sessions"] = json!({
            "offsets": [0, 4], "segments": [3, 60, 5, 7],
            "think_ps": [60 * MILLISECOND, 100 * MILLISECOND, 500 * MILLISECOND, 0]
        });
        let read = play(plan).unwrap();
        // At 110, 170 and 270 ms; batches are 50 ms long.
        let batches: Vec<_> = read.delivered_bytes.iter().map(|row| row[0]).collect();
        assert_eq!(batches, [4_500, 90_000, 0, 7_500]);
        assert_eq!(read.completions[0].len(), 3);
        assert_eq!(read.failures, 0);
    });
}

/// Too short to make the next connection in: it is there before.
#[test]
fn hasty_users_fetch_every_file_in_order() {
    steadily(|| {
        let mut plan = gentle("session", &[110, 115], 0);
        plan["sessions"] = json!({
            "offsets": [0, 5, 10], "segments": [1, 20, 300, 4, 5, 1, 20, 300, 4, 5],
            "think_ps": ms(&[0, 10, 5, 0, 0, 0, 10, 5, 0, 0])
        });
        let read = play(plan).unwrap();
        assert_eq!(read.flow_bytes, [330 * 1500, 330 * 1500]);
        assert_eq!(read.completions[0].len(), 10);
        assert_eq!(read.failures, 0);
    });
}

#[test]
fn data_goes_the_other_way_too() {
    steadily(|| {
        let mut plan = gentle("short", &[120, 130], 10);
        plan["classes"][0]["reverse"] = json!(true);
        let read = play(plan).unwrap();
        assert_eq!(read.flow_bytes, [15_000, 15_000]);
        assert_eq!(read.completions[0].len(), 2);
    });
}

#[test]
fn segments_have_the_size_asked_for() {
    steadily(|| {
        let mut plan = gentle("short", &[120], 30);
        plan["flows"]["packet_bytes"] = json!([576]);
        plan["classes"][0]["max_window"] = json!(8);
        let read = play(plan).unwrap();
        assert_eq!(read.flow_bytes, [30 * 576]);
        assert_eq!(read.sent.iter().flatten().sum::<u64>(), 30);
    });
}

#[test]
fn chosen_flows_are_traced() {
    steadily(|| {
        let mut plan = gentle("long", &[0, 200], 0);
        plan["trace"] = json!({"step_ps": 10 * MILLISECOND, "flows": [1, 0]});
        let trace = play(plan).unwrap().trace;
        assert_eq!((trace.at.len(), trace.flows.len(), trace.windows.len()), (20, 2, 2));
        assert_eq!(trace.at[..2], [100 * MILLISECOND, 110 * MILLISECOND]);
        let second = &trace.flows[0];
        assert!(second.cwnd[..9].iter().all(|&cwnd| cwnd == 0.0), "it starts at 200 ms");
        assert!(second.cwnd[12..].iter().any(|&cwnd| cwnd >= 10.0), "{:?}", second.cwnd);
        assert!(trace.flows[1].srtt.iter().all(|&srtt| srtt > 0));
        assert!(trace.windows[0].0 > trace.windows[1].0);
    });
}

#[test]
fn an_unknown_congestion_control_fails_in_one_line() {
    let mut wrong = gentle("long", &[0], 0);
    wrong["congestion_controls"] = json!(["nonesuch"]);
    let failure = play(wrong).err().unwrap();
    assert!(matches!(failure, Failure::Kernel(..)) && failure.to_string().contains("nonesuch"));
}

#[test]
fn sizes_that_cannot_be_sent_are_refused() {
    let mut plan = gentle("long", &[0], 0);
    plan["flows"]["packet_bytes"] = json!([100]);
    assert!(matches!(Driver::start(&parse(plan), Clock::start()), Err(Failure::Plan(..))));
}

#[test]
fn stopping_ends_everything_at_once() {
    let clock = Clock::start();
    let driver = Driver::start(&parse(gentle("long", &[0; 50], 0)), clock).unwrap();
    std::thread::sleep(clock.until(50 * MILLISECOND));
    let told = clock.now_ps();
    driver.stop().unwrap();
    assert!(clock.now_ps() - told < 1000 * MILLISECOND);
}
