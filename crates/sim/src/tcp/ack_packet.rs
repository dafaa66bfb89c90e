//! What an ACK tells the sender, and what a segment tells the receiver of congestion.

/// An ACK on its way back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckPacket {
    /// Cumulative acknowledgement: the next segment expected (low 32 bits).
    pub next: u32,
    /// The segment that triggered it (low 32 bits): what its first SACK block newly reports.
    pub sacked_last: u32,
    /// Segments up to and with `sacked_last` that it newly reports.
    pub sacked_count: u16,
    /// It echoes a congestion mark.
    pub marked: bool,
    /// The segment that triggered it had arrived before (RFC 2883, D-SACK).
    pub dsack: bool,
    /// What its SACK blocks repeat of ACKs that were lost on the way back: an entry of `LostAcks`.
    pub carried_lost_acks: u32,
}

/// `AckPacket::carried_lost_acks` of an ACK that repeats nothing.
pub const NO_LOST_ACKS: u32 = 0;

/// Segments that follow each other, as a SACK block reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackRun {
    /// The last of them (low 32 bits).
    pub last: u32,
    /// How many.
    pub count: u16,
}

/// What a segment says of congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnFlags {
    /// A queue has marked it (CE).
    pub ce: bool,
    /// It is the first since its sender has reduced the window for a mark (CWR).
    pub cwr: bool,
}
