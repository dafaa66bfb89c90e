//! Queue disciplines, each written once and under its Linux kernel name.

pub mod drop_tail;
