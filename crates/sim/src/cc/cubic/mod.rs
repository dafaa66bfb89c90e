//! CUBIC (RFC 9438) as Linux ships it, and as the older kernels of Yang et al. 2013 had it.
//!
//! Where the RFC and Linux differ, this is Linux: W(t) is aimed one minimum round trip ahead, not
//! one smoothed one; the Reno-friendly estimate keeps its increase factor beyond the last maximum;
//! the window grows by at most one segment for two acknowledged. Where whole segments are counted, what Linux rounds
//! down is rounded down: the distance from W_max on both sides of it, W_max itself, and time, to ticks of 1 ms, then to
//! 1/1024 s.

mod hystart;

use super::ai_counter::{AiCounter, counted};
use super::record::{Declared, Decrease, Growth, Marks, PerRound, Record, Response};
use super::rounding::whole_below;
use super::{Ack, CongestionEvent, Controller, IncreaseRule, PlainAck, Window};
use crate::time::{MILLISECOND, Picos, SECOND};
use hystart::HyStart;
use prefetch_index::prefetch_index;
use std::slice::from_ref;

/// RFC 9438, section 5: C, segments a cubed second.
const C: f64 = 0.4;
/// The same in 1024ths (Linux, bic_scale).
const LINUX_C: f64 = 410.0 / 1024.0;
/// Until the first loss: one segment for 20 acknowledged at least, 5 % a round trip (Linux).
const BEFORE_LOSS: f64 = 20.0;
/// Beyond its reach the curve stands still: one segment for 100 windows (Linux).
const STANDSTILL: f64 = 100.0;
/// With an unchanged window the curve is read again after more than 1/32 s in whole ticks (Linux).
const REFRESH: Picos = 32 * TICK;
/// The kernel's clock: the curve is read once a tick at most.
const TICK: Picos = MILLISECOND;

/// `BETA` / 1024 of the window is kept on loss; `HYSTART` ends slow start before losses do.
#[derive(Default)]
pub struct Cubic<const BETA: u32, const HYSTART: bool> {
    ai_counter: AiCounter,
    hystart: HyStart,
    /// W_max of RFC 9438, section 4.1.2; 0 before the first loss and after a timeout.
    last_max: f64,
    /// Least round-trip time, of samples not taken within a second of a new epoch; 0 for none.
    delay_min: Picos,
    epoch: Option<Epoch>,
    segments_per_increment: f64,
    increase_rule: IncreaseRule,
}

/// From one reduction of the window to the next.
struct Epoch {
    start: Picos,
    /// Time and K are whole, as Linux counts them.
    whole: bool,
    /// Seconds until the curve reaches its plateau.
    k: f64,
    plateau: f64,
    /// W_est, the Reno-friendly window, and the segments acknowledged towards its next increase.
    reno: f64,
    reno_credit: f64,
    /// The window and the time for which the curve was last read, and what it said.
    read_cwnd: f64,
    read_at: Picos,
    curve_per: f64,
}

/// What the variants of CUBIC share: at its plateau the window stands still (one segment for 100 windows,
/// Linux); it grows by at most one segment for two acknowledged.
const CUBIC_GROWTH: Growth = Growth {
    least: PerRound::constant(0.01),
    most: PerRound { segments: 1.0, share: 0.5, power: 1.0 },
};

impl Declared for Cubic<717, true> {
    const RECORD: Record = Record {
        paced: false,
        decrease: Decrease::Share(717.0 / 1024.0),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(CUBIC_GROWTH),
        response: Some(Response::Cubic),
        needs_every_ack: true,
        source: "RFC 9438",
    };
}

impl Declared for Cubic<819, false> {
    const RECORD: Record = Record {
        paced: false,
        decrease: Decrease::Share(819.0 / 1024.0),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(CUBIC_GROWTH),
        response: Some(Response::Cubic),
        needs_every_ack: true,
        source: "Yang, Zhang, Xu 2013",
    };
}

impl Declared for Cubic<717, false> {
    const RECORD: Record = Record {
        paced: false,
        decrease: Decrease::Share(717.0 / 1024.0),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(CUBIC_GROWTH),
        response: Some(Response::Cubic),
        needs_every_ack: true,
        source: "Yang, Zhang, Xu 2013",
    };
}

impl<const BETA: u32, const HYSTART: bool> Controller for Cubic<BETA, HYSTART> {
    #[inline(always)]
    fn prefetch(&self) {
        prefetch_index(from_ref(&self.ai_counter), 0);
        prefetch_index(from_ref(&self.hystart), 0);
        prefetch_index(from_ref(&self.delay_min), 0);
        prefetch_index(from_ref(&self.epoch), 0);
    }

    /// Beyond slow start it wants no more of an ACK.
    #[inline]
    fn cong_avoid_fast(&mut self, window: &mut Window, ack: PlainAck) -> bool {
        if window.in_slow_start() {
            return false;
        }
        self.take_rtt(ack.now, ack.rtt);
        self.increase_rule = ack.increase_rule;
        self.grow(window, ack.segments, ack.now, ack.increase_rule);
        true
    }

    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        self.increase_rule = ack.increase_rule;
        let mut segments = ack.segments;
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        self.grow(window, segments, ack.now, ack.increase_rule);
    }

    fn set_segment_bytes(&mut self, bytes: u32) {
        self.hystart.set_segment_bytes(bytes);
    }

    fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = self.take_rtt(ack.now, ack.rtt)
            && HYSTART
            && window.in_slow_start()
        {
            self.hystart.on_sample(window, ack, rtt, self.delay_min);
        }
    }

    /// RFC 9438, section 4.6, and fast convergence, section 4.7.
    fn ssthresh(&mut self, window: &Window, _now: Picos, _cause: CongestionEvent) -> f64 {
        self.ai_counter.reset();
        self.epoch = None;
        let (cwnd, beta) = (window.cwnd, Self::beta());
        let last_max = if cwnd < self.last_max { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
        self.last_max = counted(self.increase_rule, last_max);
        (cwnd * beta).max(2.0)
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Picos) {
        let (hystart, increase_rule) = (self.hystart.afresh(), self.increase_rule);
        *self = Self { hystart, increase_rule, ..Self::default() };
    }
}

impl<const BETA: u32, const HYSTART: bool> Cubic<BETA, HYSTART> {
    fn beta() -> f64 {
        f64::from(BETA) / 1024.0
    }

    /// Takes a round-trip time, unless it is of an epoch's first second.
    #[inline]
    fn take_rtt(&mut self, now: Picos, rtt: Option<Picos>) -> Option<Picos> {
        let is_new = |epoch: &Epoch| now - epoch.start < SECOND;
        let rtt = rtt.filter(|_| !self.epoch.as_ref().is_some_and(is_new))?;
        if self.delay_min == 0 || rtt < self.delay_min {
            self.delay_min = rtt.max(1);
        }
        Some(rtt)
    }

    /// So many segments count towards growth beyond slow start.
    #[inline]
    fn grow(&mut self, window: &mut Window, segments: u32, now: Picos, rule: IncreaseRule) {
        if segments > 0 {
            self.update(window.cwnd, segments, now, rule);
            self.ai_counter.cong_avoid_ai(window, rule, segments, self.segments_per_increment);
        }
    }

    /// Finds how many segments have to be acknowledged for an increase.
    #[inline]
    fn update(&mut self, cwnd: f64, segments: u32, now: Picos, increase_rule: IncreaseRule) {
        let whole = Self::is_whole(increase_rule);
        let last_max = self.last_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(cwnd, last_max, now, whole));
        epoch.reno_credit += f64::from(segments);
        let waited = now - epoch.read_at;
        if epoch.read_cwnd == cwnd && waited < REFRESH {
            return;
        }
        if epoch.curve_per == 0.0 || waited >= TICK {
            epoch.read(cwnd, now, self.delay_min, increase_rule);
            if last_max == 0.0 {
                epoch.curve_per = epoch.curve_per.min(BEFORE_LOSS);
            }
        }
        let per_reno = Self::reno_segments_an_increase(cwnd, increase_rule);
        let friendly = epoch.reno_friendly(cwnd, per_reno, increase_rule);
        self.segments_per_increment =
            counted(increase_rule, epoch.curve_per.min(friendly)).max(2.0);
    }

    /// It counts as Linux does. The variants without HyStart run in a kernel as programs with a finer clock.
    fn is_whole(increase_rule: IncreaseRule) -> bool {
        HYSTART && increase_rule == IncreaseRule::PerWindow
    }

    /// cwnd / alpha with alpha = 3 (1 - beta) / (1 + beta) (RFC 9438, section 4.3, equation 4). Linux has 1 / alpha in eighths.
    /// The variants without HyStart run in a kernel as programs that divide exactly.
    fn reno_segments_an_increase(cwnd: f64, increase_rule: IncreaseRule) -> f64 {
        if Self::is_whole(increase_rule) {
            let eighths = 8 * (1024 + BETA) / 3 / (1024 - BETA);
            return whole_below(cwnd * f64::from(eighths) / 8.0).max(1.0);
        }
        cwnd * (1.0 + Self::beta()) / (3.0 * (1.0 - Self::beta()))
    }
}

impl Epoch {
    /// RFC 9438, section 4.2, equation 2: K = cbrt((W_max - cwnd) / C).
    fn new(cwnd: f64, last_max: f64, now: Picos, whole: bool) -> Self {
        let plateau = last_max.max(cwnd);
        let now = if whole { now - now % TICK } else { now };
        Self {
            start: now,
            whole,
            k: if whole { linux_k(plateau - cwnd) } else { cube_root((plateau - cwnd) / C) },
            plateau,
            reno: cwnd,
            reno_credit: 0.0,
            read_cwnd: 0.0,
            read_at: now,
            curve_per: 0.0,
        }
    }

    /// RFC 9438, section 4.2, equation 1: W(t) = C (t - K)^3 + W_max, `t` after the epoch's start.
    fn curve(&self, t: f64, increase_rule: IncreaseRule) -> f64 {
        let from_plateau = scale(self.whole) * (t - self.k).powi(3);
        self.plateau + counted(increase_rule, from_plateau.abs()).copysign(from_plateau)
    }

    fn read(&mut self, cwnd: f64, now: Picos, ahead: Picos, increase_rule: IncreaseRule) {
        self.read_cwnd = cwnd;
        self.read_at = now;
        let t = if self.whole {
            self.read_at -= now % TICK;
            let ticks = (self.read_at - self.start) / TICK + ahead.div_ceil(TICK);
            (ticks * 1024 / (SECOND / TICK)) as f64 / 1024.0
        } else {
            (now - self.start + ahead) as f64 / SECOND as f64
        };
        let gap = self.curve(t, increase_rule) - cwnd;
        self.curve_per = if gap > 0.0 { cwnd / gap } else { STANDSTILL * cwnd };
    }

    /// RFC 9438, section 4.3: W_est rises by one for `per_reno` acknowledged; the window follows it
    /// where it is ahead. Where segments are counted, one more than `per_reno` has to be acknowledged at first.
    fn reno_friendly(&mut self, cwnd: f64, per_reno: f64, increase_rule: IncreaseRule) -> f64 {
        let kept = match increase_rule {
            IncreaseRule::PerAck => 0.0,
            IncreaseRule::PerWindow => 1.0,
        };
        let steps = whole_below((self.reno_credit - kept) / per_reno);
        self.reno += steps;
        self.reno_credit -= steps * per_reno;
        if self.reno > cwnd { cwnd / (self.reno - cwnd) } else { f64::INFINITY }
    }
}

/// K as Linux finds it, in whole 1/1024 s: one step of Newton's iteration from the root of the six leading bits, with 341/1024 for a
/// third. That is 1/1024 too little; a first root that is 1/32 too large gives (1/32)^2 = 1/1024 too much.
fn linux_k(segments: f64) -> f64 {
    let cube = (((1_u64 << 40) / 410) as f64 * segments) as u64;
    if cube == 0 {
        return 0.0;
    }
    let bits = (u64::BITS - cube.leading_zeros()).saturating_sub(4) / 3;
    let leading = (cube >> (3 * bits)) as f64 + 0.5;
    let first = (33.0 / 32.0 * cube_root(leading) * f64::from(1_u32 << bits)).max(2.0) as u64;
    let thrice = 2 * first + cube / (first * (first - 1));
    (thrice * 341 / 1024) as f64 / 1024.0
}

/// C of the curve.
fn scale(whole: bool) -> f64 {
    if whole { LINUX_C } else { C }
}

/// Newton's iteration: the same bits on every platform, which a C library's cbrt does not promise.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2A9F_7893_782D_A1CE);
    for _ in 0..5 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests;
