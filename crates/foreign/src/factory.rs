//! A library's control as the simulator takes it.
#![allow(unsafe_code)]

use crate::abi;
use crate::connection::Connection;
use crate::plugin::Plugin;
use forebay_sim::cc::foreign::{Factory, Hooks, Wants};

impl Factory for Plugin {
    fn name(&self) -> &'static str {
        Self::name(self)
    }

    fn wants(&self) -> Wants {
        let has = |flag| self.control().flags & flag != 0;
        Wants {
            paces: has(abi::PACES),
            controls_cwnd: has(abi::CONTROLS_CWND),
            ecn: has(abi::ECN),
            l4s: has(abi::L4S),
            unlimited: has(abi::UNLIMITED),
        }
    }

    fn make(&self) -> Box<dyn Hooks> {
        // A `Plugin` is only ever made by `load`, which leaks it.
        // SAFETY: it lives as long as the process.
        let lasting: &'static Self = unsafe { &*std::ptr::from_ref(self) };
        Box::new(Connection::new(lasting))
    }

    fn failure(&self) -> Option<String> {
        self.fault()
    }
}
