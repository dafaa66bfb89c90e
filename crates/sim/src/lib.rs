//! Packet-level TCP simulator: a pure library without I/O, clock or global state.
//!
//! `simulation::run` takes a `config::Config` and gives a `report::Report`; the same configuration
//! gives the same report, bit for bit.

mod ahead;
pub mod cc;
mod chance;
pub mod config;
pub mod events;
pub mod flow;
pub mod link;
mod lost_acks;
mod network;
pub mod parcel;
mod paths;
mod playing;
pub mod probe;
pub mod queue;
mod readings;
mod receiving;
pub mod report;
pub mod ring;
mod routing;
mod sampling;
mod sending;
mod shaking;
pub mod simulation;
pub mod tcp;
pub mod time;
mod underway;
pub mod way;
