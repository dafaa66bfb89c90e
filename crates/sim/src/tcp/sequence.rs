//! Segment numbers: 64 bits in an endpoint, their low 32 bits in a packet.

/// The full number nearest to `base` whose low 32 bits are `low`.
#[inline]
pub(super) fn unwrap_sequence(base: u64, low: u32) -> u64 {
    base.wrapping_add_signed(i64::from(low.wrapping_sub(base as u32) as i32))
}
