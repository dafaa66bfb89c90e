//! A run from its configuration to its report: the event loop, its division over threads, and what is read from it.

mod arrivals;
pub(crate) mod event_loop;
pub(crate) mod outbox;
mod parallel;
pub(crate) mod partition;
mod readings;
mod sampling;
pub mod simulation;
