use super::*;
use crate::packet::EcnCodepoint;
use crate::queue::parameters::Parameters;
use crate::queue::registry::QueueSpec;
use crate::queue::testbench::{self, Bench, Log, WIRE, train, with_ecn};
use crate::time::MILLISECOND;

const LONG: Picos = 40 * SECOND;

/// A train of `gap`, as ECT(1) or as a packet that cannot be marked.
fn packets(flow: u32, gap: Picos, end: Picos, l4s: bool) -> Vec<QueuedPacket> {
    let mut all = train(flow, 1500, 0, end, gap);
    if l4s {
        all.iter_mut().for_each(|packet| *packet = with_ecn(*packet, EcnCodepoint::Ect1));
    }
    all
}

fn run(params: DualPi2Params, trains: &[Vec<QueuedPacket>]) -> Log {
    testbench::run(&QueueSpec::DualPi2(params), &WIRE, 7, &testbench::merge(trains))
}

/// Packets of `flow` in the second half: sent, marked, dropped, and their mean wait in seconds.
fn second_half(log: &Log, flow: u32, end: Picos) -> (f64, f64, f64, f64) {
    let own = |events: &[testbench::Event]| {
        let late = events.iter().filter(|e| e.packet.flow == flow && e.packet.arrived > end / 2);
        late.copied().collect::<Vec<_>>()
    };
    let (sent, dropped) = (own(&log.sent), own(&log.dropped));
    let marked = sent.iter().filter(|event| event.marked).count() as f64;
    let waits = sent.iter().map(|event| (event.at - event.packet.arrived) as f64 / SECOND as f64);
    (sent.len() as f64, marked, dropped.len() as f64, waits.sum::<f64>() / sent.len() as f64)
}

/// The coupling of RFC 9332 (Linux, must_drop): p_C = p'^2 and p_L = k p', hence p_C = (p_L / k)^2. At a
/// p' that stands still, over 40,000 packets each: a relative error of 3 sigma at most.
#[test]
fn the_coupling_law() {
    for (k, p) in [(1, 0.3), (2, 0.2), (2, 0.45), (4, 0.1)] {
        let params = DualPi2Params { coupling_factor: k, ..DualPi2Params::default() };
        let mut queue = Bench::of(params.build(&WIRE, 3));
        (queue.queue.probability, queue.queue.next_update) = (p, Picos::MAX);
        let packet = |l4s| packets(0, 1, 1, l4s)[0];
        (0..5).for_each(|_| queue.enqueue(0, packet(false), &mut |_| ()));
        let (mut dropped, mut marked, trials) = (0.0, 0.0, 40_000.0);
        for _ in 0..trials as u32 {
            let (l4s, classic) = (packet(true), packet(false));
            marked += f64::from(u8::from(queue.queue.judge(&l4s, true) == Signal::Mark));
            dropped += f64::from(u8::from(queue.queue.judge(&classic, false) == Signal::Drop));
        }
        let (p_l, p_c) = (marked / trials, dropped / trials);
        let within = |found: f64, law: f64| {
            let sigma = (law * (1.0 - law) / trials).sqrt();
            assert!((found - law).abs() < 3.0 * sigma, "k {k} p' {p}: {found} {law}");
        };
        within(p_l, f64::from(k) * p);
        within(p_c, p * p);
    }
}

/// Linux, calculate_probability: a packet of either queue that has waited d at a step adds
/// alpha (d - target), and the change of d adds beta times that. By hand: d = 16, 32, 48 ms: 0.16 (1, 17, 33) ms + 3.2 · 16 ms each.
#[test]
fn a_step_of_the_probability() {
    for l4s in [false, true] {
        let mut queue = Bench::of(DualPi2Params::default().build(&WIRE, 0));
        let waiting = packets(0, 1, 1, l4s)[0];
        queue.enqueue(0, waiting, &mut |_| ());
        queue.queue.catch_up(48 * MILLISECOND);
        let expected = 0.16 * (0.001 + 0.017 + 0.033) + 3.2 * 0.048;
        assert!(
            (queue.queue.probability() - expected).abs() < 1e-12,
            "{}",
            queue.queue.probability()
        );
        // It is sent; the queue is empty, and p' runs down to nothing and stays there.
        assert!(queue.dequeue(48 * MILLISECOND, &mut |_| ()).is_some());
        queue.queue.catch_up(64 * MILLISECOND);
        assert!(
            (queue.queue.probability() - (expected - 0.16 * 0.015 - 3.2 * 0.048)).abs() < 1e-12
        );
        queue.queue.catch_up(100_000 * SECOND);
        assert_eq!(queue.queue.probability(), 0.0);
        assert!(queue.queue.next_update > 100_000 * SECOND);
    }
}

/// Ten L packets at once, a millisecond each: the third waits 2 ms, the first beyond the step of 1 ms.
#[test]
fn the_step_marks_what_waited_longer() {
    let burst: Vec<_> = (0..10).map(|_| packets(0, 1, 1, true)).collect();
    let log = run(DualPi2Params::default(), &burst);
    let marks: Vec<_> = log.sent.iter().map(|event| event.marked).collect();
    assert_eq!(marks, [&[false; 2][..], &[true; 8]].concat());
    let classic: Vec<_> = (0..10).map(|_| packets(0, 1, 1, false)).collect();
    assert!(run(DualPi2Params::default(), &classic).sent.iter().all(|event| !event.marked));
}

/// While both queues wait, they are sent by `classic_protection` to the rest.
#[test]
fn neither_queue_starves() {
    for percent in [10, 25, 50] {
        let trains =
            [packets(0, MILLISECOND, SECOND, false), packets(1, MILLISECOND, SECOND, true)];
        // Nothing is signalled: the target is beyond any delay.
        let params = DualPi2Params {
            classic_protection: percent,
            target: 3600 * SECOND,
            ..DualPi2Params::default()
        };
        let log = run(params, &trains);
        let while_both = log.sent.iter().filter(|event| event.at < SECOND);
        let classic = while_both.filter(|event| event.packet.flow == 0).count();
        assert!((classic as f64 - 10.0 * f64::from(percent)).abs() < 15.0, "{percent}: {classic}");
        assert!(log.dropped.is_empty());
    }
}

/// Twice what the wire carries, from senders that do not respond: half is dropped, p'^2 = 1/2, above the
/// (1/k)^2 = 25 % at which k p' is 1 (Linux, must_drop). In either queue, and the delay is the target.
#[test]
fn unresponsive_overload_is_dropped_at_the_square() {
    for l4s in [false, true] {
        let log = run(DualPi2Params::default(), &[packets(0, MILLISECOND / 2, LONG, l4s)]);
        let (sent, marked, dropped, wait) = second_half(&log, 0, LONG);
        assert!((dropped / (sent + dropped) - 0.5).abs() < 0.01, "{l4s}: {dropped} {sent}");
        assert!((wait - 0.015).abs() < 0.005, "{l4s}: {wait}");
        // What is not dropped of the L queue is marked.
        assert!(if l4s { marked > 0.99 * sent } else { marked == 0.0 });
    }
}

/// With `overflow` no L packet is dropped but by a full queue.
#[test]
fn without_drops_the_queue_fills() {
    let params = DualPi2Params { drop_on_overload: false, limit: 500, ..DualPi2Params::default() };
    let log = run(params, &[packets(0, MILLISECOND / 2, 10 * SECOND, true)]);
    assert!(log.dropped.iter().all(|event| event.at == event.packet.arrived));
    let (sent, marked, _, wait) = second_half(&log, 0, 10 * SECOND);
    assert!(marked == sent && (wait - 0.5).abs() < 0.01, "{wait}");
}

/// ECT(0) goes to the C queue and is marked there; with `any_ect` to the L queue. Linux, dualpi2_classic_marking:
/// an overloaded C queue drops what it would mark.
#[test]
fn ect_0_is_classic_but_with_any_ect() {
    for any_ect in [false, true] {
        let params = DualPi2Params { any_ect, ..DualPi2Params::default() };
        let mut queue = Bench::of(params.build(&WIRE, 0));
        let ect0 = with_ecn(train(0, 1500, 0, 1, 1)[0], EcnCodepoint::Ect0);
        queue.enqueue(0, ect0, &mut |_| ());
        assert_eq!(
            (queue.queue.classic.len(), queue.queue.l4s.len()),
            if any_ect { (0, 1) } else { (1, 0) }
        );
    }
    let mut queue = Bench::of(DualPi2Params::default().build(&WIRE, 0));
    let ect0 = with_ecn(train(0, 1500, 0, 1, 1)[0], EcnCodepoint::Ect0);
    (0..5).for_each(|_| queue.enqueue(0, ect0, &mut |_| ()));
    for (p, struck) in [(0.49, Signal::Mark), (0.51, Signal::Drop)] {
        queue.queue.probability = p;
        assert!(
            (0..100).all(|_| [Signal::None, struck].contains(&queue.queue.judge(&ect0, false)))
        );
    }
}

/// Linux, dequeue_packet: the L queue's turn is while `c_protection_credit <= 0`, so with equal weights,
/// which begin at 0, it goes first.
#[test]
fn with_a_credit_of_nothing_the_l_queue_goes_first() {
    let params = DualPi2Params { classic_protection: 50, ..DualPi2Params::default() };
    let mut queue = Bench::of(params.build(&WIRE, 3));
    queue.enqueue(0, packets(0, 1, 1, false)[0], &mut |_| ());
    queue.enqueue(0, packets(1, 1, 1, true)[0], &mut |_| ());
    assert_eq!(queue.queue.credit, 0);
    let (_, l4s, _) = queue.queue.next().expect("two wait");
    assert!(l4s);
}
