//! The switches of segmentation offload; `burst_size` does what they say.

/// Headers of a segment with timestamps: IPv4, TCP, and the option.
pub const HEADER_BYTES: u32 = 52;

/// How near the ACK must be for which a part of a burst waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deferral {
    /// None waits.
    #[default]
    Never,
    /// The first segment left half a smoothed round trip ago, or earlier (before Linux 6.18).
    HalfRoundTrip,
    /// The first segment's smoothed round trip ends within a millisecond, and within half of it (from 6.18 on).
    Millisecond,
}

/// The mechanisms of segmentation offload, each with its switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// Bursts of a millisecond at the sending rate, and more where the receiver is near
    /// (tcp_tso_autosize); else a segment at a time.
    pub autosizing: bool,
    /// A window that has room for less than a burst waits for the ACK that is due (tcp_tso_should_defer).
    pub deferral: Deferral,
    /// A burst goes on beyond the end of its buffer (tcp_grow_skb, from Linux 6.10 on); else it ends there.
    pub grows_buffers: bool,
    /// The pacer waits between bursts (tcp_update_skb_after_send); else between segments.
    pub paces_bursts: bool,
    /// Small queues hold two bursts (tcp_small_queue_check); else two packets.
    pub queues_bursts: bool,
}

impl Offload {
    /// A segment at a time.
    pub const OFF: Self = Self {
        autosizing: false,
        deferral: Deferral::Never,
        grows_buffers: false,
        paces_bursts: false,
        queues_bursts: false,
    };
    /// As a kernel has it on a card with segmentation offload.
    pub const ON: Self = Self {
        autosizing: true,
        deferral: Deferral::Millisecond,
        grows_buffers: true,
        paces_bursts: true,
        queues_bursts: true,
    };
}
