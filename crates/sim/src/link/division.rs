//! Division by an invariant number, as a multiplication.

/// Dividends are below 2 to this.
pub(super) const DIVIDEND_BITS: u32 = 60;

/// Division by a number that is known beforehand, as a multiplication (Granlund and Montgomery,
/// "Division by Invariant Integers using Multiplication", PLDI 1994, theorem 4.2).
#[repr(C)]
pub(super) struct Division {
    factor: u64,
    shift: u32,
}

impl Division {
    /// The factor f is the least with f d > 2^(64 + shift), so that f d = 2^(64 + shift) + e with
    /// 0 < e <= d <= 2^(4 + shift). For n = q d + r, r < d, the product f n / 2^(64 + shift) is
    /// n/d + (n/d) e / 2^(64 + shift), that is q + r/d and less than 2^60 / d · 2^-60 = 1/d more:
    /// less than q + 1.
    pub(super) fn by(divisor: u64) -> Self {
        let bits = u64::BITS - (divisor - 1).leading_zeros();
        let shift = bits.saturating_sub(u64::BITS - DIVIDEND_BITS);
        let factor = (1_u128 << (u64::BITS + shift)) / u128::from(divisor) + 1;
        Self { factor: u64::try_from(factor).expect("divisor above 1"), shift }
    }

    /// The quotient, rounded down, of a number below 2^`DIVIDEND_BITS`.
    #[inline(always)]
    pub(super) fn of(&self, dividend: u64) -> u64 {
        let product = u128::from(dividend) * u128::from(self.factor);
        (product >> u64::BITS) as u64 >> self.shift
    }
}
