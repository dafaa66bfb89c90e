//! A library with a control.
#![allow(unsafe_code)]

use crate::abi::{self, Control, Entry};
use libloading::Library;
use std::ffi::CStr;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Names of the hooks, in the order of `forebay_cc.h`.
pub const HOOKS: [&str; 8] = [
    "init",
    "on_ack",
    "cong_avoid",
    "ssthresh",
    "on_loss_state",
    "undo",
    "release",
    "on_transmit_start",
];

/// The most state of a connection, 1 MiB.
const MOST_STATE_BYTES: u32 = 1 << 20;

/// Why a library is no control; in words that follow its name.
#[derive(Debug)]
pub struct LoadError(pub String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// A control of a library, which stays loaded as long as the process lives.
pub struct Plugin {
    name: &'static str,
    own_name: String,
    control: Control,
    fault: Mutex<Option<String>>,
    calls: [AtomicU64; 8],
}

// SAFETY: the pointers in `control` are of functions and a text that live as long as the process; the header asks
// that hooks may be called on any thread.
unsafe impl Send for Plugin {}
// SAFETY: as above.
unsafe impl Sync for Plugin {}

impl Plugin {
    /// Loads the library at `path`; `name` is what scenarios call the control.
    ///
    /// The library's code runs in this process: what it does to the process, it does to the caller.
    pub fn load(path: &Path, name: &str) -> Result<&'static Self, LoadError> {
        // SAFETY: there is no way to know what a library's initializers do; the caller chose it.
        let library = unsafe { Library::new(path) }
            .map_err(|error| LoadError(format!("cannot be loaded: {error}")))?;
        // A control may leave threads and destructors behind: it is never unloaded.
        let library = Box::leak(Box::new(library));
        // SAFETY: the header gives the symbol this type.
        let entry = unsafe { library.get::<Entry>(b"forebay_cc\0") }.map_err(|_| {
            LoadError("exports no function forebay_cc; see forebay_cc.h".to_owned())
        })?;
        // SAFETY: as above.
        let control = read(unsafe { entry() })?;
        // SAFETY: the header says that it is a text that ends with a zero.
        let own_name = (!control.name.is_null())
            .then(|| unsafe { CStr::from_ptr(control.name) }.to_string_lossy().into_owned());
        Ok(Box::leak(Box::new(Self {
            name: Box::leak(name.to_owned().into_boxed_str()),
            own_name: own_name.unwrap_or_default(),
            control,
            fault: Mutex::new(None),
            calls: Default::default(),
        })))
    }

    /// What scenarios call it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What the library calls itself; may be empty.
    pub fn own_name(&self) -> &str {
        &self.own_name
    }

    /// Bytes of a connection's state.
    pub fn state_bytes(&self) -> u32 {
        self.control.state_bytes
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// The first that it did wrong; in words that follow its name.
    pub fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note_fault(&self, what: String) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    }

    pub(crate) fn note_calls(&self, calls: &[u64; 8]) {
        for (total, &more) in self.calls.iter().zip(calls) {
            total.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// How often each of `HOOKS` was called by connections that have ended; `None` for those that it lacks.
    pub fn calls(&self) -> [Option<u64>; 8] {
        let it = &self.control;
        let has = [
            it.init.is_some(),
            it.on_ack.is_some(),
            it.cong_avoid.is_some(),
            it.ssthresh.is_some(),
            it.on_loss_state.is_some(),
            it.undo.is_some(),
            it.release.is_some(),
            it.on_transmit_start.is_some(),
        ];
        std::array::from_fn(|i| has[i].then(|| self.calls[i].load(Ordering::Relaxed)))
    }
}

/// Takes what the library says of itself, up to where it reaches.
fn read(given: *const Control) -> Result<Control, LoadError> {
    if given.is_null() {
        return Err(LoadError("gives no control: forebay_cc() returned NULL".to_owned()));
    }
    // SAFETY: two u32 are at the beginning of every version of the structure.
    let (abi, size) = unsafe { ((*given).abi, (*given).size) };
    if abi != abi::ABI {
        let wrong = format!("has ABI {abi}, not {}; build it against this forebay_cc.h", abi::ABI);
        return Err(LoadError(wrong));
    }
    if (size as usize) < std::mem::offset_of!(Control, on_loss_state) {
        return Err(LoadError(format!("says that struct forebay_cc has {size} bytes")));
    }
    let mut control = Control {
        abi,
        size,
        flags: 0,
        state_bytes: 0,
        name: std::ptr::null(),
        init: None,
        on_ack: None,
        cong_avoid: None,
        ssthresh: None,
        on_loss_state: None,
        undo: None,
        release: None,
        on_transmit_start: None,
    };
    let bytes = (size as usize).min(size_of::<Control>());
    // SAFETY: so many bytes are there, by `size`; a null pointer is None, and what is beyond stays so.
    unsafe { std::ptr::copy_nonoverlapping(given.cast::<u8>(), (&raw mut control).cast(), bytes) };
    if control.state_bytes > MOST_STATE_BYTES {
        let wrong = format!("wants {} bytes of state; at most 1 MiB", control.state_bytes);
        return Err(LoadError(wrong));
    }
    let moves = if control.flags & abi::CONTROLS_CWND != 0 { "on_ack" } else { "cong_avoid" };
    if (moves == "on_ack" && control.on_ack.is_none())
        || (moves == "cong_avoid" && control.cong_avoid.is_none() && control.on_ack.is_none())
    {
        return Err(LoadError(format!("has no hook that moves its window: write {moves}")));
    }
    Ok(control)
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plugin({})", self.name)
    }
}
