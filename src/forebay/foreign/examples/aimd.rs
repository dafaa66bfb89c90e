// SPDX-License-Identifier: 0BSD
//
// As aimd.c, in Rust without any crate. Build it with: forebay controls build aimd.rs
#![crate_type = "cdylib"]
#![crate_name = "aimd_rs"]

use std::ffi::{c_char, c_void};

/// The beginning of `struct forebay_cc_flow`, as far as this control reads it.
#[repr(C)]
struct Flow {
    size: u32,
    segment_bytes: u32,
    _seed_to_last_sent: [u64; 11],
    _phase_to_reserved: [u32; 8],
    _prior: [f64; 2],
    ack_flags: u32,
    acked: u32,
}

#[repr(C)]
struct Window {
    cwnd: f64,
    ssthresh: f64,
    pacing_rate: f64,
}

#[repr(C)]
struct Hooks {
    abi: u32,
    size: u32,
    flags: u32,
    state_bytes: u32,
    name: *const c_char,
    init: Option<extern "C" fn(*mut c_void, *mut Window, *const Flow)>,
    on_ack: Option<extern "C" fn(*mut c_void, *mut Window, *const Flow)>,
    cong_avoid: Option<extern "C" fn(*mut Aimd, *mut Window, *const Flow)>,
    ssthresh: Option<extern "C" fn(*mut Aimd, *const Window, *const Flow, u32) -> f64>,
    on_loss_state: Option<extern "C" fn(*mut c_void, *mut Window, *const Flow)>,
    undo: Option<extern "C" fn(*mut c_void, *const Window, *const Flow) -> f64>,
    release: Option<extern "C" fn(*mut c_void)>,
    on_transmit_start: Option<extern "C" fn(*mut c_void, *mut Window, *const Flow)>,
}

unsafe impl Sync for Hooks {}

#[repr(C)]
struct Aimd {
    /// Segments acknowledged towards the next increase.
    counted: u32,
}

extern "C" fn cong_avoid(state: *mut Aimd, window: *mut Window, flow: *const Flow) {
    // SAFETY: Forebay passes valid pointers, the state zeroed at first.
    let (aimd, window, flow) = unsafe { (&mut *state, &mut *window, &*flow) };
    let mut acked = flow.acked;
    if window.cwnd < window.ssthresh {
        let room = window.ssthresh - window.cwnd;
        if f64::from(acked) <= room {
            window.cwnd += f64::from(acked);
            return;
        }
        window.cwnd = window.ssthresh;
        acked -= room as u32;
    }
    let every = window.cwnd as u32;
    if aimd.counted >= every {
        aimd.counted = 0;
        window.cwnd += 1.0;
    }
    aimd.counted += acked;
    if aimd.counted >= every {
        window.cwnd += f64::from(aimd.counted / every);
        aimd.counted %= every;
    }
}

extern "C" fn ssthresh(state: *mut Aimd, window: *const Window, _: *const Flow, _: u32) -> f64 {
    // SAFETY: as above.
    let (aimd, window) = unsafe { (&mut *state, &*window) };
    aimd.counted = 0;
    (window.cwnd / 2.0).max(2.0)
}

static HOOKS: Hooks = Hooks {
    abi: 1,
    size: size_of::<Hooks>() as u32,
    flags: 0,
    state_bytes: size_of::<Aimd>() as u32,
    name: c"aimd-rs".as_ptr(),
    init: None,
    on_ack: None,
    cong_avoid: Some(cong_avoid),
    ssthresh: Some(ssthresh),
    on_loss_state: None,
    undo: None,
    release: None,
    on_transmit_start: None,
};

#[unsafe(no_mangle)]
extern "C" fn forebay_cc() -> *const Hooks {
    &HOOKS
}
