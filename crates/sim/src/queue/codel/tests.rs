use super::*;
use crate::packet::EcnCodepoint;
use crate::queue::registry::QueueSpec;
use crate::queue::testbench::{self, Log, WIRE, with_ecn};
use crate::time::SECOND;

fn codel(change: impl FnOnce(&mut CodelParams)) -> QueueSpec {
    let mut params = CodelParams { limit: 1_000_000, ..CodelParams::default() };
    change(&mut params);
    QueueSpec::Codel(params)
}

/// `gap` apart for `end`; the wire takes one a millisecond.
fn flood(spec: &QueueSpec, gap: Picos, end: Picos, ecn_capable: bool) -> Log {
    let mut packets = testbench::merge(&[testbench::train(0, 1500, 0, end, gap)]);
    if ecn_capable {
        packets.iter_mut().for_each(|packet| *packet = with_ecn(*packet, EcnCodepoint::Ect0));
    }
    testbench::run(spec, &WIRE, 0, &packets)
}

/// The times of signals at constant overload, from the first: interval/√1, interval/√2, … apart,
/// each waiting for the wire, which is free every millisecond (RFC 8289, section 5.5).
fn law(first: Picos, signals: usize) -> Vec<Picos> {
    let mut exact = first as f64;
    (1..=signals)
        .map(|n| {
            let at = (exact / 1e9).ceil() as Picos * MILLISECOND;
            exact += 1e11 / (n as f64).sqrt();
            at
        })
        .collect()
}

#[test]
fn drops_follow_the_square_root_law_from_an_interval_above_target() {
    let log = flood(&codel(|_| ()), MILLISECOND / 2, 3 * SECOND, false);
    // Packet k comes at k/2 ms and goes at k ms: the tenth is the first to wait 5 ms. Until the
    // first drop nothing else happens.
    let drops: Vec<Picos> = log.dropped.iter().map(|event| event.at).collect();
    assert_eq!(drops[..40], law(110 * MILLISECOND, 40));
    // Hand-computed: 110, +100, +70.7, +57.7, +50, +44.7 ms, up to the next whole millisecond.
    assert_eq!(
        drops[..6].iter().map(|at| at / MILLISECOND).collect::<Vec<_>>(),
        [110, 210, 281, 339, 389, 434]
    );
}

#[test]
fn marks_follow_the_same_law_and_lose_nothing() {
    let log = flood(&codel(|params| params.ecn = true), MILLISECOND / 2, 3 * SECOND, true);
    assert!(log.dropped.is_empty());
    let marks: Vec<Picos> =
        log.sent.iter().filter(|event| event.marked).map(|event| event.at).collect();
    assert_eq!(marks[..40], law(110 * MILLISECOND, 40));
}

#[test]
fn an_unresponsive_flood_ends_when_the_drop_rate_reaches_the_excess() {
    // 1/√1 + … + 1/√n is 2√n − 1.46 (ζ(1/2)), so that the n-th drop comes that many intervals after
    // the first, and the drop rate √n/interval grows linearly. Against 100 packets a second too
    // many it is enough at n = 100, 1.854 s after the first drop: until then 185 packets came too
    // many and 100 were dropped. CoDel is slow against what does not respond.
    let gap = MILLISECOND * 10 / 11;
    let log = flood(&codel(|_| ()), gap, 8 * SECOND, false);
    let first = log.dropped[0].at;
    let until = |at: Picos| log.dropped.iter().filter(|event| event.at < first + at).count();
    assert!((99..=101).contains(&until(1854 * MILLISECOND)));
    assert!((114..=116).contains(&until(2 * SECOND)));
    let longest = log.waiting.iter().max().expect("arrivals");
    let at = log.waiting.iter().position(|waiting| waiting == longest).expect("there") as f64;
    let rose_for = at * gap as f64 / SECOND as f64 - first as f64 / SECOND as f64;
    // The top is flat: 0.2 s to either side the queue is a packet shorter.
    assert!((rose_for - 1.854).abs() < 0.2, "{rose_for}");
    let rose_by = longest - log.waiting[(first / gap) as usize];
    assert!((84..=88).contains(&rose_by), "{rose_by}");
}

#[test]
fn a_burst_that_drains_within_an_interval_is_left_alone() {
    let log = flood(&codel(|_| ()), MILLISECOND / 10, 10 * MILLISECOND, false);
    assert_eq!((log.dropped.len(), log.sent.len()), (0, 100));
    // Each burst has an interval of its own: what was above before does not count.
    let bursts = [0, 150, 300].map(|start| {
        let start = start * MILLISECOND;
        testbench::train(0, 1500, start, start + 10 * MILLISECOND, MILLISECOND / 10)
    });
    let thrice = testbench::run(&codel(|_| ()), &WIRE, 0, &testbench::merge(&bursts));
    assert_eq!((thrice.dropped.len(), thrice.sent.len()), (0, 300));
    let long = flood(&codel(|_| ()), MILLISECOND / 10, 30 * MILLISECOND, false);
    assert!(!long.dropped.is_empty());
}

#[test]
fn a_queue_of_one_packet_is_never_too_long() {
    // 100 kbit/s: a packet takes 120 ms, far above the target, yet at most one waits.
    let wire = Wire { rate_bps: 1e5, ..WIRE };
    let packets = testbench::merge(&[
        testbench::train(0, 1500, 0, 1, 1),
        testbench::train(0, 1500, 60 * MILLISECOND, 60 * SECOND, 120 * MILLISECOND),
    ]);
    let log = testbench::run(&codel(|_| ()), &wire, 0, &packets);
    assert!(log.sent[1..].iter().all(|event| event.at == event.packet.arrived + 60 * MILLISECOND));
    assert!(log.dropped.is_empty());
}

#[test]
fn a_dropping_state_soon_after_another_goes_on_where_that_stopped() {
    let packets = testbench::merge(&[
        testbench::train(0, 1500, 0, SECOND, MILLISECOND / 2),
        testbench::train(0, 1500, 2 * SECOND, 3 * SECOND, MILLISECOND / 2),
        testbench::train(0, 1500, 9 * SECOND, 10 * SECOND, MILLISECOND / 2),
    ]);
    let log = testbench::run(&codel(|_| ()), &WIRE, 0, &packets);
    let gap_after = |from: Picos| {
        let at: Vec<Picos> =
            log.dropped.iter().map(|event| event.at).filter(|&at| at >= from).collect();
        (at[1] - at[0]) / MILLISECOND
    };
    assert_eq!(gap_after(0), 100);
    assert!(gap_after(2 * SECOND) < 40, "within 16 intervals: {}", gap_after(2 * SECOND));
    assert_eq!(gap_after(9 * SECOND), 100);
}

#[test]
fn the_limit_holds_and_the_arrival_is_lost() {
    let log = flood(&codel(|params| params.limit = 20), MILLISECOND / 4, SECOND, false);
    assert_eq!(log.waiting.iter().max(), Some(&20));
    assert!(log.dropped.iter().any(|event| event.at == event.packet.arrived));
}

#[test]
fn ce_threshold_marks_what_waited_longer() {
    let spec = codel(|params| params.ce_threshold = Some(MILLISECOND));
    let log = flood(&spec, MILLISECOND / 2, 50 * MILLISECOND, true);
    for event in &log.sent {
        assert_eq!(event.marked, event.at - event.packet.arrived > MILLISECOND);
    }
}
