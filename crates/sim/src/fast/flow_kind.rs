//! Kinds of flows for which what every packet passes through is compiled apart: it then asks
//! nothing whose answer is known from the start. A flow's ACKs reach its sender in events of its
//! kind, and these lead to the code.

use crate::tcp::profile::{LINUX, NS2, Profile};

/// A kind of flow. Both `NEWRENO_ONLY` and `SACK_ONLY` say that it sends its segments once, over one queue that
/// keeps its memory to itself, without marks, pacing, delivery rates, jitter or a timer.
pub trait FlowKind {
    /// Besides, NewReno alone: no SACK, small queues or delayed ACKs, and a controller that the
    /// ACKs of new data alone drive.
    const NEWRENO_ONLY: bool = false;
    /// Besides, it uses SACK.
    const SACK_ONLY: bool = false;
    /// Whether either of them holds.
    const FAST_PATH: bool = Self::NEWRENO_ONLY || Self::SACK_ONLY;
    /// Besides `SACK_ONLY`, its controller paces and asks for delivery rates.
    const PACED: bool = false;
    /// Besides, its controller sets the window itself on every ACK.
    const CONTROLLED_CWND: bool = Self::PACED && Self::SACK_ONLY;
    /// The recorder of flows is told of its packets, where there is one.
    const RECORDS: bool = false;
    /// Its segments that leave the access link back to back reach the queue and the receiver in one step.
    const IN_RUNS: bool = Self::SACK_ONLY && !Self::RECORDS;
    /// Its controller may be one from outside: the others do not ask.
    const FOREIGN: bool = !Self::FAST_PATH || (Self::SACK_ONLY && Self::RECORDS);
    /// Its profile, where that is a shipped one.
    const PROFILE: Option<&'static Profile> = None;
    /// The kind of event in which an ACK reaches the sender.
    const ACK_EVENT: u32;

    /// A profile as given, or known while compiling.
    #[inline(always)]
    fn profile(given: &Profile) -> &Profile {
        Self::PROFILE.unwrap_or(given)
    }
}

/// So many kinds of events are ACKs that reach a sender.
pub const ACK_EVENT_KINDS: u32 = 8;

/// `FlowKind::NEWRENO_ONLY` with the profile `ns2`.
pub struct Ns2Kind;
/// `FlowKind::SACK_ONLY` with the profile `linux`.
pub struct LinuxKind;
/// `FlowKind::NEWRENO_ONLY` with any profile.
pub struct NewRenoKind;
/// `FlowKind::SACK_ONLY` with any profile.
pub struct SackKind;
/// `FlowKind::CONTROLLED_CWND` with the profile `linux`.
pub struct PacedKind;
/// `FlowKind::NEWRENO_ONLY` with any profile and a record.
pub struct RecordedNewRenoKind;
/// `FlowKind::SACK_ONLY` with any profile, and a record or a controller from outside.
pub struct RecordedSackKind;
/// Any flow, also one of the others.
pub struct GeneralKind;

/// Does something with a flow of a kind, given by the event of its ACKs, in the code of its kind,
/// or of `NewRenoKind` for `Ns2Kind`. What is rare needs none for each profile; but a flow with SACK shares
/// much code with its ACKs (`enqueue_outlined`), and is to find it in the cache.
macro_rules! dispatch_kind {
    ($ack_event:expr, $kind:ident => $does:expr) => {
        match $ack_event {
            $crate::fast::flow_kind::Ns2Kind::ACK_EVENT
            | $crate::fast::flow_kind::NewRenoKind::ACK_EVENT => {
                type $kind = $crate::fast::flow_kind::NewRenoKind;
                $does
            }
            $crate::fast::flow_kind::LinuxKind::ACK_EVENT => {
                type $kind = $crate::fast::flow_kind::LinuxKind;
                $does
            }
            $crate::fast::flow_kind::PacedKind::ACK_EVENT => {
                type $kind = $crate::fast::flow_kind::PacedKind;
                $does
            }
            $crate::fast::flow_kind::SackKind::ACK_EVENT => {
                type $kind = $crate::fast::flow_kind::SackKind;
                $does
            }
            $crate::fast::flow_kind::RecordedNewRenoKind::ACK_EVENT => {
                type $kind = $crate::fast::flow_kind::RecordedNewRenoKind;
                $does
            }
            $crate::fast::flow_kind::RecordedSackKind::ACK_EVENT => {
                type $kind = $crate::fast::flow_kind::RecordedSackKind;
                $does
            }
            _ => {
                type $kind = $crate::fast::flow_kind::GeneralKind;
                $does
            }
        }
    };
}
pub(crate) use dispatch_kind;

impl FlowKind for Ns2Kind {
    const NEWRENO_ONLY: bool = true;
    const PROFILE: Option<&'static Profile> = Some(&NS2);
    const ACK_EVENT: u32 = 1;
}

impl FlowKind for LinuxKind {
    const SACK_ONLY: bool = true;
    const PROFILE: Option<&'static Profile> = Some(&LINUX);
    const ACK_EVENT: u32 = 2;
}

impl FlowKind for NewRenoKind {
    const NEWRENO_ONLY: bool = true;
    const ACK_EVENT: u32 = 3;
}

impl FlowKind for SackKind {
    const SACK_ONLY: bool = true;
    const ACK_EVENT: u32 = 4;
}

impl FlowKind for PacedKind {
    const SACK_ONLY: bool = true;
    const PACED: bool = true;
    const PROFILE: Option<&'static Profile> = Some(&LINUX);
    const ACK_EVENT: u32 = 5;
}

impl FlowKind for RecordedNewRenoKind {
    const NEWRENO_ONLY: bool = true;
    const RECORDS: bool = true;
    const ACK_EVENT: u32 = 6;
}

impl FlowKind for RecordedSackKind {
    const SACK_ONLY: bool = true;
    const RECORDS: bool = true;
    const ACK_EVENT: u32 = 7;
}

impl FlowKind for GeneralKind {
    const PACED: bool = true;
    const RECORDS: bool = true;
    const ACK_EVENT: u32 = 8;
}
