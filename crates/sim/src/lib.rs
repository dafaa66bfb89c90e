//! Packet-level TCP simulator: a pure library without I/O, clock or global state.
//!
//! `simulation::run` takes a `config::Config` and gives a `report::Report`; the same configuration
//! gives the same report, bit for bit.

pub mod capture;
pub mod cc;
pub mod config;
pub mod events;
mod fast;
pub mod flow;
pub mod link;
pub mod meters;
mod network;
pub mod packet;
pub mod packet_log;
mod paths;
mod pipeline;
pub mod queue;
pub mod ring;
mod rng;
mod run;
pub mod structure_bytes;
pub mod tcp;
pub mod time;
mod traffic;

pub use fast::flow_kind;
pub use meters::report;
pub use run::simulation;
