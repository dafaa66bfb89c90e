//! What the router's threads share: the channels to the far end, the progress, and their priority.

use super::TimedPacket;
use crate::failure::Failure;
use forebay_sim::time::Picos;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, Sender};

/// Real-time priority.
pub const PRIORITY: i32 = 10;

/// State of the running router for other threads.
#[derive(Default)]
pub struct Progress {
    /// Time reached.
    pub reached: AtomicU64,
    /// Bytes that the first link has accepted.
    pub first_link_bytes: AtomicU64,
    /// 99th percentile of lateness so far.
    pub lateness_p99: AtomicU64,
    /// Set to stop it early.
    pub stop: AtomicBool,
}

/// Messages of the far end.
pub enum FarEndMessage {
    /// A buffer whose packet has been delivered.
    Spent(TimedPacket),
    /// A packet that was read from the right, at `at`.
    Read(TimedPacket),
    /// It delivered late at this time, which may have delayed any connection.
    Late(Picos),
    /// It ran at this time, so much later than it should have: `LEAST_STALL` or more.
    RanLate(Picos, Picos),
    /// The device failed.
    Failed(Failure),
}

/// The router's side of the channels.
pub struct FarEndChannels {
    /// To the far end.
    pub out: Sender<TimedPacket>,
    /// From it.
    pub back: Receiver<FarEndMessage>,
}
