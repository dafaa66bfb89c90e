//! The structures of `forebay_cc.h`, field for field.

use std::ffi::{c_char, c_void};

/// FOREBAY_CC_ABI
pub const ABI: u32 = 1;

pub const PACES: u32 = 1;
pub const CONTROLS_CWND: u32 = 2;
pub const ECN: u32 = 4;
pub const L4S: u32 = 8;
pub const UNLIMITED: u32 = 16;

pub const CWND_LIMITED: u32 = 1;
pub const SLOW_PATH: u32 = 2;
pub const HAS_RATE: u32 = 4;
pub const APP_LIMITED: u32 = 8;
pub const GROWS: u32 = 16;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Window {
    pub cwnd: f64,
    pub ssthresh: f64,
    pub pacing_rate: f64,
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Flow {
    pub size: u32,
    pub segment_bytes: u32,
    pub seed: u64,
    pub now_ns: u64,
    pub snd_una: u64,
    pub snd_nxt: u64,
    pub delivered_total: u64,
    pub delivered_ce_total: u64,
    pub lost_total: u64,
    pub srtt_ns: u64,
    pub min_rtt_ns: u64,
    pub next_departure_ns: u64,
    pub last_sent_ns: u64,
    pub phase: u32,
    pub in_flight: u32,
    pub packets_out: u32,
    pub sacked_out: u32,
    pub lost_out: u32,
    pub retrans_out: u32,
    pub max_packets_out: u32,
    pub reserved: u32,
    pub prior_cwnd: f64,
    pub prior_ssthresh: f64,
    pub of_ack: OfAck,
}

/// What is of the ACK in hand.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct OfAck {
    pub ack_flags: u32,
    pub acked: u32,
    pub newly_lost: u32,
    pub marked: u32,
    pub prior_in_flight: u32,
    pub reserved: u32,
    pub rtt_ns: u64,
    pub ts_val_ns: u64,
    pub ts_ecr_ns: u64,
    pub rate_delivered: u64,
    pub rate_interval_ns: u64,
    pub rate_prior_delivered: u64,
    pub rate_prior_lost: u64,
    pub rate_tx_in_flight: u64,
    pub lost_flight: u64,
}

pub type Does = unsafe extern "C" fn(*mut c_void, *mut Window, *const Flow);
pub type Ssthresh = unsafe extern "C" fn(*mut c_void, *const Window, *const Flow, u32) -> f64;
pub type Undo = unsafe extern "C" fn(*mut c_void, *const Window, *const Flow) -> f64;
pub type Release = unsafe extern "C" fn(*mut c_void);

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Control {
    pub abi: u32,
    pub size: u32,
    pub flags: u32,
    pub state_bytes: u32,
    pub name: *const c_char,
    pub init: Option<Does>,
    pub on_ack: Option<Does>,
    pub cong_avoid: Option<Does>,
    pub ssthresh: Option<Ssthresh>,
    pub on_loss_state: Option<Does>,
    pub undo: Option<Undo>,
    pub release: Option<Release>,
    pub on_transmit_start: Option<Does>,
}

pub type Entry = unsafe extern "C" fn() -> *const Control;

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// As a C compiler lays them out.
    #[test]
    fn the_layout_is_that_of_the_header() {
        assert_eq!(offset_of!(Flow, phase), 96);
        assert_eq!(offset_of!(Flow, prior_cwnd), 128);
        assert_eq!(offset_of!(Flow, of_ack), 144);
        assert_eq!((size_of::<Flow>(), size_of::<Control>()), (240, 88));
    }
}
