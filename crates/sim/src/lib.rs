//! Packet-level TCP simulator: a pure library without I/O, clock or global state.
//!
//! `simulation::run` takes a `config::Config` and gives a `report::Report`; the same configuration
//! gives the same report, bit for bit.

pub mod capture;
pub mod cc;
pub mod config;
mod early_deliveries;
pub mod events;
pub mod flow;
pub mod flow_kind;
mod forwarding;
mod jitter;
pub mod link;
mod lost_acks;
pub mod meters;
mod network;
pub mod packet;
mod paths;
mod prefetch;
pub mod queue;
mod readings;
mod receiving;
pub mod report;
pub mod ring;
mod rng;
mod sampling;
mod sending;
pub mod simulation;
mod sources;
pub mod tcp;
pub mod time;
