//! Flows of a capture: one direction of a five-tuple each, and what they add to the estimates.

pub mod flow;
pub mod holes;
pub mod pace;
pub mod round_trip;
pub mod table;
pub mod tally;
