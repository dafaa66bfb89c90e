//! Simulated time: integer picoseconds, so that rates of hundreds of gigabits stay exact.

/// A point in, or a span of, simulated time in picoseconds.
pub type Picos = u64;

/// One second.
pub const SECOND: Picos = 1_000_000_000_000;
/// One microsecond.
pub const MICROSECOND: Picos = SECOND / 1_000_000;
/// One millisecond.
pub const MILLISECOND: Picos = SECOND / 1_000;
/// Later than anything that happens; stands for "not armed".
pub const NEVER: Picos = Picos::MAX;

/// After the end of any run, and far from where sums of times overflow. A queue that would take
/// longer than that to drain is planned no further.
pub(crate) const BEYOND: Picos = 1 << 62;

/// Time to put `bytes` on a link of `bits_per_second`, rounded to the nearest picosecond.
pub fn serialization(bytes: u32, bits_per_second: f64) -> Picos {
    (f64::from(bytes) * 8.0 * SECOND as f64 / bits_per_second).round() as Picos
}
