//! TCP endpoints. Sequence numbers count segments, all of one size within a flow.

mod delivery;
mod delivery_rate;
pub mod forward_rto;
pub mod newreno;
pub mod profile;
mod prr;
pub mod rack;
mod reassembly;
pub mod receive_window;
pub mod receiver;
pub mod rtt;
pub mod sack;
pub mod scoreboard;
pub mod send_times;
pub mod sender;
pub mod tail_probe;
mod telling;
pub mod usage;
