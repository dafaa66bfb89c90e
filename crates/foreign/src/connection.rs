//! One connection's controller: its state, and the calls of its hooks.
#![allow(unsafe_code)]

use crate::abi::{self, Does, Flow, OfAck};
use crate::plugin::Plugin;
use forebay_sim::cc::foreign::{Details, FinePhase, Hooks, Start};
use forebay_sim::cc::{Ack, CongestionEvent, Window};
use forebay_sim::time::{NEVER, Picos};
use std::ffi::c_void;

/// Picoseconds of a nanosecond.
const NANOSECOND: u64 = 1000;
/// The largest window.
const MOST_CWND: f64 = (1_u64 << 31) as f64;
/// The slowest pace in segments a second: a gap of a quarter of an hour.
const LEAST_PACE: f64 = 1e-3;

pub struct Connection {
    plugin: &'static Plugin,
    /// Aligned as anything in C.
    state: Box<[u128]>,
    flow: Flow,
    calls: [u64; 8],
    /// It has done something wrong: nothing of it is called any more.
    failed: bool,
    begun: bool,
}

impl Connection {
    pub fn new(plugin: &'static Plugin) -> Self {
        let words = (plugin.state_bytes() as usize).div_ceil(size_of::<u128>()).max(1);
        let flow = Flow { size: size_of::<Flow>() as u32, ..Flow::default() };
        Self {
            plugin,
            state: vec![0; words].into(),
            flow,
            calls: [0; 8],
            failed: false,
            begun: false,
        }
    }

    fn state(&mut self) -> *mut c_void {
        self.state.as_mut_ptr().cast()
    }

    /// Calls a hook that may change the window, and looks at what it made of it.
    fn call(&mut self, hook: usize, window: &mut Window, does: Option<Does>) {
        let Some(does) = does.filter(|_| !self.failed) else { return };
        self.calls[hook] += 1;
        let mut given = to_c(window);
        // SAFETY: state, window and flow live through the call; the header asks no more of us.
        unsafe { does(self.state(), &raw mut given, &raw const self.flow) };
        if given.cwnd.to_bits() == window.cwnd.to_bits()
            && given.ssthresh.to_bits() == window.ssthresh.to_bits()
            && given.pacing_rate.to_bits() == to_c(window).pacing_rate.to_bits()
        {
            return;
        }
        let paces = self.plugin.control().flags & abi::PACES != 0;
        match wrong_window(given.cwnd, given.ssthresh, given.pacing_rate, paces) {
            Some(wrong) => self.fail(hook, &wrong),
            None => from_c(&given, window),
        }
    }

    #[cold]
    fn fail(&mut self, hook: usize, wrong: &str) {
        self.failed = true;
        let at = self.flow.now_ns as f64 / 1e9;
        self.plugin.note_fault(format!("{wrong} after {} at {at:.6} s", crate::HOOKS[hook]));
    }

    fn take(&mut self, ack: &Ack, details: &Details) {
        let flow = &mut self.flow;
        flow.now_ns = ack.now / NANOSECOND;
        flow.snd_una = ack.snd_una;
        flow.snd_nxt = ack.snd_nxt;
        flow.delivered_total = ack.delivered_total;
        flow.delivered_ce_total += ack.marked;
        flow.lost_total = ack.lost_total;
        flow.srtt_ns = ack.srtt / NANOSECOND;
        flow.min_rtt_ns = if ack.min_rtt == NEVER { u64::MAX } else { ack.min_rtt / NANOSECOND };
        flow.next_departure_ns = ack.next_departure / NANOSECOND;
        flow.in_flight = ack.in_flight as u32;
        flow.packets_out = details.packets_out;
        flow.sacked_out = details.sacked_out;
        flow.lost_out = details.lost_out;
        flow.retrans_out = details.retrans_out;
        flow.max_packets_out = details.max_packets_out;
        (flow.prior_cwnd, flow.prior_ssthresh) = details.prior_cwnd_ssthresh;
        flow.of_ack = of_ack(ack, details);
    }

    /// Tells of another phase than at the last call.
    fn enter(&mut self, phase: FinePhase, window: &mut Window) {
        if self.flow.phase != phase as u32 {
            self.flow.phase = phase as u32;
            self.call(4, window, self.plugin.control().on_loss_state);
        }
    }

    fn without_ack(&mut self, now: Picos) {
        self.flow.now_ns = now / NANOSECOND;
        self.flow.of_ack = OfAck::default();
    }
}

fn of_ack(ack: &Ack, details: &Details) -> OfAck {
    let flag = |holds: bool, flag: u32| if holds { flag } else { 0 };
    let rtt_ns = ack.rtt.map_or(0, |rtt| (rtt / NANOSECOND).max(1));
    let mut made = OfAck {
        ack_flags: flag(details.cwnd_limited, abi::CWND_LIMITED)
            | flag(ack.on_slow_path(), abi::SLOW_PATH)
            | flag(details.grows, abi::GROWS),
        acked: ack.segments,
        newly_lost: ack.newly_lost as u32,
        marked: ack.marked as u32,
        prior_in_flight: details.prior_in_flight,
        rtt_ns,
        lost_flight: ack.lost_flight.unwrap_or(0),
        ..OfAck::default()
    };
    if rtt_ns > 0 {
        made.ts_val_ns = ack.now / NANOSECOND;
        made.ts_ecr_ns = made.ts_val_ns.saturating_sub(rtt_ns);
    }
    if let Some(rate) = &ack.rate {
        made.ack_flags |= abi::HAS_RATE | flag(rate.app_limited, abi::APP_LIMITED);
        made.rate_delivered = rate.delivered;
        made.rate_interval_ns = (rate.interval / NANOSECOND).max(1);
        made.rate_prior_delivered = rate.prior_delivered;
        made.rate_prior_lost = rate.prior_lost;
        made.rate_tx_in_flight = rate.tx_in_flight;
    }
    made
}

fn to_c(window: &Window) -> abi::Window {
    let Window { cwnd, ssthresh, pacing_rate } = *window;
    abi::Window { cwnd, ssthresh, pacing_rate: pacing_rate.unwrap_or(0.0) }
}

fn from_c(given: &abi::Window, window: &mut Window) {
    window.cwnd = given.cwnd;
    window.ssthresh = given.ssthresh;
    window.pacing_rate = (given.pacing_rate > 0.0).then_some(given.pacing_rate);
}

/// What is wrong with a window, a threshold and a pace (0: none) of a control that `paces`, or does not.
pub fn wrong_window(cwnd: f64, ssthresh: f64, pace: f64, paces: bool) -> Option<String> {
    if !(1.0..=MOST_CWND).contains(&cwnd) {
        return Some(format!("cwnd is {cwnd}, not 1 to 2^31 segments,"));
    }
    if ssthresh.is_nan() || ssthresh < 1.0 {
        return Some(format!("ssthresh is {ssthresh}, not 1 or more,"));
    }
    if pace != 0.0 && !(LEAST_PACE..f64::INFINITY).contains(&pace) {
        return Some(format!("pacing_rate is {pace}, not 0.001 segments/s or more,"));
    }
    if pace != 0.0 && !paces {
        return Some("pacing_rate is set without FOREBAY_CC_PACES".to_owned());
    }
    None
}

impl Hooks for Connection {
    fn init(&mut self, window: &mut Window, start: Start) {
        self.begun = true;
        self.without_ack(start.now);
        self.flow.seed = start.seed;
        self.flow.segment_bytes = start.segment_bytes;
        self.flow.min_rtt_ns = u64::MAX;
        self.flow.prior_cwnd = window.cwnd;
        self.flow.prior_ssthresh = f64::INFINITY;
        self.call(0, window, self.plugin.control().init);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        self.take(ack, details);
        self.enter(details.phase, window);
        self.call(1, window, self.plugin.control().on_ack);
    }

    fn cong_avoid(&mut self, window: &mut Window, _ack: &Ack, _details: &Details) {
        self.call(2, window, self.plugin.control().cong_avoid);
    }

    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
        self.without_ack(now);
        let plain = (window.cwnd / 2.0).max(2.0);
        let Some(ssthresh) = self.plugin.control().ssthresh.filter(|_| !self.failed) else {
            return plain;
        };
        self.calls[3] += 1;
        let event = match event {
            CongestionEvent::Loss => 0,
            CongestionEvent::Mark => 1,
            CongestionEvent::Timeout => 2,
        };
        let given = to_c(window);
        // SAFETY: see `call`.
        let chosen = unsafe { ssthresh(self.state(), &given, &raw const self.flow, event) };
        if chosen.is_nan() || chosen < 1.0 {
            self.fail(3, &format!("ssthresh is {chosen}, not 1 or more,"));
            return plain;
        }
        chosen
    }

    fn on_loss_state(&mut self, window: &mut Window, ack: &Ack, details: &Details) {
        self.take(ack, details);
        self.flow.phase = details.phase as u32;
        self.call(4, window, self.plugin.control().on_loss_state);
    }

    fn on_transmit_start(&mut self, window: &mut Window, now: Picos, last_sent: Picos) {
        self.without_ack(now);
        self.flow.last_sent_ns = last_sent / NANOSECOND;
        self.flow.in_flight = 0;
        self.call(7, window, self.plugin.control().on_transmit_start);
    }

    fn undo(&mut self, window: &Window, prior_cwnd: f64) -> f64 {
        let plain = window.cwnd.max(prior_cwnd);
        let Some(undo) = self.plugin.control().undo.filter(|_| !self.failed) else { return plain };
        self.calls[5] += 1;
        self.flow.prior_cwnd = prior_cwnd;
        let given = to_c(window);
        // SAFETY: see `call`.
        let chosen = unsafe { undo(self.state(), &given, &raw const self.flow) };
        if !(1.0..=MOST_CWND).contains(&chosen) {
            self.fail(5, &format!("cwnd is {chosen}, not 1 to 2^31 segments,"));
            return plain;
        }
        chosen
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(release) = self.plugin.control().release.filter(|_| self.begun && !self.failed)
        {
            self.calls[6] += 1;
            // SAFETY: see `call`.
            unsafe { release(self.state()) };
        }
        self.plugin.note_calls(&self.calls);
    }
}
