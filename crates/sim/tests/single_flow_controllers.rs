//! One flow of each controller against what can be said of it in closed form.
//!
//! A window between beta Wmax and Wmax, Wmax = BDP + B, sends at W / RTT while W < BDP and fills the
//! link beyond. With b = B / BDP, m = 1 + b, and beta m < 1:
//! linear growth (Reno)              U = m^2 (1 - beta^2) / (2 (1 - beta m) + m^2 - 1)
//! growth by a per ACK (Scalable)    U = (1 - beta m + b) / (ln(1 / (beta m)) + b)
//! any growth                        U >= beta m, the worst instant (Spang, Arslan, McKeown 2021)

mod toy;

use forebay_sim::config::Config;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, SECOND};
use toy::{dumbbell, flow, link, simulate, utilization};

const RATE: f64 = 50e6;
const RTT_MS: f64 = 40.0;
/// One transmission longer than the propagation.
const BDP: f64 = RATE * RTT_MS / 1e3 / 12_000.0 + 1.0;
const SHARES: [f64; 6] = [0.0625, 0.125, 0.25, 0.5, 0.75, 1.0];

/// `buffer` counts the packet on the wire, as the fluid does.
fn scenario(name: &'static str, profile: Profile, buffer: u32) -> Config {
    let mut one = flow(RTT_MS as u64 * MILLISECOND, 0);
    one.access_bps = 1e11;
    one.congestion_control = name;
    let mut config = dumbbell(link(RATE, buffer - 1), profile, vec![one]);
    config.warmup = 100 * SECOND;
    config.window = 300 * SECOND;
    config
}

/// By share of the BDP: buffer over BDP and utilization.
fn measured(name: &'static str, profile: &Profile) -> Vec<(f64, f64)> {
    let one = |share: f64| {
        let buffer = (share * BDP).round() as u32;
        let config = scenario(name, profile.clone(), buffer);
        let used = utilization(&config, &simulate(&config));
        println!("{name} {share} {used:.4}");
        (f64::from(buffer) / BDP, used)
    };
    SHARES.into_iter().map(one).collect()
}

fn profiles() -> [Profile; 2] {
    [Profile::linux(), Profile::ns2()]
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

fn agrees(name: &'static str, theory: impl Fn(f64) -> f64) {
    for profile in profiles() {
        for (b, used) in measured(name, &profile) {
            println!("   {:.4}", theory(b));
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

#[test]
fn cubic() {
    for profile in profiles() {
        for name in ["cubic", "cubic-beta-0.7", "cubic-beta-0.8"] {
            let beta = if name == "cubic-beta-0.8" { 0.8 } else { 0.7 };
            for (b, used) in measured(name, &profile) {
                println!("   {:.4} {:.4}", (beta * (1.0 + b)).min(1.0), linear(beta, b));
            }
        }
    }
}

#[test]
fn bbr() {
    for profile in profiles() {
        for name in ["bbr", "bbr3", "bic", "compound"] {
            measured(name, &profile);
        }
    }
}
