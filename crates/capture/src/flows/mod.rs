//! Flows of a capture, each one direction of a five-tuple, and their sums.

pub mod delayed_acks;
pub mod flow;
pub mod holes;
pub mod hypothesis;
pub mod in_order;
pub mod one_way;
pub mod pace;
pub mod round_trip;
pub mod table;
pub mod tally;
mod way_back;
