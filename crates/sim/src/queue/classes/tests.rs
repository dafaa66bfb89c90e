use super::*;
use crate::packet::{EcnCodepoint, Payload};
use crate::queue::fifo::{BfifoParams, PfifoParams};
use crate::queue::parameters::Parameters;
use crate::queue::red::RedParams;
use crate::queue::registry::QueueSpec;
use crate::queue::testbench::{self, Event, Log, WIRE};
use crate::time::{MILLISECOND, SECOND};
use proptest::prelude::*;

fn class(priority: u32, weight: f64, packets: u32) -> ClassParams {
    let queue = ClassDiscipline::Pfifo(PfifoParams { limit: packets });
    ClassParams { queue, priority, weight, ..ClassParams::default() }
}

/// A queue for each class, in which traffic class i takes queue i.
fn spec(classes: Vec<ClassParams>) -> QueueSpec {
    let of_traffic = (0..classes.len() as u16).collect();
    QueueSpec::Classes(ClassesParams { classes, of_traffic })
}

fn of_flow(events: &[Event], flow: u32) -> impl Iterator<Item = &Event> {
    events.iter().filter(move |event| event.packet.flow == flow)
}

fn bytes(log: &Log, flow: u32, from: Picos, to: Picos) -> u64 {
    let within = of_flow(&log.sent, flow).filter(|event| (from..to).contains(&event.at));
    within.map(|event| u64::from(event.packet.bytes)).sum()
}

#[test]
fn a_lower_priority_is_never_served_while_a_higher_one_waits() {
    // The wire sends a packet of 1500 B each ms; class 0 has bursts of three, class 1 what is left.
    let bursts = (0..3).map(|_| testbench::train(0, 1500, 0, SECOND, 5 * MILLISECOND));
    let mut trains: Vec<_> = bursts.collect();
    trains.push(testbench::train(1, 700, 0, SECOND, MILLISECOND / 3));
    trains.push(testbench::train(2, 900, 0, SECOND, MILLISECOND / 2));
    let log = testbench::run(
        &spec(vec![class(1, 1.0, 50), class(2, 1.0, 50), class(7, 1.0, 50)]),
        &WIRE,
        1,
        &testbench::merge(&trains),
    );
    assert!(of_flow(&log.dropped, 0).next().is_none());
    assert!(of_flow(&log.sent, 1).count() > 100);
    for low in log.sent.iter().filter(|event| event.packet.flow > 0) {
        for high in log.sent.iter().filter(|event| event.packet.flow < low.packet.flow) {
            let waited_through = high.packet.arrived < low.at && low.at < high.at;
            assert!(!waited_through, "{low:?} before {high:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Three classes that always have packets share the wire by their weights, in bytes, whatever
    /// the sizes of their packets: no class is further from its share than its own turn, a turn of
    /// each of the others, and a packet.
    #[test]
    fn backlogged_classes_share_by_weight_in_bytes(
        weights in proptest::array::uniform3(1_u32..20),
        sizes in proptest::array::uniform3(64_u32..=1500),
    ) {
        let weights = weights.map(f64::from);
        let trains: Vec<_> = (0..3)
            .zip(sizes)
            .map(|(flow, size)| {
                let gap = u64::from(size) * MILLISECOND / 1500;
                testbench::train(flow, size, 0, 3 * SECOND, gap)
            })
            .collect();
        let classes = weights.map(|weight| class(0, weight, 60)).to_vec();
        let log = testbench::run(&spec(classes), &WIRE, 1, &testbench::merge(&trains));
        let (from, to) = (SECOND, 3 * SECOND);
        let sent = [0, 1, 2].map(|flow| bytes(&log, flow, from, to) as f64);
        let all: f64 = sent.iter().sum();
        prop_assert!((all - 3e6).abs() <= 3000.0, "the wire is busy: {all}");
        let lightest = weights.into_iter().fold(f64::INFINITY, f64::min);
        let round: f64 = weights.iter().map(|weight| 1500.0 * weight / lightest).sum();
        for (sent, weight) in sent.into_iter().zip(weights) {
            let share = all * weight / weights.iter().sum::<f64>();
            prop_assert!((sent - share).abs() <= round + 2.0 * 1500.0, "{sent} {share}");
        }
    }
}

#[test]
fn turns_are_a_quantum_and_what_is_left_is_kept() {
    // Quanta of 1500 and 3000 B; packets of 1000 B: 1, 3, 2, 3, … packets in turn, as 500 B are kept.
    let params = ClassesParams {
        classes: vec![class(0, 1.0, 99), class(0, 2.0, 99)],
        of_traffic: vec![0, 1],
    };
    let mut queue = testbench::Bench::of(params.build(&WIRE, 0));
    let mut packet =
        QueuedPacket { flow: 0, class: 0, bytes: 1000, arrived: 0, payload: Payload::NONE };
    for class in [0, 1].repeat(20) {
        packet.class = class;
        queue.enqueue(0, packet, &mut |_| panic!("there is room"));
    }
    let order: Vec<_> =
        (0..12).map(|_| queue.dequeue(0, &mut |_| ()).expect("backlogged").0.class).collect();
    assert_eq!(order, [0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1]);
}

#[test]
fn what_one_class_leaves_the_others_share() {
    // Class 0 asks for a tenth of the wire, though half is its own: 1 and 2 share the rest 1 to 2.
    let packets = testbench::merge(&[
        testbench::train(0, 1500, 0, 3 * SECOND, 10 * MILLISECOND),
        testbench::train(1, 1000, 0, 3 * SECOND, MILLISECOND / 2),
        testbench::train(2, 500, 0, 3 * SECOND, MILLISECOND / 4),
    ]);
    let classes = vec![class(0, 3.0, 60), class(0, 1.0, 60), class(0, 2.0, 60)];
    let log = testbench::run(&spec(classes), &WIRE, 1, &packets);
    let [first, second, third] = [0, 1, 2].map(|flow| bytes(&log, flow, SECOND, 3 * SECOND) as f64);
    assert!((first - 300_000.0).abs() <= 3000.0, "{first}");
    assert!((second - 900_000.0).abs() <= 10_000.0, "{second}");
    assert!((third - 1_800_000.0).abs() <= 10_000.0, "{third}");
    assert!(of_flow(&log.dropped, 0).next().is_none());
}

#[test]
fn the_limit_of_one_class_does_no_harm_to_another() {
    // Class 1 overflows all the time; class 0 has its share and room for its bursts of four, which
    // find a packet on the wire.
    let four = (0..4).map(|_| testbench::train(0, 1500, MILLISECOND / 2, SECOND, 10 * MILLISECOND));
    let mut trains: Vec<_> = four.collect();
    trains.push(testbench::train(1, 1500, 0, SECOND, MILLISECOND / 4));
    let packets = testbench::merge(&trains);
    let log = testbench::run(&spec(vec![class(0, 1.0, 4), class(0, 1.0, 10)]), &WIRE, 1, &packets);
    assert!(of_flow(&log.dropped, 0).next().is_none());
    assert!(of_flow(&log.dropped, 1).count() > 3000);
    // With room for three only, the burst's own fourth is lost, and nothing else.
    let log = testbench::run(&spec(vec![class(0, 1.0, 3), class(0, 1.0, 10)]), &WIRE, 1, &packets);
    assert_eq!(of_flow(&log.dropped, 0).count(), 100);
}

#[test]
fn red_looks_at_its_own_class_alone() {
    // Both classes get half of the wire and are offered as much each: RED of min 3000 B keeps the
    // second short, the first fills up to its limit.
    let red = RedParams {
        limit: 90_000,
        min: Some(3000),
        max: Some(9000),
        weight: Some(0.02),
        probability: 0.2,
        ecn: true,
        ..RedParams::default()
    };
    let early = ClassParams { queue: ClassDiscipline::Red(red), ..ClassParams::default() };
    let mut packets = testbench::merge(&[
        testbench::train(0, 1500, 0, 4 * SECOND, MILLISECOND),
        testbench::train(1, 1500, 0, 4 * SECOND, MILLISECOND),
    ]);
    let dropping = spec(vec![class(0, 1.0, 60), early]);
    let log = testbench::run(&dropping, &WIRE, 5, &packets);
    let longest = |log: &Log, flow| {
        of_flow(&log.sent, flow).map(|event| event.at - event.packet.arrived).max().expect("sent")
    };
    assert!(log.sent.iter().all(|event| !event.marked), "none can be marked");
    assert!(longest(&log, 0) > 100 * MILLISECOND, "{}", longest(&log, 0));
    assert!(longest(&log, 1) < 50 * MILLISECOND, "{}", longest(&log, 1));
    for packet in &mut packets {
        *packet = testbench::with_ecn(*packet, EcnCodepoint::Ect0);
    }
    let log = testbench::run(&dropping, &WIRE, 5, &packets);
    assert!(of_flow(&log.sent, 0).all(|event| !event.marked), "drop-tail marks none");
    assert!(of_flow(&log.sent, 1).filter(|event| event.marked).count() > 1000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// One class is the discipline within it, packet for packet.
    #[test]
    fn one_class_is_its_own_discipline(
        gaps in proptest::collection::vec((0_u64..4 * MILLISECOND, 40_u32..=1500, any::<bool>()), 400),
        limit in 1_u32..40,
        seed in any::<u64>(),
    ) {
        let mut now = 0;
        let packets: Vec<_> = gaps.iter().zip(0..).map(|(&(gap, bytes, ecn_capable), number)| {
            now += gap / 2;
            let flow = number % 3;
            let ecn = if ecn_capable { EcnCodepoint::Ect0 } else { EcnCodepoint::NotEct };
            QueuedPacket { flow, class: flow as u16, bytes, arrived: now, payload: Payload::data(number.into(), 0).with_ecn(ecn, false) }
        }).collect();
        let red = RedParams {
            min: Some(2000), max: Some(9000), weight: Some(0.1), ecn: true, ..RedParams::default()
        };
        for queue in [
            QueueSpec::Pfifo(PfifoParams { limit }),
            QueueSpec::Bfifo(BfifoParams { limit: 700 * u64::from(limit) }),
            QueueSpec::Red(red.sized(limit, 1500)),
        ] {
            let alone = testbench::run(&queue, &WIRE, seed, &packets);
            let queue = ClassDiscipline::try_from(queue).expect("plain");
            let class = ClassParams { queue, ..ClassParams::default() };
            let within = testbench::run(&spec(vec![class]), &WIRE, seed, &packets);
            let fates = |log: &Log| -> Vec<_> {
                let all = log.sent.iter().chain(&log.dropped);
                all.map(|event| (event.at, event.packet, event.marked)).collect()
            };
            prop_assert_eq!(fates(&alone), fates(&within));
        }
    }
}

#[test]
fn traffic_classes_find_their_queue_whatever_the_link_numbers_them() {
    let classes = [class(0, 1.0, 1), class(1, 1.0, 2), class(2, 1.0, 3)].to_vec();
    let params = ClassesParams { classes, of_traffic: vec![2, 0, 1, 1, 0] };
    assert_eq!(params.numbered(&[1, 2, 4]).of_traffic, [0, 1, 0]);
    assert_eq!(params.numbered(&[0, 9]).of_traffic, [2, 0], "not listed: the first");
    assert_eq!(params.build(&WIRE, 0).capacity(), 6);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let field = |classes: Vec<ClassParams>, of_traffic| {
        ClassesParams { classes, of_traffic }.check().expect_err("impossible").field
    };
    assert_eq!(field(vec![], vec![]), "classes");
    assert_eq!(field(vec![class(0, 1.0, 9)], vec![0, 1]), "of_traffic");
    assert_eq!(field(vec![class(0, 0.0, 9)], vec![]), "weight");
    assert_eq!(field(vec![class(0, f64::NAN, 9)], vec![]), "weight");
    assert_eq!(field(vec![class(0, 1e-6, 9), class(0, 2.0, 9)], vec![]), "weight");
    assert_eq!(field(vec![class(0, 1.0, 0)], vec![]), "limit");
    let nested = ClassDiscipline::try_from(spec(vec![class(0, 1.0, 9)])).unwrap_err();
    assert_eq!(nested.to_string(), "classes: queue must be pfifo, bfifo or red");
}

/// A flood of each class for four seconds: bytes of each in the last three.
fn shares(classes: Vec<ClassParams>) -> Vec<u64> {
    let flood = |flow| testbench::train(flow, 1500, 0, 4 * SECOND, MILLISECOND / 2);
    let trains: Vec<_> = (0..classes.len() as u32).map(flood).collect();
    let count = classes.len() as u32;
    let log = testbench::run(&spec(classes), &WIRE, 1, &testbench::merge(&trains));
    (0..count).map(|flow| bytes(&log, flow, SECOND, 4 * SECOND)).collect()
}

/// Bytes that a rate sends in three seconds, give or take two packets.
fn of_rate(got: u64, mbps: f64) -> bool {
    (got as f64 - mbps * 3e6 / 8.0).abs() <= 3000.0
}

#[test]
fn a_class_gets_its_max_rate_and_the_others_the_rest() {
    let held = |mbps: f64| {
        let max_rate = Some(MaxRate { rate_bps: mbps * 1e6, burst_bytes: None });
        ClassParams { max_rate, ..class(1, 1.0, 50) }
    };
    for (mbps, others) in [(0.1, 5.95), (2.0, 5.0), (3.9, 4.05)] {
        let got = shares(vec![held(mbps), class(1, 1.0, 50), class(1, 1.0, 50)]);
        assert!(of_rate(got[0], mbps), "{mbps}: {got:?}");
        assert!(got[1..].iter().all(|&other| of_rate(other, others)), "{mbps}: {got:?}");
    }
    // Its weight would not give it more than 4 of 12 Mbit/s: what it is held to changes nothing.
    let got = shares(vec![held(8.0), class(1, 1.0, 50), class(1, 1.0, 50)]);
    assert!(got.iter().all(|&each| of_rate(each, 4.0)), "{got:?}");
    // Strict priority up to a rate, as routers police it: then those behind are served.
    let first = ClassParams { priority: 0, ..held(5.0) };
    let got = shares(vec![first, class(1, 3.0, 50), class(1, 1.0, 50)]);
    assert!(of_rate(got[0], 5.0) && of_rate(got[1], 5.25) && of_rate(got[2], 1.75), "{got:?}");
}

#[test]
fn held_classes_leave_the_wire_idle_and_an_arrival_of_another_goes_at_once() {
    let max_rate = Some(MaxRate { rate_bps: 1.2e6, burst_bytes: None });
    let held = ClassParams { max_rate, ..class(1, 1.0, 50) };
    let packets = testbench::merge(&[
        testbench::train(0, 1500, 0, SECOND, 5 * MILLISECOND),
        testbench::train(1, 1500, 3 * MILLISECOND + 1, SECOND, 50 * MILLISECOND),
    ]);
    let log = testbench::run(&spec(vec![held, class(1, 1.0, 50)]), &WIRE, 1, &packets);
    let at: Vec<_> = of_flow(&log.sent, 0).map(|event| event.at).take(50).collect();
    // One each 10 ms, and the fourth of the burst of three packets that two classes and one more allow.
    let late = at.iter().zip(0..).all(|(&at, n)| at.abs_diff(n * 10 * MILLISECOND) <= MILLISECOND);
    assert!(late, "{at:?}");
    for event in of_flow(&log.sent, 1) {
        assert!(event.at - event.packet.arrived < MILLISECOND, "{event:?}");
    }
}

#[test]
fn a_class_gets_its_min_rate_and_its_share_of_the_rest() {
    let least =
        |mbps: f64, weight| ClassParams { min_rate_bps: Some(mbps * 1e6), ..class(1, weight, 50) };
    // 12 - 6 - 2 are left, and shared 1 : 1 : 2.
    let got = shares(vec![least(6.0, 1.0), least(2.0, 1.0), class(1, 2.0, 50)]);
    assert!(of_rate(got[0], 7.0) && of_rate(got[1], 3.0) && of_rate(got[2], 2.0), "{got:?}");
    // All of the wire is promised: nothing is left to share.
    let got = shares(vec![least(9.0, 1.0), least(3.0, 1.0), class(1, 50.0, 50)]);
    assert!(of_rate(got[0], 9.0) && of_rate(got[1], 3.0) && got[2] <= 3000, "{got:?}");
    // A strict priority comes first, and promises behind it are of what it leaves.
    let max_rate = Some(MaxRate { rate_bps: 4e6, burst_bytes: None });
    let voice = ClassParams { max_rate, ..class(0, 1.0, 50) };
    let got = shares(vec![voice, least(5.0, 1.0), class(1, 2.0, 50)]);
    assert!(of_rate(got[0], 4.0) && of_rate(got[1], 6.0) && of_rate(got[2], 2.0), "{got:?}");
}

#[test]
fn rates_out_of_order_are_refused() {
    let max_rate = Some(MaxRate { rate_bps: 1e6, burst_bytes: None });
    let wrong = ClassParams { min_rate_bps: Some(2e6), max_rate, ..class(0, 1.0, 9) };
    let field = |class: ClassParams| spec(vec![class]).check().expect_err("wrong").field;
    assert_eq!(field(wrong), "max_rate");
    let none = ClassParams { min_rate_bps: Some(0.0), ..class(0, 1.0, 9) };
    assert_eq!(field(none), "min_rate");
}
