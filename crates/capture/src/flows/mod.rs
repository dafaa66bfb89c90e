//! Flows of a capture, each one direction of a five-tuple, and their sums.

pub mod flow;
pub mod holes;
pub mod pace;
pub mod round_trip;
pub mod table;
pub mod tally;
