//! The rate at which a model of the path lets a flow send.

/// Pacing aims 1 % below the estimate, on average (Linux, bbr_pacing_margin_percent).
const MARGIN: f64 = 0.99;

/// The pacing rate for a bandwidth and a gain, in the bandwidth's unit.
pub fn paced(bw: f64, gain: f64) -> f64 {
    bw * gain * MARGIN
}
