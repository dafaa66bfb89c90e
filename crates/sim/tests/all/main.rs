//! The simulator from outside. One program for all files: each as a program of its own would be compiled and linked apart.

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
mod pauses;
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
