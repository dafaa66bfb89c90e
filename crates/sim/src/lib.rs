//! Packet-level TCP simulator: a pure library without I/O, clock or global state.
//!
//! `simulation::run` takes a `config::Config` and gives a `report::Report`; the same configuration
//! gives the same report, bit for bit.

mod access_link;
mod ack_path;
mod app_source;
pub mod capture;
pub mod cc;
pub mod config;
mod counts;
mod delayed_ack;
mod early_deliveries;
mod event_key;
mod event_loop;
mod event_timer;
pub mod events;
pub mod flow;
pub mod flow_kind;
mod forwarding;
mod jitter;
pub mod link;
mod lost_acks;
pub mod meters;
mod network;
mod outbox;
pub mod packet;
mod parallel;
mod partition;
mod paths;
mod prefetch;
pub mod queue;
mod readings;
mod receiving;
pub mod report;
pub mod ring;
mod rng;
mod route_state;
mod sampling;
mod sender_events;
mod sending;
pub mod simulation;
mod sole_dequeue;
mod sources;
pub mod structure_bytes;
pub mod tcp;
pub mod time;
mod traffic;
mod wheel_size;
