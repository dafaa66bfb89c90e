//! What a flow counts.

/// What a flow has counted since the run began.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    /// Data packets sent.
    pub(crate) sent: u64,
    /// Data packets received, each once.
    pub(crate) received: u64,
    /// The same in bytes on the link.
    pub(crate) received_bytes: u64,
    /// Retransmission timeouts.
    pub(crate) timeouts: u64,
    /// Retransmissions.
    pub(crate) retransmissions: u64,
    /// Reductions of the sender's window.
    pub(crate) reductions: u64,
}
