use super::*;
use crate::packet::EcnCodepoint;
use crate::queue::QueuedPacket;
use crate::queue::testbench::{self, Event, WIRE, with_ecn};
use crate::time::SECOND;

/// A packet takes 1 ms of the wire, so that four of them are no longer than the target.
fn spec(change: impl FnOnce(&mut CobaltParams)) -> super::super::registry::QueueSpec {
    let mut params = CobaltParams::default();
    change(&mut params);
    super::super::registry::QueueSpec::Cobalt(params)
}

/// As many packets as twice the wire takes.
fn flood(seconds: u64, ecn_capable: bool) -> Vec<QueuedPacket> {
    let mut packets = testbench::train(0, 1500, 0, seconds * SECOND, MILLISECOND / 2);
    if ecn_capable {
        packets.iter_mut().for_each(|packet| *packet = with_ecn(*packet, EcnCodepoint::Ect0));
    }
    testbench::merge(&[packets])
}

fn gaps(events: &[Event]) -> Vec<f64> {
    let ms = |pair: &[Event]| (pair[1].at - pair[0].at) as f64 / MILLISECOND as f64;
    events.windows(2).map(ms).collect()
}

/// The first signal comes an interval after the target was passed, the n-th after it by
/// interval/√(n + 1), to the next packet; none is early on the whole, as `drop_next` is added up.
#[test]
fn signals_come_as_the_square_root_law_has_them() {
    let spec = spec(|params| params.limit = 100_000);
    let log = testbench::run(&spec, &WIRE, 1, &flood(2, false));
    let first = log.dropped[0].at;
    // The k-th packet waits k/2 ms when it is sent at k ms: the one sent at 11 ms waited above 5.
    assert!(first.abs_diff(111 * MILLISECOND) <= MILLISECOND, "{first}");
    let mut due = first as f64 / MILLISECOND as f64;
    for (n, event) in log.dropped.iter().enumerate().skip(1).take(60) {
        due += 100.0 / ((n + 1) as f64).sqrt();
        let at = event.at as f64 / MILLISECOND as f64;
        assert!((at - due).abs() <= 2.0, "signal {n} at {at} ms, due at {due}");
    }
}

#[test]
fn what_can_be_marked_is_marked_at_the_same_times() {
    let of = |ecn_capable| {
        let spec = spec(|params| params.limit = 100_000);
        testbench::run(&spec, &WIRE, 1, &flood(1, ecn_capable))
    };
    let (marked, dropped) = (of(true), of(false));
    let marks: Vec<_> = marked.sent.into_iter().filter(|event| event.marked).collect();
    assert!(marked.dropped.is_empty() && marks.len() > 20);
    for (mark, drop) in gaps(&marks).iter().zip(gaps(&dropped.dropped)).take(20) {
        assert!((mark - drop).abs() <= 2.0, "{mark} {drop}");
    }
}

/// Marks do not slow a flood, so that it overflows: BLUE gains 1/256 for each target in which it does,
/// and half of what arrives has to go.
#[test]
fn blue_drops_what_heeds_no_marks() {
    let spec = spec(|params| params.limit = 50);
    let log = testbench::run(&spec, &WIRE, 1, &flood(20, true));
    let lost = log.dropped.iter().filter(|event| event.at > 10 * SECOND).count() as f64;
    assert!((lost / 20_000.0 - 0.5).abs() < 0.01, "{lost}");
    let mut law = ControlLaw::default();
    let setpoint = Setpoint::scaled(5 * MILLISECOND, 100 * MILLISECOND, MILLISECOND, true);
    (1..=100_u64).for_each(|n| law.overflowed(n * MILLISECOND, &setpoint));
    assert_eq!(law.probability(), 16.0 / 256.0, "at 6, 12, ... 96 ms");
    (1..=100_u64).for_each(|n| law.ran_empty((100 + n) * MILLISECOND, &setpoint));
    assert_eq!(law.probability(), 16.0 / 256.0 - 17.0 / 4096.0, "at 102, 108, ... 198 ms");
}

/// CoDel forgets what it has learnt in sixteen intervals or at once; this law steps back.
#[test]
fn below_the_target_the_count_goes_back_step_by_step() {
    let setpoint = Setpoint::scaled(5 * MILLISECOND, 100 * MILLISECOND, MILLISECOND, false);
    let mut law = ControlLaw::default();
    (law.count, law.drop_next) = (5, 0);
    let mut steps = Vec::new();
    let mut now = 0;
    while law.count > 0 {
        law.ran_empty(now, &setpoint);
        steps.push((now / MILLISECOND, law.count));
        now = law.drop_next;
    }
    // 100/√4, 100/√3, 100/√2, 100.
    assert_eq!(steps, [(0, 4), (50, 3), (107, 2), (178, 1), (278, 0)]);
    assert!(!law.is_at_rest(now - 1) && law.is_at_rest(now));
}

#[test]
fn a_slow_wire_raises_target_and_interval() {
    // tc -s shows target 18.2 ms, interval 113 ms... for 1 Mbit/s: 1514 B take 12.112 ms.
    let setpoint = Setpoint::scaled(5 * MILLISECOND, 100 * MILLISECOND, 12_112_000_000, true);
    assert_eq!(setpoint.target, 18_168_000_000);
    assert_eq!(setpoint.interval, 113_168_000_000);
    let slower = Setpoint::scaled(5 * MILLISECOND, 100 * MILLISECOND, 121 * MILLISECOND, true);
    assert_eq!(slower.interval, 2 * slower.target);
}
