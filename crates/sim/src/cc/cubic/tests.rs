use super::*;
use crate::cc::testing;

type Linux = Cubic<717, true>;
type Old8 = Cubic<819, false>;

fn reduced<const BETA: u32, const HYSTART: bool>(
    cwnd: f64,
) -> (Cubic<BETA, HYSTART>, Window, Epoch) {
    let mut cubic = Cubic::<BETA, HYSTART>::default();
    let mut window = testing::window(cwnd);
    window.ssthresh = cubic.ssthresh(&window, 0, CongestionEvent::Loss);
    window.cwnd = window.ssthresh;
    let epoch = Epoch::new(window.cwnd, cubic.last_max, 0, false);
    (cubic, window, epoch)
}

#[test]
fn cube_roots_are_exact_to_rounding() {
    for x in [1e-9, 0.3, 1.0, 27.0, 750.0, 1e6, 1e12] {
        assert!((cube_root(x).powi(3) / x - 1.0).abs() < 1e-14, "{x}");
    }
    assert_eq!(cube_root(0.0), 0.0);
}

/// Linux, cubic_root: within 0.2 % of the root, in whole 1/1024 s.
#[test]
fn ks_of_linux_are_near_the_root() {
    assert_eq!((linux_k(0.0), linux_k(1e-12)), (0.0, 0.0));
    for segments in [1.0, 2.0, 10.0, 300.0, 5e4, 2e9] {
        let exact = cube_root(segments / LINUX_C);
        let k = linux_k(segments);
        assert!((k / exact - 1.0).abs() < 2e-3, "{segments}: {k} for {exact}");
        assert_eq!(k * 1024.0, (k * 1024.0).floor());
    }
}

/// Linux, bictcp_update: the curve is read in another tick of the clock, not a tick after it was read.
#[test]
fn the_curve_is_read_once_in_a_tick() {
    let read_at = |increase_rule, micros: [u64; 2]| {
        let (mut cubic, window, _) = reduced::<717, true>(1000.0);
        micros.map(|micros| {
            let now = SECOND + micros * (MILLISECOND / 1000);
            cubic.update(window.cwnd + micros as f64, 1, now, increase_rule);
            cubic.epoch.as_ref().map(|epoch| epoch.read_at)
        })
    };
    let [first, next] = read_at(IncreaseRule::PerWindow, [900, 1100]);
    assert_eq!((first, next), (Some(SECOND), Some(SECOND + MILLISECOND)));
    let [first, next] = read_at(IncreaseRule::PerAck, [900, 1100]);
    assert_eq!(first, next);
}

/// What `cong_avoid_fast` makes of an ACK beyond slow start is what both other hooks do; below it wants them.
#[test]
fn a_plain_ack_does_what_both_hooks_do() {
    for increase_rule in [IncreaseRule::PerWindow, IncreaseRule::PerAck] {
        let (mut fast, mut one, _) = reduced::<717, true>(100.0);
        let (mut slow, mut other, _) = reduced::<717, true>(100.0);
        for sent in 1..20_000 {
            let plain = testing::ack(sent * MILLISECOND / 3, sent, 10, increase_rule);
            let ack = Ack { rtt: Some((50 + sent * 7 % 20) * MILLISECOND), ..plain };
            assert!(fast.cong_avoid_fast(&mut one, (&ack).into()));
            slow.on_ack_received(&mut other, &ack);
            slow.cong_avoid(&mut other, &ack);
            assert_eq!((one.cwnd, fast.delay_min), (other.cwnd, slow.delay_min));
        }
        assert!(one.cwnd > 100.0, "it grew to {}", one.cwnd);
        one.ssthresh = one.cwnd + 1.0;
        let ack = testing::ack(7 * SECOND, 1, 10, increase_rule);
        assert!(!fast.cong_avoid_fast(&mut one, (&ack).into()));
    }
}

/// RFC 9438, equations 1 and 2: W_max = 1000, beta = 0.7: K = cbrt(300 / 0.4) = 9.086 s, W(0) = 700,
/// W(K) = 1000, W(2 K) = 1300.
#[test]
fn curve_of_rfc_9438() {
    let (_, window, epoch) = reduced::<717, true>(1000.0);
    assert!((window.cwnd - 700.2).abs() < 0.1);
    assert!((epoch.k - 9.086).abs() < 0.005, "{}", epoch.k);
    assert!((epoch.curve(0.0, IncreaseRule::PerAck) - window.cwnd).abs() < 1e-9);
    assert!((epoch.curve(epoch.k, IncreaseRule::PerAck) - 1000.0).abs() < 1e-9);
    assert!((epoch.curve(2.0 * epoch.k, IncreaseRule::PerAck) - 1299.8).abs() < 0.2);
}

/// Yang 2013, Table III: over an epoch the curve's mean is 0.95 (0.925) w_max and its deviation 0.06
/// (0.09) of the mean, with T = cbrt(w_max (1 - beta) / 0.4): for beta = 0.8, T = 7.94 s at 1000.
#[test]
fn mean_and_deviation_of_table_3_of_yang() {
    let check = |epoch: &Epoch, mean: f64, deviation: f64| {
        let steps = 100_000;
        let at = |i| {
            let t = epoch.k * (f64::from(i) + 0.5) / f64::from(steps);
            epoch.curve(t, IncreaseRule::PerAck) / 1000.0
        };
        let average = (0..steps).map(at).sum::<f64>() / f64::from(steps);
        let square = (0..steps).map(|i| at(i).powi(2)).sum::<f64>() / f64::from(steps);
        assert!((average - mean).abs() < 5e-4, "{average}");
        let relative = (square - average * average).sqrt() / average;
        assert!((relative - deviation).abs() < 5e-3, "{relative}");
    };
    let (_, _, gentle) = reduced::<819, false>(1000.0);
    assert!((gentle.k - 7.94).abs() < 0.01);
    check(&gentle, 0.95, 0.06);
    check(&reduced::<717, false>(1000.0).2, 0.925, 0.09);
}

/// RFC 9438, section 4.7: W_max (1 + beta) / 2 when the maximum falls.
#[test]
fn fast_convergence() {
    let (mut cubic, _, _) = reduced::<819, false>(1000.0);
    let _: &Old8 = &cubic;
    cubic.ssthresh(&testing::window(900.0), 0, CongestionEvent::Loss);
    assert!((cubic.last_max - 900.0 * (1024.0 + 819.0) / 2048.0).abs() < 1e-9);
}

/// Linux (bictcp_update): the distance from W_max is rounded down, so below it the target is rounded up.
#[test]
fn whole_segments_below_the_maximum_are_rounded_up() {
    let (_, _, epoch) = reduced::<717, true>(20.0);
    let targets: Vec<f64> =
        [0.0, 1.0, 2.0, 3.9].map(|t| epoch.curve(t, IncreaseRule::PerWindow)).into();
    // 20 - 6, 20 - 1.2, 20 - 0.06 and 20 + 1.2.
    let exact = [0.0, 1.0, 2.0, 3.9].map(|t| epoch.curve(t, IncreaseRule::PerAck));
    assert_eq!(targets, [exact[0].ceil(), exact[1].ceil(), 20.0, exact[3].floor()], "{exact:?}");
}

/// Linux: beta_scale is 15 eighths, so with 13 segments W_est rises for each 24 acknowledged, first with the 25th.
#[test]
fn reno_friendly_window_of_whole_segments() {
    let per_reno = Linux::reno_segments_an_increase(13.0, IncreaseRule::PerWindow);
    let (_, _, mut epoch) = reduced::<717, true>(13.0);
    let mut risen_at = vec![];
    for acknowledged in 1..=73 {
        epoch.reno_credit += 1.0;
        let before = epoch.reno;
        epoch.reno_friendly(13.0, per_reno, IncreaseRule::PerWindow);
        if epoch.reno > before {
            risen_at.push(acknowledged);
        }
    }
    assert_eq!((per_reno, risen_at), (24.0, vec![25, 49, 73]));
}

/// A timeout forgets the path, not the segments' size.
#[test]
fn bursts_keep_their_segments_after_a_timeout() {
    let trained = |timeout: bool| {
        let mut cubic = Linux::default();
        cubic.set_segment_bytes(8948);
        if timeout {
            cubic.on_timeout(&mut testing::window(10.0), 0);
        }
        cubic.hystart.bursts_segments
    };
    assert_eq!((trained(false), trained(true)), (29.0, 29.0));
}

/// RFC 9438, section 4.3, equation 4: alpha = 3 (1 - beta) / (1 + beta) = 0.529 at beta = 0.7; a
/// short round trip keeps the flow in the Reno-friendly region, where W_est rises by that a round.
#[test]
fn reno_friendly_region_rises_by_alpha_a_round() {
    let (mut cubic, mut window, _) = reduced::<717, true>(100.0);
    let _: &Linux = &cubic;
    let (mut now, before) = (SECOND, window.cwnd);
    let rounds = 40;
    for i in 0..rounds {
        let size = window.cwnd as u64;
        for j in 0..size {
            now += MILLISECOND / size;
            let ack = testing::ack(now, 1_000_000 + i * 1000 + j, size, IncreaseRule::PerAck);
            cubic.cong_avoid(&mut window, &ack);
        }
    }
    let slope = (window.cwnd - before) / rounds as f64;
    assert!((slope - 0.529).abs() < 0.05, "{slope}");
}

/// Four rounds from a window of ten; the round-trip time is that of a round and a place in it.
fn slow_start(rtt: impl Fn(u64, u64) -> Picos, spacing: Picos) -> Window {
    let mut cubic = Linux::default();
    let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY, pacing_rate: None };
    let (mut now, mut acked) = (SECOND, 1_000_000);
    for round in 0..4 {
        let (size, start) = (window.cwnd as u64, now);
        for nth in 0..size {
            now += spacing;
            acked += 1;
            let mut ack = testing::ack(now, acked, size, IncreaseRule::PerWindow);
            ack.rtt = Some(rtt(round, nth));
            cubic.on_ack_received(&mut window, &ack);
            cubic.cong_avoid(&mut window, &ack);
        }
        now = now.max(start + testing::RTT);
    }
    window
}

/// HyStart leaves alone a slow start that meets no queue and whose trains are short.
#[test]
fn hystart_lets_a_free_path_be() {
    assert!(slow_start(|_, _| testing::RTT, 1000).ssthresh.is_infinite());
}

/// Linux: an eighth of 100 ms above the least, here 12.5 ms, ends slow start after eight samples.
#[test]
fn hystart_ends_slow_start_on_delay() {
    let late = |by| slow_start(move |round, _| testing::RTT + if round > 1 { by } else { 0 }, 1000);
    assert!(late(12 * MILLISECOND).ssthresh.is_infinite());
    assert!(late(13 * MILLISECOND).ssthresh < 60.0);
}

/// Linux: ACKs up to 2 ms apart that go on for half the least round trip fill the path.
#[test]
fn hystart_ends_slow_start_on_a_long_train() {
    assert!(slow_start(|_, _| testing::RTT, 2 * MILLISECOND).ssthresh < 80.0);
}

/// Linux (25c1a9ca53db): a round begins with a window's first ACK, also where that window is too small
/// to look at. The first of each come back before the others have made a queue.
#[test]
fn hystart_begins_its_rounds_before_the_window_is_large() {
    let queue = |nth| if nth > 5 { 50 * MILLISECOND } else { 0 };
    assert!(slow_start(|_, nth| testing::RTT + queue(nth), 1000).ssthresh.is_infinite());
}
