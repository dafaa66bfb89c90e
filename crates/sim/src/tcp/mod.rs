//! TCP endpoints. Sequence numbers count segments, all of one size within a flow.

pub mod newreno;
pub mod profile;
pub mod receiver;
pub mod rtt;
pub mod sack;
pub mod sender;
