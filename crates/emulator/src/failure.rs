//! Failures, each with a hint.

use std::fmt;
use std::io;

/// Why a run ended without readings.
#[derive(Debug)]
pub enum Failure {
    /// An invalid command line.
    Usage,
    /// The plan cannot be read: which file, and why.
    Plan(String, String),
    /// The kernel refused: the request, its error, and a hint.
    Kernel(String, io::Error, &'static str),
    /// A thread panicked: which.
    Thread(&'static str),
    /// Packets in the router need more memory than this limit, in bytes.
    Memory(usize),
    /// The result file cannot be written.
    Result(String, io::Error),
    /// Stopped by this signal, or by standard input's end (0).
    Stopped(i32),
}

impl Failure {
    /// A stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Plan(..) => "plan",
            Self::Kernel(..) => "kernel",
            Self::Thread(_) => "thread",
            Self::Memory(_) => "memory",
            Self::Result(..) => "result",
            Self::Stopped(_) => "stopped",
        }
    }

    /// Exit status of the process; for a signal as in shells.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Stopped(signal @ 1..) => 128 + *signal as u8,
            _ => 1,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Usage => "write: forebay-emulator run PLAN.json",
            Self::Plan(..) => "write the plan with `forebay run --engine testbed`",
            Self::Kernel(_, _, hint) => hint,
            Self::Thread(_) => "this is a defect of forebay-emulator; please report it",
            Self::Memory(_) => "write a lower access rate, a smaller buffer or fewer flows",
            Self::Result(..) => "make room there, or write another directory",
            Self::Stopped(_) => "start it again",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => write!(f, "unknown arguments"),
            Self::Plan(path, why) => write!(f, "{path}: {why}"),
            Self::Kernel(asked, answer, _) => write!(f, "{asked}: {answer}"),
            Self::Thread(which) => write!(f, "the {which} thread panicked"),
            Self::Memory(limit) => write!(f, "packets under way need more than {limit} bytes"),
            Self::Result(path, why) => write!(f, "{path}: {why}"),
            Self::Stopped(0) => write!(f, "standard input closed"),
            Self::Stopped(signal) => write!(f, "stopped by signal {signal}"),
        }
    }
}

impl std::error::Error for Failure {}
