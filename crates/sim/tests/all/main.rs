//! The simulator from outside, in one program: each file that were one of its own would be linked by itself.

mod barriers;
mod config_checks;
mod conservation;
mod ecn;
mod flow_records;
mod footprint;
mod jitter;
mod jitter_of_links;
mod linux;
mod loss;
mod networks;
mod offload;
mod open_loop;
mod packet_log;
mod properties;
mod rate_trace;
mod readings;
mod same_instant;
mod seeds;
mod shaping;
mod single_flow;
mod single_flow_controllers;
mod testbench;
mod ties;
mod timeouts;
