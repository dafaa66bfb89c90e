//! One flow of each controller against what can be said of it in closed form.
//!
//! A window between beta Wmax and Wmax, Wmax = BDP + B, sends at W / RTT while W < BDP and fills the
//! link beyond. With b = B / BDP, m = 1 + b, and beta m < 1:
//! linear growth (Reno)              U = m^2 (1 - beta^2) / (2 (1 - beta m) + m^2 - 1)
//! growth by a per ACK (Scalable)    U = (1 - beta m + b) / (ln(1 / (beta m)) + b)
//! any growth                        U >= beta m, the worst instant (Spang, Arslan, McKeown 2021)

use crate::testbench::{dumbbell, flow, link, simulate, utilization};
use forebay_sim::config::Config;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, SECOND};

const RATE: f64 = 50e6;
const RTT_MS: f64 = 40.0;
/// One transmission longer than the propagation.
const BDP: f64 = RATE * RTT_MS / 1e3 / 12_000.0 + 1.0;
const SHARES: [f64; 5] = [0.0625, 0.125, 0.25, 0.5, 0.75];

/// `buffer` counts the packet on the wire, as the fluid does.
fn scenario(name: &'static str, profile: Profile, buffer: u32) -> Config {
    let mut one = flow(RTT_MS as u64 * MILLISECOND, 0);
    one.access_bps = 1e11;
    one.congestion_control = name;
    let mut config = dumbbell(link(RATE, buffer - 1), profile, vec![one]);
    config.warmup = 40 * SECOND;
    config.window = 100 * SECOND;
    config
}

/// By share of the BDP: buffer over BDP and utilization.
fn measured(name: &'static str, profile: &Profile) -> Vec<(f64, f64)> {
    let one = |share: f64| {
        let buffer = (share * BDP).round() as u32;
        let config = scenario(name, profile.clone(), buffer);
        let used = utilization(&config, &simulate(&config));
        println!("{name} {share} {used:.4}"); // shown with --nocapture
        (f64::from(buffer) / BDP, used)
    };
    SHARES.into_iter().map(one).collect()
}

/// Both growth rules, and SACK: one flow that overshoots loses many segments at once, which NewReno
/// repairs one a round trip and so runs into timeouts (see `newreno_loses_what_cubic_gains`).
fn profiles() -> [Profile; 2] {
    [Profile::linux(), Profile { sack: true, ..Profile::ns2() }]
}

fn linear(beta: f64, b: f64) -> f64 {
    let m = 1.0 + b;
    if beta * m >= 1.0 {
        return 1.0;
    }
    m * m * (1.0 - beta * beta) / (2.0 * (1.0 - beta * m) + m * m - 1.0)
}

fn exponential(beta: f64, b: f64) -> f64 {
    let m = 1.0 + b;
    if beta * m >= 1.0 {
        return 1.0;
    }
    (1.0 - beta * m + b) / ((1.0 / (beta * m)).ln() + b)
}

/// CUBIC's fluid (RFC 9438, sections 4.2 to 4.4), stepped: the curve towards `last`, the Reno-friendly
/// window, half a window a round trip at most. With `yielding`, each loss finds fast convergence.
fn cubic_fluid(beta: f64, b: f64, yielding: bool) -> f64 {
    let (top, rtt, step) = ((1.0 + b) * BDP, BDP / (RATE / 12_000.0), 0.002);
    let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
    let (mut time, mut used) = (0.0, 0.0);
    for cycle in 0..8 {
        let last = if yielding && cycle % 2 == 1 { top * (1.0 + beta) / 2.0 } else { top };
        let (mut w, mut reno, mut t) = (beta * top, beta * top, 0.0);
        let k = ((last - w) / 0.4).cbrt();
        while w < top {
            let round = rtt * (w / BDP).max(1.0);
            reno += alpha / round * step;
            let target = (0.4 * (t + rtt - k).powi(3) + last).max(reno);
            w += ((target - w).max(0.0) / round).min(0.5 * w / round) * step;
            t += step;
            time += step;
            used += step * (w / BDP).min(1.0);
        }
    }
    used / time
}

fn agrees(name: &'static str, theory: impl Fn(f64) -> f64) {
    for profile in profiles() {
        for (b, used) in measured(name, &profile) {
            assert!((used - theory(b)).abs() < 0.015, "{name} B/BDP {b}: {used} {}", theory(b));
        }
    }
}

#[test]
fn reno() {
    agrees("reno", |b| linear(0.5, b));
}

#[test]
fn scalable() {
    agrees("scalable", |b| exponential(0.875, b));
}

/// A loss strikes a little above or below the one before it, so that fast convergence comes at some
/// losses: the truth lies between the fluid with it at every second loss and the one without.
#[test]
fn cubic() {
    for profile in profiles() {
        for (name, beta) in [("cubic", 0.7), ("cubic-beta-0.7", 0.7), ("cubic-beta-0.8", 0.8)] {
            for (b, used) in measured(name, &profile) {
                let (low, high) = (cubic_fluid(beta, b, true), cubic_fluid(beta, b, false));
                assert!(
                    used > low - 0.015 && used < high + 0.015,
                    "{name} {b}: {low} {used} {high}"
                );
                assert!(used > (beta * (1.0 + b)).min(1.0) - 0.015, "{name} {b}: {used}");
            }
        }
    }
}

/// min(3/4 + b, 1) is what the phase of gain 3/4 leaves at its worst (Spang et al. 2021). It knows
/// neither pacing 1 % below the rate (bbr_pacing_margin_percent), which counts where no queue makes up
/// for it, nor ProbeRTT: 200 ms and a round trip to refill every 10 s.
#[test]
fn bbr() {
    for profile in profiles() {
        for (b, used) in measured("bbr", &profile) {
            let bound = (0.75 + b).min(1.0) * 0.99 * (1.0 - 0.25 / 10.2);
            assert!(used > bound - 0.005, "bbr {b}: {used} {bound}");
            assert!(used < 1.0 - 0.2 / 10.2, "bbr {b}: {used}, without ProbeRTT");
        }
    }
}

/// Draft, "Bounding cwnd Based on Recent Congestion": a cruise leaves 15 % of the flight that the path
/// bore, so that the link is used by 0.85 m at least; ProbeRTT costs 2 % ("ProbeRTT Design Rationale").
#[test]
fn bbr3() {
    for profile in profiles() {
        for (b, used) in measured("bbr3", &profile) {
            let bound = (0.85 * (1.0 + b)).min(0.98);
            assert!(used > bound - 0.02, "bbr3 {b}: {used} {bound}");
        }
    }
}

/// Bic and Compound have no closed form here: at least their worst instant.
#[test]
fn bic_and_compound() {
    for (name, beta) in [("bic", 0.8), ("compound", 0.5)] {
        for (b, used) in measured(name, &Profile::linux()) {
            assert!(used > (beta * (1.0 + b)).min(1.0) - 0.015, "{name} {b}: {used}");
        }
    }
}

/// Westwood+ grows from the BDP to the BDP and the buffer by a segment a round trip, b BDP of them, and
/// the link is full. In recovery, a round trip of 1 + b, PRR sends half: the buffer is empty after 2 b and
/// half of the rest is lost, (1 - b) / 2 of a round trip; Reno at b = 1/2 loses 3.6 % of all.
#[test]
fn westwood_keeps_a_link_full_with_a_buffer_below_the_product() {
    for profile in profiles() {
        for (b, used) in measured("westwood", &profile) {
            if b > 0.4 {
                let fluid = 1.0 - (1.0 - b) / 2.0 / (b * BDP * (1.0 + b / 2.0));
                assert!((used - fluid).abs() < 0.01, "westwood {b}: {used} {fluid}");
            }
        }
    }
}

/// Without SACK and HyStart a cubic flow times out again and again: Linux forgets the last maximum at a timeout
/// and then grows by 5 % a round trip, which the next burst of losses pays for.
#[test]
fn newreno_loses_what_cubic_gains() {
    let config = scenario("cubic-beta-0.7", Profile::ns2(), 84);
    let report = simulate(&config);
    let timeouts: u64 = report.classes.iter().map(|batch| batch[0].timeouts).sum();
    assert!(timeouts > 20 && utilization(&config, &report) < 0.9, "{timeouts}");
}

/// HyStart hears every round trip, SACK or not: slow start ends before much of it is lost. Without
/// HyStart the same window overshoots.
#[test]
fn hystart_ends_slow_start_without_sack_too() {
    let drops = |name, profile| {
        let mut config = scenario(name, profile, (BDP / 1.5) as u32);
        (config.warmup, config.window) = (0, 2 * SECOND);
        simulate(&config).classes.iter().map(|batch| batch[0].drops).sum::<u64>()
    };
    for profile in profiles().into_iter().chain([Profile::ns2()]) {
        let (with, without) = (drops("cubic", profile.clone()), drops("cubic-beta-0.7", profile));
        println!("{with} {without}"); // shown with --nocapture
        assert!(4 * with < without && without > 50, "{with} {without}");
    }
}
