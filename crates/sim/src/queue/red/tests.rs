use super::*;
use crate::queue::parameters::Parameters;
use crate::queue::testbench::WIRE;
use crate::time::MILLISECOND;

/// min 5 and max 15 packets of 1000 bytes, as Floyd and Jacobson's simulations have them.
fn params() -> RedParams {
    RedParams {
        limit: 1_000_000,
        min: Some(5_000),
        max: Some(15_000),
        avpkt: 1000,
        weight: Some(0.002),
        ..RedParams::default()
    }
}

fn busy(bytes: u64) -> Backlog {
    Backlog { packets: (bytes / 1000) as usize, bytes, delay: MILLISECOND }
}

/// A queue whose average has settled at `bytes`.
fn settled(params: RedParams, seed: u64, bytes: f64) -> Red {
    let mut red = params.build(&WIRE, seed);
    red.average = bytes;
    red
}

#[test]
fn the_average_of_a_burst_is_equation_3_of_the_paper() {
    // L packets back to back at an empty queue: avg_L = L + 1 + ((1 − w)^(L+1) − 1)/w. The
    // paper's queue counts the arriving packet; ours has 0, 1, …, L, so it is avg after L + 1.
    let mut red = RedParams { min: Some(900_000), max: Some(990_000), ..params() }.build(&WIRE, 1);
    for arrival in 0..=50 {
        let backlog = Backlog { packets: arrival, bytes: 1000 * arrival as u64, delay: 1 };
        red.on_enqueue(0, 1000, false, &backlog);
    }
    let w: f64 = 0.002;
    let expected = 50.0 + 1.0 + ((1.0 - w).powi(51) - 1.0) / w;
    assert!((red.average_bytes() / 1000.0 - expected).abs() < 1e-9, "{expected}");
    // Section 6: with w = 0.002 a burst of 50 packets stays below a minimum of 5.
    assert!(expected < 5.0);
}

#[test]
fn an_idle_time_counts_as_the_packets_that_could_have_gone() {
    let mut red = params().build(&WIRE, 1);
    red.average = 4_000.0;
    red.on_enqueue(0, 1000, false, &Backlog::default());
    // 1000 bytes take 2/3 ms on this wire: idle from then, for 10.5 ms, hence 15 packets.
    let now = red.typical + 21 * MILLISECOND / 2;
    red.on_enqueue(now, 1000, false, &Backlog::default());
    let expected = 4_000.0 * (1.0_f64 - 0.002).powi(15);
    assert!((red.average_bytes() - expected).abs() < 1e-9, "{}", red.average_bytes());
}

#[test]
fn the_probability_is_linear_and_gentle_goes_on_to_one() {
    let at = |gentle, average| {
        settled(RedParams { gentle, probability: 0.1, ..params() }, 1, average).probability()
    };
    assert_eq!(at(false, 5_000.0), Some(0.0));
    assert_eq!(at(false, 10_000.0), Some(0.05));
    assert_eq!(at(false, 15_000.0), None);
    assert_eq!(at(true, 15_000.0), Some(0.1));
    assert_eq!(at(true, 22_500.0), Some(0.55));
    assert_eq!(at(true, 30_000.0), None);
}

/// Gaps between drops with the average held at `average`.
fn gaps(params: RedParams, average: f64, drops: usize) -> Vec<u32> {
    let mut red = settled(params, 7, average);
    let (mut gaps, mut gap) = (Vec::new(), 0);
    while gaps.len() <= drops {
        gap += 1;
        let fate = red.on_enqueue(0, 1000, false, &busy(average as u64));
        if fate == EnqueueDecision::Drop {
            gaps.push(gap);
            gap = 0;
        }
    }
    gaps.split_off(1)
}

#[test]
fn gaps_between_drops_are_uniform_from_1_to_1_over_p() {
    // Section 7, method 2: with p_b = 0.05 a gap is 1, …, 20, each as likely, mean 10.5.
    let gaps = gaps(RedParams { probability: 0.1, ..params() }, 10_000.0, 20_000);
    let mut seen = [0_u32; 21];
    for &gap in &gaps {
        seen[gap as usize] += 1;
    }
    let mean = gaps.iter().map(|&gap| f64::from(gap)).sum::<f64>() / gaps.len() as f64;
    assert!((mean - 10.5).abs() < 0.15, "{mean}");
    for (gap, &count) in seen.iter().enumerate().skip(1) {
        assert!((850..1150).contains(&count), "gap {gap}: {count}");
    }
}

#[test]
fn the_first_packet_between_the_thresholds_passes_and_only_counts() {
    for seed in 0..100 {
        let mut red = settled(RedParams { probability: 1.0, ..params() }, seed, 14_999.0);
        assert_eq!(red.on_enqueue(0, 1000, false, &busy(14_999)), EnqueueDecision::Accept);
        // Below the minimum the count starts anew.
        red.count = 1000;
        red.average = 4_000.0;
        assert_eq!(red.on_enqueue(0, 1000, false, &busy(4_000)), EnqueueDecision::Accept);
        red.average = 14_999.0;
        assert_eq!(red.on_enqueue(0, 1000, false, &busy(14_999)), EnqueueDecision::Accept);
    }
}

#[test]
fn below_min_nothing_is_lost_and_beyond_max_everything() {
    let mut below = settled(params(), 3, 4_999.0);
    let mut beyond = settled(params(), 3, 15_001.0);
    for _ in 0..1000 {
        assert_eq!(below.on_enqueue(0, 1000, false, &busy(4_999)), EnqueueDecision::Accept);
        assert_eq!(beyond.on_enqueue(0, 1000, false, &busy(16_000)), EnqueueDecision::Drop);
    }
}

#[test]
fn marks_replace_drops_for_packets_that_can_be_marked_only() {
    let ecn = RedParams { ecn: true, ..params() };
    let forced =
        |params, capable| settled(params, 3, 16_000.0).on_enqueue(0, 1000, capable, &busy(16_000));
    assert_eq!(forced(ecn, true), EnqueueDecision::Mark);
    assert_eq!(forced(ecn, false), EnqueueDecision::Drop);
    assert_eq!(forced(params(), true), EnqueueDecision::Drop);
    assert_eq!(forced(RedParams { harddrop: true, ..ecn }, true), EnqueueDecision::Drop);
    let full = RedParams { limit: 16_500, ..ecn };
    assert_eq!(forced(full, true), EnqueueDecision::Drop);
}

#[test]
fn weight_1_marks_by_the_instantaneous_queue_as_dctcp_wants_it() {
    // RFC 8257, section 3.1: mark whatever finds more than K in the queue.
    let step = RedParams {
        min: Some(30_000),
        max: Some(30_001),
        weight: Some(1.0),
        probability: 1.0,
        ecn: true,
        ..params()
    };
    let mut red = step.build(&WIRE, 1);
    assert_eq!(red.on_enqueue(0, 1000, true, &busy(29_000)), EnqueueDecision::Accept);
    assert_eq!(red.on_enqueue(0, 1000, true, &busy(31_000)), EnqueueDecision::Mark);
    assert_eq!(red.on_enqueue(0, 1000, true, &busy(29_000)), EnqueueDecision::Accept);
}

#[test]
fn powers_by_squaring() {
    assert_eq!(power(0.5, 10), 1.0 / 1024.0);
    assert_eq!(power(0.998, 0), 1.0);
    assert_eq!(power(0.998, u64::MAX), 0.0);
    assert_eq!(power(0.0, 3), 0.0);
}
