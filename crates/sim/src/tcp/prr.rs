//! Proportional rate reduction (RFC 6937): how fast a sender sends through recovery.

/// In segments.
#[derive(Default)]
pub(super) struct Prr {
    /// Sent since recovery began (prr_out); outside recovery it means nothing.
    out: u32,
    /// Delivered since then (prr_delivered).
    delivered: u32,
    /// The window then, as Linux has it for what was in flight (RecoverFS).
    flight: u32,
}

impl Prr {
    /// Recovery begins.
    pub(super) fn begin(&mut self, flight: u32) {
        *self = Self { out: 0, delivered: 0, flight };
    }

    /// So many segments go.
    #[inline(always)]
    pub(super) fn sent(&mut self, segments: u32) {
        self.out = self.out.wrapping_add(segments);
    }

    /// RFC 6937, section 3, with the safe-ACK choice between its two bounds that Linux makes: the
    /// window after an ACK of so many more.
    pub(super) fn window(
        &mut self,
        delivered: u32,
        in_flight: u32,
        ssthresh: u32,
        safe: bool,
    ) -> u32 {
        self.delivered += delivered;
        let allowed = if in_flight > ssthresh {
            let share = u64::from(self.delivered) * u64::from(ssthresh);
            (share.div_ceil(self.flight.max(1).into()) as u32).saturating_sub(self.out)
        } else {
            let owed = self.delivered.saturating_sub(self.out).max(delivered);
            (owed + u32::from(safe)).min(ssthresh - in_flight)
        };
        in_flight + allowed.max(u32::from(self.out == 0))
    }
}
