//! Readings: what a run tells when it ends.

pub mod flow_moments;
pub mod flow_records;
pub mod histogram;
pub mod link;
mod link_batch;
pub mod periods;
pub mod report;
pub mod trace;
