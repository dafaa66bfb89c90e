//! What kind of TCP a sender and its receiver are.

use crate::cc::Growth;
use crate::time::{MILLISECOND, Picos, SECOND};

/// Traits of a TCP stack that a traffic class shares.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Selective acknowledgements (RFC 2018) with RFC 6675 recovery; else NewReno (RFC 6582).
    pub sack: bool,
    /// Proportional rate reduction (RFC 6937) instead of RFC 6675's plain halving; needs `sack`.
    pub prr: bool,
    /// Queues may mark packets instead of dropping them (RFC 3168).
    pub ecn: bool,
    /// Size of an ACK on a link.
    pub ack_bytes: u32,
    /// At most every second segment is acknowledged at once (RFC 1122, section 4.2.3.2).
    pub delayed_ack: Option<Picos>,
    /// Initial window in segments (RFC 5681, RFC 6928).
    pub initial_window: u32,
    /// Receive-window limit in segments.
    pub max_window: u32,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Picos,
    /// RFC 6298's G; Linux bounds 4 rttvar, not the sum, by its minimum.
    pub rto: RtoRule,
    /// How ACKs become growth in congestion avoidance.
    pub growth: Growth,
    /// Every ACK gives a round-trip sample (timestamps, RFC 7323), else one a window.
    pub sample_every_ack: bool,
}

/// How the retransmission timeout follows from srtt and rttvar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// max(srtt + max(G, 4 rttvar), min_rto) (RFC 6298, section 2) with the given granularity G.
    Rfc6298(Picos),
    /// srtt + max(4 rttvar, min_rto): Linux.
    Linux,
}

/// Upper bound of the retransmission timeout (RFC 6298, rule 2.5: at least 60 s).
pub const MAX_RTO: Picos = 60 * SECOND;

impl Profile {
    /// The NewReno of ns-2 that paper A simulated: no SACK, an ACK for every packet.
    pub fn ns2() -> Self {
        Self {
            sack: false,
            prr: false,
            ecn: false,
            ack_bytes: 40,
            delayed_ack: None,
            initial_window: 2,
            max_window: u32::MAX,
            min_rto: 200 * MILLISECOND,
            rto: RtoRule::Rfc6298(10 * MILLISECOND),
            growth: Growth::PerAck,
            sample_every_ack: false,
        }
    }

    /// A Linux sender and receiver.
    pub fn linux() -> Self {
        Self {
            sack: true,
            prr: true,
            ecn: false,
            ack_bytes: 52,
            delayed_ack: Some(40 * MILLISECOND),
            initial_window: 10,
            max_window: u32::MAX,
            min_rto: 200 * MILLISECOND,
            rto: RtoRule::Linux,
            growth: Growth::PerWindow,
            sample_every_ack: true,
        }
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
