//! HyStart (Ha and Rhee 2011, "Taming the elephants: New TCP slow start") as Linux ships it: slow
//! start ends when a train of closely spaced ACKs is as long as the path, or when the round-trip
//! time of a round begins clearly above the least one.

use super::{Ack, Window};
use crate::time::{MILLISECOND, Picos};

/// It does not look at smaller windows.
const LOW_WINDOW: f64 = 16.0;
/// ACKs closer than this belong to one train.
const TRAIN_GAP: Picos = 2 * MILLISECOND;
/// Samples at the start of a round that tell its round-trip time.
const SAMPLES: u8 = 8;

/// Four bursts of segmentation offload (hystart_ack_delay), in bytes.
const BURSTS_BYTES: u32 = 4 * 65_536;
/// The same in segments of 1448.
const BURSTS_SEGMENTS: f64 = 181.0;

/// HyStart as in Linux.
pub struct HyStart {
    found: bool,
    samples: u8,
    round_start: Picos,
    last_ack: Picos,
    /// The round ends when this is acknowledged.
    end: u64,
    round_rtt: Option<Picos>,
    pub(super) bursts_segments: f64,
}

impl Default for HyStart {
    fn default() -> Self {
        Self {
            found: false,
            samples: 0,
            round_start: 0,
            last_ack: 0,
            end: 0,
            round_rtt: None,
            bursts_segments: BURSTS_SEGMENTS,
        }
    }
}

impl HyStart {
    /// As when the connection began, with segments of the same size.
    pub fn afresh(&self) -> Self {
        Self { bursts_segments: self.bursts_segments, ..Self::default() }
    }

    /// Segments have so many bytes.
    pub fn set_segment_bytes(&mut self, bytes: u32) {
        self.bursts_segments = (BURSTS_BYTES / bytes).into();
    }

    /// A round-trip sample in slow start; ends slow start by setting ssthresh.
    pub fn on_sample(&mut self, window: &mut Window, ack: &Ack, rtt: Picos, delay_min: Picos) {
        if self.found {
            return;
        }
        if ack.snd_una > self.end {
            self.begin_round(ack);
        }
        if window.cwnd < LOW_WINDOW {
            return;
        }
        let path = delay_min + self.offload_delay(window, ack);
        self.found = self.long_train(ack.now, path) || self.late_round(rtt, delay_min);
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }

    fn begin_round(&mut self, ack: &Ack) {
        (self.round_start, self.last_ack) = (ack.now, ack.now);
        self.end = ack.snd_nxt;
        self.samples = 0;
        self.round_rtt = None;
    }

    /// What segmentation offload may add to the path: four bursts of 64 KiB at twice the window a round
    /// trip, 1.2 times from half of ssthresh on, at most 1 ms.
    fn offload_delay(&self, window: &Window, ack: &Ack) -> Picos {
        let windows = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
        let share = self.bursts_segments / (windows * window.cwnd);
        MILLISECOND.min((share * ack.srtt as f64) as Picos)
    }

    /// Half the path, for an unpaced sender.
    fn long_train(&mut self, now: Picos, path: Picos) -> bool {
        if now - self.last_ack > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        now - self.round_start > path / 2
    }

    /// An eighth above the least round-trip time, but 4 to 16 ms.
    fn late_round(&mut self, rtt: Picos, delay_min: Picos) -> bool {
        let least = self.round_rtt.map_or(rtt, |least| least.min(rtt));
        self.round_rtt = Some(least);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        least > delay_min + (delay_min / 8).clamp(4 * MILLISECOND, 16 * MILLISECOND)
    }
}
