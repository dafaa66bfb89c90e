//! The path of a flow's ACKs from the last forward queue to where each acts next.

use crate::time::Picos;

/// Where no queue lies on this path, the sender's clock runs ahead by the time from the sender to
/// the first queue, so that the event in which it acts on an ACK is the arrival of its packet there.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct AckPath {
    /// From a packet's departure at the last forward queue to where its ACK acts next: the first
    /// backward queue or the sender.
    pub(crate) return_delay: Picos,
    /// For the flow kinds with `FlowKind::FAST_PATH`, when the last ACK that was sent reaches the sender, or has.
    pub(crate) last_arrival: Picos,
}

impl AckPath {
    /// A path on which no ACK has been sent.
    pub(crate) fn new(return_delay: Picos) -> Self {
        Self { return_delay, last_arrival: 0 }
    }

    /// An ACK is in flight that reaches the sender before `at`: a timer for `at` can be armed when that
    /// ACK has come.
    #[inline(always)]
    pub(crate) fn delivers_before(&self, now: Picos, at: Picos) -> bool {
        (now < self.last_arrival) & (self.last_arrival < at)
    }

    /// No ACK is in flight.
    #[inline(always)]
    pub(crate) fn is_empty(&self, now: Picos) -> bool {
        self.last_arrival <= now
    }
}
