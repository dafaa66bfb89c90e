use super::*;
use crate::queue::parameters::Parameters;
use crate::queue::registry::QueueSpec;
use crate::queue::testbench::{self, WIRE};

fn pie(params: PieParams) -> Pie {
    params.build(&WIRE, 5)
}

/// A queue of so many packets, each 1 ms on the toy's wire.
fn queue(packets: u64) -> Backlog {
    Backlog { packets: packets as usize, bytes: 1500 * packets, delay: packets * MILLISECOND }
}

#[test]
fn steps_of_the_probability_are_section_4_2_s() {
    let mut pie = pie(PieParams::default());
    // By hand, α = 0.125 Hz, β = 1.25 Hz. 20 ms after 0: 0.125·0.005 + 1.25·0.020 = 0.025625,
    // of which 1/2048 while p < 1e-6.
    pie.step(20 * MILLISECOND);
    let first = 0.025625 / 2048.0;
    assert!((pie.probability() - first).abs() < 1e-15);
    // 20 ms again: 0.125·0.005 = 0.000625, of which 1/128 as p = 1.25e-5.
    pie.step(20 * MILLISECOND);
    let second = first + 0.000625 / 128.0;
    assert!((pie.probability() - second).abs() < 1e-15);
    // 10 ms: −0.125·0.005 − 1.25·0.010 = −0.013125, of which 1/128: below 0, so 0.
    pie.step(10 * MILLISECOND);
    assert_eq!(pie.probability(), 0.0);
}

#[test]
fn gains_halve_once_then_quarter_with_each_decade() {
    let at = [1.0, 0.1, 0.05, 5e-3, 5e-4, 5e-5, 5e-6, 5e-7];
    let gains = [1.0, 1.0, 0.5, 0.125, 0.03125, 0.0078125, 0.001953125, 0.00048828125];
    for (probability, expected) in at.into_iter().zip(gains) {
        assert_eq!(gain(probability), expected, "{probability}");
    }
}

#[test]
fn large_steps_are_capped_and_a_delay_of_250_ms_adds_2_percent() {
    let mut pie = pie(PieParams::default());
    pie.probability = 0.2;
    pie.step(200 * MILLISECOND); // 0.273 uncapped.
    assert!((pie.probability() - 0.22).abs() < 1e-12);
    pie.step(251 * MILLISECOND);
    assert!((pie.probability() - 0.26).abs() < 1e-12);
}

#[test]
fn an_empty_queue_decays_the_probability() {
    let mut pie = pie(PieParams::default());
    pie.probability = 0.5;
    pie.step(0);
    // The first takes α·(0 − 15 ms) only if β sees no change: delay was 0 before, too.
    assert!((pie.probability() - (0.5 - 0.125 * 0.015) * 63.0 / 64.0).abs() < 1e-12);
}

#[test]
fn steps_are_caught_up_on_arrival_with_the_delay_of_their_time() {
    let mut lazy = pie(PieParams::default());
    lazy.on_enqueue(0, 1500, false, &queue(44)); // The queue is 45 ms long with it.
    lazy.on_enqueue(61 * MILLISECOND, 1500, false, &queue(0));
    let mut eager = pie(PieParams::default());
    for left in [30, 15, 0, 0] {
        eager.step(left * MILLISECOND);
    }
    assert_eq!(lazy.probability(), eager.probability());
    assert_eq!(lazy.burst_allowance, eager.burst_allowance);
    assert_eq!(lazy.next_update, 75 * MILLISECOND);
}

#[test]
fn a_long_silence_costs_no_steps_and_changes_nothing() {
    let mut pie = pie(PieParams::default());
    pie.on_enqueue(0, 1500, false, &queue(0));
    pie.on_enqueue(1_000_000 * SECOND, 1500, false, &queue(0));
    assert!(pie.is_quiescent());
    assert!(pie.next_update > 1_000_000 * SECOND);
    assert!(pie.next_update <= 1_000_000 * SECOND + 15 * MILLISECOND);
    assert_eq!(pie.next_update % (15 * MILLISECOND), 0);
}

#[test]
fn a_burst_of_150_ms_passes_whatever_the_probability() {
    let mut pie = pie(PieParams::default());
    for arrival in 0..300_u64 {
        let now = arrival * MILLISECOND;
        let fate = pie.on_enqueue(now, 1500, false, &queue(100));
        assert!(fate == EnqueueDecision::Accept || now >= 150 * MILLISECOND, "at {arrival} ms");
    }
    assert!(pie.probability() > 0.0);
}

#[test]
fn drops_come_neither_at_once_nor_never() {
    // Section 5.4: at p = 0.05 no drop before the 17th packet, and one by the 170th at the latest.
    let mut gaps = Vec::new();
    let mut pie = pie(PieParams::default());
    pie.burst_allowance = 0;
    pie.delay = 20 * MILLISECOND;
    pie.probability = 0.05;
    let mut gap = 0;
    while gaps.len() < 2000 {
        gap += 1;
        if pie.drops_early(1500, &queue(20)) {
            gaps.push(gap);
            gap = 0;
        }
    }
    let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
    assert!(*gaps.iter().min().expect("drops") >= 17);
    assert!(*gaps.iter().max().expect("drops") <= 171);
    // 16 packets that pass, then a geometric wait of mean 1/p.
    assert!((mean - 36.0).abs() < 1.5, "{mean}");
}

#[test]
fn safeguards_let_pass() {
    let mut pie = pie(PieParams::default());
    pie.burst_allowance = 0;
    pie.probability = 0.19;
    pie.accumulated = 8.0;
    pie.delay = 7 * MILLISECOND;
    assert!((0..100).all(|_| !pie.drops_early(1500, &queue(20))), "below half the target");
    pie.delay = 20 * MILLISECOND;
    assert!((0..100).all(|_| !pie.drops_early(1500, &queue(1))), "less than two packets");
    assert!((0..100).any(|_| pie.drops_early(1500, &queue(20))));
}

#[test]
fn bytemode_scales_with_size() {
    let mut pie = pie(PieParams { bytemode: true, ..PieParams::default() });
    pie.probability = 0.1;
    assert!((pie.probability_for(150) - 0.01).abs() < 1e-15);
    assert_eq!(pie.probability_for(1500), 0.1);
}

#[test]
fn marks_up_to_ten_percent_then_drops() {
    let fate = |ecn, probability, capable| {
        let mut pie = pie(PieParams { ecn, ..PieParams::default() });
        pie.burst_allowance = 0;
        pie.delay = 20 * MILLISECOND;
        pie.probability = probability;
        pie.accumulated = 8.5;
        pie.on_enqueue(0, 1500, capable, &queue(20))
    };
    assert_eq!(fate(true, 0.1, true), EnqueueDecision::Mark);
    assert_eq!(fate(true, 0.1, false), EnqueueDecision::Drop);
    assert_eq!(fate(true, 0.11, true), EnqueueDecision::Drop);
    assert_eq!(fate(false, 0.1, true), EnqueueDecision::Drop);
}

#[test]
fn constant_overload_settles_at_the_target_with_the_excess_dropped() {
    // Twice the wire's rate that no drop slows: p must come to 1/2, and the delay to the target.
    let packets = testbench::merge(&[testbench::train(0, 1500, 0, 120 * SECOND, MILLISECOND / 2)]);
    let log = testbench::run(&QueueSpec::Pie(PieParams::default()), &WIRE, 3, &packets);
    let late = |at: Picos| at > 80 * SECOND;
    let dropped = log.dropped.iter().filter(|event| late(event.at)).count();
    let arrived = packets.iter().filter(|packet| late(packet.arrived)).count();
    let share = dropped as f64 / arrived as f64;
    assert!((share - 0.5).abs() < 0.005, "{share}");
    let delays: Vec<f64> = log
        .sent
        .iter()
        .filter(|event| late(event.at))
        .map(|event| seconds(event.at - event.packet.arrived))
        .collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!((mean - 0.015).abs() < 0.001, "{mean}");
}
