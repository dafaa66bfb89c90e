//! What exists for speed alone: without it every answer is the same, and comes later. Each file says what it saves.

pub mod flow_kind;
pub(crate) mod many_flows;
pub(crate) mod prefetch;
pub(crate) mod sole_dequeue;
pub(crate) mod wheel_size;
