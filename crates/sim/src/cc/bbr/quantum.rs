//! The burst for which BBR leaves room in its window.

use super::super::bounds::Bounds;
use super::super::rounding::whole_below;

/// The most in a quantum, bytes: what a buffer of the sender holds without headers (Linux, bbr_tso_segs_goal).
const LARGEST_QUANTUM_BYTES: f64 = 65_215.0;

/// Segments in a burst at a pacing rate: a millisecond's worth, at least two (one below 1.2 Mbit/s).
pub fn quantum(pacing_rate: f64, segment_bytes: f64) -> f64 {
    let rate = pacing_rate * segment_bytes;
    let least = if rate < 1.2e6 / 8.0 { 1.0 } else { 2.0 };
    let most = whole_below(LARGEST_QUANTUM_BYTES / segment_bytes).at_least(least);
    whole_below(rate / 1024.0 / segment_bytes).clamp(least, most)
}
