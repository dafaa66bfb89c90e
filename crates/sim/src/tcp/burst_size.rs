//! Segmentation offload of a Linux sender: how many segments it hands to the card at once, and when it
//! waits to hand over more. Checked against net/ipv4/tcp_output.c of Linux 6.18.

use super::offload::Deferral;
use super::profile::Profile;
use super::scoreboard::Scoreboard;
use super::sender::Sender;
use crate::cc::Phase;
use crate::time::{MICROSECOND, MILLISECOND, Picos, SECOND};

/// The most payload of a burst: 64 KiB (GSO_LEGACY_MAX_SIZE) less the room for headers (sk_setup_caps).
const MOST_BYTES: f64 = 65_215.0;
/// A burst is what so many of them fill in a second (sk_pacing_shift: 2^10).
const BURSTS_PER_SECOND: f64 = 1024.0;
/// For each of these of the least round trip the allowance for near receivers halves (tcp_tso_rtt_log: 2^9 us).
const HALVES_EVERY: Picos = 512 * MICROSECOND;
/// tcp_min_tso_segs.
const LEAST_SEGMENTS: u32 = 2;
/// Below this rate, in bytes a second, a controller that models the path sends singly (bbr_min_tso_segs).
const SINGLE_BELOW: f64 = 1.2e6 / 8.0;
/// A window of this part is sent without waiting for more (tcp_tso_win_divisor).
const WINDOW_DIVISOR: u32 = 3;

/// The most segments of so many bytes that a buffer of the sender holds, and so a burst.
pub fn most_segments(segment_bytes: u32) -> u32 {
    ((MOST_BYTES / f64::from(segment_bytes)) as u32).max(1)
}

impl Sender {
    /// The segments of a burst (tcp_tso_autosize); 1 without the mechanism.
    pub(crate) fn burst_goal(&self, segment_bytes: u32, profile: &Profile) -> u32 {
        if !profile.offload.autosizing {
            return 1;
        }
        if self.is_slow_and_far(segment_bytes) {
            return LEAST_SEGMENTS;
        }
        let bytes = f64::from(segment_bytes);
        let rate = if self.rtt.srtt == 0 { 0.0 } else { self.sending_rate() * bytes };
        let halvings = self.rtt.min_rtt / HALVES_EVERY;
        let near = if halvings < 32 { MOST_BYTES / f64::from(1 << halvings) } else { 0.0 };
        let single = self.controls_cwnd_by_rates() && rate < SINGLE_BELOW;
        let least = if single { 1 } else { LEAST_SEGMENTS };
        (((rate / BURSTS_PER_SECOND + near).min(MOST_BYTES) / bytes) as u32).max(least)
    }

    /// A burst is surely two segments, which takes no division: what the most common window of ACK clocking sends
    /// is no more than that in a millisecond, and the allowance for near receivers less than a byte.
    #[inline]
    fn is_slow_and_far(&self, segment_bytes: u32) -> bool {
        const MOST: f64 = 0.99 * BURSTS_PER_SECOND * (LEAST_SEGMENTS + 1) as f64 / SECOND as f64;
        self.window.pacing_rate.is_none()
            && self.rtt.min_rtt >= 16 * HALVES_EVERY
            && segment_bytes >= 100
            && 2.0 * self.window.cwnd <= MOST * self.rtt.srtt as f64
    }

    /// The segments that go in one burst of the `sendable`; 0 where they wait for an ACK. Repairs go singly.
    pub(crate) fn next_burst(
        &mut self,
        now: Picos,
        sendable: u64,
        goal: u32,
        segment_bytes: u32,
        profile: &Profile,
    ) -> u32 {
        if self.has_repairs() {
            return 1;
        }
        let sendable = u32::try_from(sendable).unwrap_or(u32::MAX);
        let in_buffer = || self.left_in_buffer(most_segments(segment_bytes));
        let most = if profile.offload.grows_buffers { self.left_to_send() } else { in_buffer() };
        if sendable < goal {
            let in_buffer = in_buffer();
            if in_buffer > 1
                && self.is_part(now, sendable, goal, in_buffer)
                && self.waits_for_ack(now, profile.offload.deferral)
            {
                return 0;
            }
        }
        let half = (self.window.cwnd / 2.0) as u32; // tcp_cwnd_test
        sendable.min(goal).min(half).min(most).max(1)
    }

    /// What is sent next was sent before.
    fn has_repairs(&self) -> bool {
        let repairs = |board: &Scoreboard| {
            board.probe.due.is_some() || (board.lost > board.retrans_out && !board.frto.only_new)
        };
        self.retransmit_first
            || self.snd_nxt < self.snd_max
            || self.scoreboard.as_deref().is_some_and(repairs)
    }

    /// New segments in the first of the buffers, of `whole` segments, in which the application's data waits.
    fn left_in_buffer(&self, whole: u32) -> u32 {
        let left = u64::from(whole) - self.snd_nxt % u64::from(whole);
        left.min(self.app_limit - self.snd_nxt) as u32
    }

    /// New segments that the application has for it.
    fn left_to_send(&self) -> u32 {
        u32::try_from(self.app_limit - self.snd_nxt).unwrap_or(u32::MAX)
    }

    /// tcp_tso_should_defer, for data that never ends: what may go is less than a burst, than its buffer, and than a
    /// third of the window, and more has just been sent. Without SACK nobody remembers when that was.
    fn is_part(&mut self, now: Picos, sendable: u32, goal: u32, in_buffer: u32) -> bool {
        let chunk = (self.window.cwnd as u32).min(self.receive_window);
        let enough = sendable >= goal.min(in_buffer) || WINDOW_DIVISOR * sendable >= chunk;
        if enough || self.phase != Phase::Open {
            return false;
        }
        let paced = self.paced_until;
        let newest = |board: &mut Scoreboard| board.segments.back_mut().map(|last| last.sent());
        self.scoreboard
            .as_deref_mut()
            .and_then(newest)
            .is_some_and(|last| now <= last.max(paced) + MILLISECOND)
    }

    /// Whether the ACK that takes the first segment off is near; if so, the window counts as full.
    fn waits_for_ack(&mut self, now: Picos, deferral: Deferral) -> bool {
        let srtt = self.rtt.srtt;
        let Some(board) = self.scoreboard.as_deref_mut() else { return false };
        let Some(sent) = board.head_sent() else { return false };
        let waits = match deferral {
            Deferral::Never => false,
            Deferral::HalfRoundTrip => now - sent >= srtt / 2,
            Deferral::Millisecond => (sent + srtt).saturating_sub(now) <= MILLISECOND.min(srtt / 2),
        };
        if waits {
            board.cwnd_limited.note_deferral();
        }
        waits
    }

    /// So many segments went in one burst, before which the pacer held until `before`: it now holds for as long as
    /// these take, less up to half of that for a burst that was late (tcp_update_skb_after_send).
    pub(crate) fn pace_burst(&mut self, now: Picos, before: Picos, segments: u32) {
        if self.paced_until <= now {
            return;
        }
        let Some(rate) = self.window.pacing_rate else { return };
        let Some(pacer) = self.pacer() else { return };
        let gap = pacer.gap(rate) * Picos::from(segments);
        let late = now.saturating_sub(before);
        self.paced_until = before.max(now) + gap - late.min(gap / 2);
    }
}

#[cfg(test)]
mod tests;
