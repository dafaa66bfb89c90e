//! Congestion controllers from outside: shared libraries with the C interface of `forebay_cc.h`, as factories
//! of `forebay_sim::cc::foreign`. What they do wrong is noted (`Plugin::fault`), as far as a process survives it.

mod abi;
mod connection;
mod factory;
mod plugin;

pub use connection::wrong_window;
pub use plugin::{HOOKS, LoadError, Plugin};
