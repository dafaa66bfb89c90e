//! What kind of TCP a sender and its receiver are. Each field switches one mechanism, so that what
//! it does can be measured on its own.

use super::offload::{HEADER_BYTES, Offload};
use crate::cc::IncreaseRule;
use crate::time::{MILLISECOND, Picos, SECOND};

/// Traits of a TCP stack that a traffic class shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Selective acknowledgements (RFC 2018) with RFC 6675 recovery; else NewReno (RFC 6582).
    pub sack: bool,
    /// Proportional rate reduction (RFC 6937) instead of RFC 6675's plain halving; needs `sack`.
    pub prr: bool,
    /// Losses are judged by time, also those of retransmissions (RFC 8985); needs `sack`.
    pub rack: bool,
    /// A probe after two round trips of silence (RFC 8985, section 7); needs `sack`.
    pub tail_loss_probe: bool,
    /// After a timeout new data is tried first, to learn whether it was spurious (RFC 5682); needs
    /// `sack`.
    pub f_rto: bool,
    /// A timeout during fast recovery reduces ssthresh a second time (RFC 5681, ns-2; not Linux).
    pub timeout_reduces_again: bool,
    /// Queues may mark packets instead of dropping them (RFC 3168).
    pub ecn: bool,
    /// Size of an ACK on a link.
    pub ack_bytes: u32,
    /// At most every second segment is acknowledged at once, a single one after this time (RFC
    /// 1122, section 4.2.3.2).
    pub delayed_ack: Option<Picos>,
    /// The delay adapts to the gaps between segments; `delayed_ack` is then its least value (Linux).
    pub adaptive_ack_delay: bool,
    /// So many segments are acknowledged at once when a flow begins, and after a long gap (Linux).
    pub quick_acks: u32,
    /// From the fourth segment out of order on, ACKs wait so long for others (Linux).
    pub sack_compression: Option<Picos>,
    /// Initial window in segments (RFC 5681, RFC 6928).
    pub initial_window: u32,
    /// Receive-window limit in segments.
    pub max_window: u32,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Picos,
    /// RFC 6298's G; Linux bounds 4 rttvar, not the sum, by its minimum.
    pub rto: RtoRule,
    /// How ACKs become growth in congestion avoidance.
    pub increase_rule: IncreaseRule,
    /// The window grows only where it is what holds the sender back (RFC 7661, section 4; Linux).
    pub validates_window: bool,
    /// ACKs echo timestamps (RFC 7323): segments that were retransmitted give round-trip samples too.
    pub timestamps: bool,
    /// No more than two packets, or a millisecond's worth, wait in the sender's own access link;
    /// the rest stays with the sender (TCP small queues).
    pub small_queues: bool,
    /// The receive window starts small and follows what is read (Linux); needs `sack`.
    pub tunes_receive_window: bool,
    /// Each segment takes up to so much longer to its receiver, at random, none overtaking another.
    pub jitter: Picos,
    /// Segments reach the receiver at multiples of it: a timer of that period delivers them. 0: none does.
    pub timer_tick: Picos,
    /// What the sender hands to its card at once.
    pub offload: Offload,
    /// Payload of a packet in bytes; `None`: what a packet holds besides its headers.
    pub segment_bytes: Option<u32>,
}

/// How the retransmission timeout follows from srtt and rttvar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// max(srtt + max(G, 4 rttvar), min_rto) (RFC 6298, section 2) with the given granularity G.
    Rfc6298(Picos),
    /// srtt + rttvar, where rttvar is four mean deviations at their largest in a window, at least
    /// min_rto, and falls slowly: Linux.
    Linux,
}

/// Upper bound of the retransmission timeout (RFC 6298, rule 2.5: at least 60 s).
pub const MAX_RTO: Picos = 60 * SECOND;

/// What `Profile::ns2` makes.
pub static NS2: Profile = Profile::ns2();
/// What `Profile::linux` makes.
pub static LINUX: Profile = Profile::linux();

impl Profile {
    /// The NewReno of ns-2 that paper A simulated: no SACK, an ACK for every packet.
    pub const fn ns2() -> Self {
        Self {
            sack: false,
            prr: false,
            rack: false,
            tail_loss_probe: false,
            f_rto: false,
            timeout_reduces_again: true,
            ecn: false,
            ack_bytes: 40,
            delayed_ack: None,
            adaptive_ack_delay: false,
            quick_acks: 0,
            sack_compression: None,
            initial_window: 2,
            max_window: u32::MAX,
            min_rto: 200 * MILLISECOND,
            rto: RtoRule::Rfc6298(10 * MILLISECOND),
            increase_rule: IncreaseRule::PerAck,
            validates_window: false,
            timestamps: false,
            small_queues: false,
            tunes_receive_window: false,
            jitter: 0,
            timer_tick: 0,
            offload: Offload::OFF,
            segment_bytes: None,
        }
    }

    /// A Linux sender and receiver.
    pub const fn linux() -> Self {
        Self {
            sack: true,
            prr: true,
            rack: true,
            tail_loss_probe: true,
            f_rto: true,
            timeout_reduces_again: false,
            ecn: false,
            ack_bytes: 52,
            delayed_ack: Some(40 * MILLISECOND),
            adaptive_ack_delay: true,
            quick_acks: 16,
            sack_compression: Some(MILLISECOND),
            initial_window: 10,
            max_window: u32::MAX,
            min_rto: 200 * MILLISECOND,
            rto: RtoRule::Linux,
            increase_rule: IncreaseRule::PerWindow,
            validates_window: true,
            timestamps: true,
            small_queues: true,
            tunes_receive_window: true,
            jitter: 0,
            timer_tick: 0,
            offload: Offload::OFF,
            segment_bytes: None,
        }
    }

    /// NewReno alone: no SACK, small queues or delayed ACKs.
    pub fn is_newreno_only(&self) -> bool {
        !self.sack
            && !self.small_queues
            && self.delayed_ack.is_none()
            && self.offload == Offload::OFF
    }

    /// A receiver whose window is set to a size does not tune it (Linux, SOCK_RCVBUF_LOCK).
    pub fn tunes_window(&self) -> bool {
        self.tunes_receive_window && self.sack && self.max_window == u32::MAX
    }

    /// Whether it is `shipped` but for what a flow keeps of it when it begins.
    pub fn equal_but_what_flows_keep(&self, shipped: &Self) -> bool {
        let Self { initial_window, offload, segment_bytes, .. } = *shipped;
        Self { initial_window, offload, segment_bytes, ..self.clone() } == *shipped
    }

    /// The payload of packets of so many bytes.
    pub fn segment_bytes_of(&self, packet_bytes: u32) -> u32 {
        self.segment_bytes.unwrap_or(packet_bytes.saturating_sub(HEADER_BYTES)).max(1)
    }

    /// A profile by its name in a scenario.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "ns2" => Some(Self::ns2()),
            "linux" => Some(Self::linux()),
            _ => None,
        }
    }
}
