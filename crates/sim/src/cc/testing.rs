//! What the conformance suite and the tests of single controllers share: ACKs of a path without surprises.

use super::{Ack, IncreaseRule, Phase, RateSample};
#[cfg(test)]
use super::{Controller, Window};
#[cfg(test)]
use crate::time::SECOND;
use crate::time::{MILLISECOND, Picos};

pub(super) const RTT: Picos = 100 * MILLISECOND;

#[cfg(test)]
pub(super) fn window(cwnd: f64) -> Window {
    Window { cwnd, ssthresh: cwnd, pacing_rate: None }
}

/// An ACK for one segment, of a window of `size` segments that started after `acked` of them.
pub(super) fn ack(now: Picos, acked: u64, size: u64, increase_rule: IncreaseRule) -> Ack {
    Ack {
        now,
        segments: 1,
        increase_rule,
        rtt: Some(RTT),
        srtt: RTT,
        min_rtt: RTT,
        in_flight: size,
        snd_una: acked,
        snd_nxt: acked + size,
        delivered: 1,
        delivered_total: acked,
        newly_lost: 0,
        lost_total: 0,
        lost_flight: None,
        next_departure: 0,
        marked: 0,
        phase: Phase::Open,
        rate: Some(RateSample {
            delivered: size,
            interval: RTT,
            prior_delivered: acked - size.min(acked),
            tx_in_flight: size,
            prior_lost: 0,
            app_limited: false,
        }),
    }
}

/// A window's ACKs at one instant, where time does not matter.
#[cfg(test)]
pub(super) fn round(cc: &mut impl Controller, window: &mut Window, increase_rule: IncreaseRule) {
    let size = window.cwnd as u64;
    for i in 0..size {
        let ack = ack(SECOND, 1_000_000 + i, size, increase_rule);
        cc.on_ack_received(window, &ack);
        cc.cong_avoid(window, &ack);
    }
}
