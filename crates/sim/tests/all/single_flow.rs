//! One Reno flow against the fluid model of paper A, appendix B.

use crate::testbench::{dumbbell, flow, link, simulate, traced, utilization};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

/// C = 1000 packets/s of 1500 bytes; a round trip of 142 ms: a bandwidth-delay product of 142.
const RATE: f64 = 12e6;
const BDP: f64 = 142.0;

/// The fluid has neither a packet on the wire nor a time to put it there: its 2 Tp is our
/// propagation and one transmission (1 ms), its B is our waiting packets and the one on the wire.
fn scenario(fluid_buffer: u32) -> forebay_sim::config::Config {
    let mut one = flow(141 * MILLISECOND, 0);
    one.access_bps = 1e11;
    let mut config = dumbbell(link(RATE, fluid_buffer - 1), Profile::ns2(), vec![one]);
    config.warmup = 200 * SECOND;
    config.window = 600 * SECOND;
    traced(config, 10 * MILLISECOND)
}

/// Instants at which the window is cut.
fn cuts(at: &[Picos], cwnd: &[f64]) -> Vec<usize> {
    (1..at.len()).filter(|&i| cwnd[i] < 0.75 * cwnd[i - 1]).collect()
}

#[test]
fn sawtooth_has_the_period_and_amplitude_of_appendix_b() {
    let report = simulate(&scenario(142));
    let trace = report.trace.expect("asked for");
    let cwnd = &trace.flows[0].cwnd;
    let cuts = cuts(&trace.at, cwnd);
    assert!(cuts.len() > 10, "{}", cuts.len());
    let (first, last) = (cuts[0], cuts[cuts.len() - 1]);
    let period =
        (trace.at[last] - trace.at[first]) as f64 / SECOND as f64 / (cuts.len() - 1) as f64;
    println!("period {period}");
    assert!((period / 30.2 - 1.0).abs() < 0.02, "period {period}");
    let peak = cuts.iter().map(|&i| cwnd[i - 1]).sum::<f64>() / cuts.len() as f64;
    let trough = cuts.iter().map(|&i| cwnd[i]).sum::<f64>() / cuts.len() as f64;
    println!("{peak} {trough}");
    assert!(((peak - trough) / BDP - 1.0).abs() < 0.02, "{peak} to {trough}");
}

#[test]
fn underbuffered_flow_has_the_fluid_model_s_utilization() {
    for share in [0.0625, 0.125, 0.25, 0.5, 0.75, 1.0] {
        let buffer = (share * BDP).round() as u32;
        let config = scenario(buffer);
        let ours = utilization(&config, &simulate(&config));
        let b = f64::from(buffer) / BDP;
        // Appendix B's sawtooth when the window falls below 2 Tp C: 3/8 Wmax^2 packets a cycle.
        let fluid = 0.75 * (1.0 + b).powi(2) / (1.0 + b + b * b);
        println!("{buffer} {ours} {fluid}");
        assert!((ours - fluid).abs() < 0.01, "B = {buffer}: {ours:.4}, fluid {fluid:.4}");
    }
}
