//! The list of controllers: each with its record, and the enum that holds any of them.

use super::record::{Decrease, Growth, Marks, PerRound, Record, Response};
use super::{Ack, CongestionEvent, Controller, IncreaseRule, Window};
use super::{bbr, bbr3, bic, compound, cubic, dctcp, prague, reno, scalable, westwood};
use crate::time::Picos;

/// What the variants of CUBIC share: at its plateau the window stands still (one segment for 100 windows,
/// Linux); it grows by at most one segment for two acknowledged.
const CUBIC_GROWTH: Growth = Growth {
    least: PerRound::constant(0.01),
    most: PerRound { segments: 1.0, share: 0.5, power: 1.0 },
};
/// 1 / 100 of a window (Kelly 2003, section 3), and Reno's below 100 segments (Linux).
const SCALABLE_GROWTH: PerRound = PerRound { segments: 1.0, share: 0.01, power: 1.0 };
/// S_max, or 5 % of a window before the first loss (Linux 2.6.19).
const BIC_MOST: PerRound = PerRound { segments: 16.0, share: 0.05, power: 1.0 };
/// Reno's and the delay window's (alpha win^k - 1)+ (draft-sridharan-tcpm-ctcp-02, section 4).
const COMPOUND_MOST: PerRound = PerRound { segments: 1.0, share: 0.125, power: 0.75 };

// Large controllers live on the heap, so that a flow with a small one stays small. `Box` is no controller: a
// hook is called on what it holds, and none can be left out.
macro_rules! controllers {
    ($($name:literal => $variant:ident($type:ty) = $record:expr;)+) => {
        /// Any of the controllers, dispatched without a table of functions.
        pub enum Cc { $(#[doc = $name] $variant($type)),+ }

        /// Their names in a scenario: Linux names where Linux has them.
        pub const NAMES: &[&str] = &[$($name),+];

        /// Each with its record, for the conformance suite.
        #[cfg(test)]
        pub(super) fn subjects() -> Vec<super::conformance::declared::Subject> {
            vec![$(super::conformance::declared::Subject {
                name: $name,
                record: $record,
                make: || Box::new(Cc::by_name($name).expect("listed")),
            }),+]
        }

        impl Cc {
            /// A fresh controller by its name.
            pub fn by_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant(Default::default())),)+ _ => None }
            }

            /// What it declares.
            #[inline]
            pub fn record(&self) -> &'static Record {
                match self { $(Self::$variant(_) => const { &$record }),+ }
            }

            /// `Record::paced`.
            pub fn paced(&self) -> bool {
                match self { $(Self::$variant(_) => const { $record.paced }),+ }
            }

            /// `Record::controls_cwnd`.
            #[inline]
            pub fn controls_cwnd(&self) -> bool {
                match self { $(Self::$variant(_) => const { $record.controls_cwnd() }),+ }
            }

            /// `Record::needs_ecn`.
            pub fn needs_ecn(&self) -> bool {
                match self { $(Self::$variant(_) => const { $record.needs_ecn() }),+ }
            }

            /// `Record::l4s`.
            pub fn l4s(&self) -> bool {
                match self { $(Self::$variant(_) => const { $record.l4s() }),+ }
            }

            /// `Record::needs_every_ack`.
            #[inline]
            pub fn needs_every_ack(&self) -> bool {
                match self { $(Self::$variant(_) => const { $record.needs_every_ack }),+ }
            }
        }

        impl Controller for Cc {
            #[inline]
            fn cong_avoid_fast(&mut self, window: &mut Window, segments: u32, increase_rule: IncreaseRule) -> bool {
                match self { $(Self::$variant(cc) => cc.cong_avoid_fast(window, segments, increase_rule)),+ }
            }
            #[inline]
            fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$variant(cc) => cc.cong_avoid(window, ack)),+ }
            }
            #[inline]
            fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$variant(cc) => cc.on_ack_received(window, ack)),+ }
            }
            fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
                match self { $(Self::$variant(cc) => cc.ssthresh(window, now, event)),+ }
            }
            fn on_timeout(&mut self, window: &mut Window, now: Picos) {
                match self { $(Self::$variant(cc) => cc.on_timeout(window, now)),+ }
            }
            fn on_loss_state(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$variant(cc) => cc.on_loss_state(window, ack)),+ }
            }
            fn in_startup(&self, window: &Window) -> bool {
                match self { $(Self::$variant(cc) => cc.in_startup(window)),+ }
            }
            fn set_seed(&mut self, seed: u64) {
                match self { $(Self::$variant(cc) => cc.set_seed(seed)),+ }
            }
        }
    };
}

controllers! {
    "reno" => Reno(reno::Reno) = Record {
        paced: false,
        decrease: Decrease::Share(0.5),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth::RENO),
        response: Some(Response::Reno),
        needs_every_ack: false,
        source: "RFC 5681",
    };
    "scalable" => Scalable(scalable::Scalable) = Record {
        paced: false,
        decrease: Decrease::Share(0.875),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth { least: SCALABLE_GROWTH, most: SCALABLE_GROWTH }),
        response: Some(Response::Scalable),
        needs_every_ack: false,
        source: "Kelly 2003",
    };
    "bic" => Bic(Box<bic::Bic>) = Record {
        paced: false,
        decrease: Decrease::Share(819.0 / 1024.0),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth { least: PerRound::constant(0.2), most: BIC_MOST }),
        response: None,
        needs_every_ack: false,
        source: "Xu, Harfoush, Rhee 2004; Linux 2.6.19",
    };
    "cubic" => Cubic(Box<cubic::Cubic<717, true>>) = Record {
        paced: false,
        decrease: Decrease::Share(717.0 / 1024.0),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(CUBIC_GROWTH),
        response: Some(Response::Cubic),
        needs_every_ack: true,
        source: "RFC 9438",
    };
    "cubic-beta-0.8" => CubicBeta08(Box<cubic::Cubic<819, false>>) = Record {
        paced: false,
        decrease: Decrease::Share(819.0 / 1024.0),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(CUBIC_GROWTH),
        response: Some(Response::Cubic),
        needs_every_ack: true,
        source: "Yang, Zhang, Xu 2013",
    };
    "cubic-beta-0.7" => CubicBeta07(Box<cubic::Cubic<717, false>>) = Record {
        paced: false,
        decrease: Decrease::Share(717.0 / 1024.0),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(CUBIC_GROWTH),
        response: Some(Response::Cubic),
        needs_every_ack: true,
        source: "Yang, Zhang, Xu 2013",
    };
    "compound" => Compound(Box<compound::Compound>) = Record {
        paced: false,
        decrease: Decrease::Share(0.5),
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth { least: PerRound::constant(1.0), most: COMPOUND_MOST }),
        response: Some(Response::Reno),
        needs_every_ack: false,
        source: "draft-sridharan-tcpm-ctcp-02; its response is Reno's at a standing queue",
    };
    "dctcp" => Dctcp(Box<dctcp::Dctcp>) = Record {
        paced: false,
        decrease: Decrease::Share(0.5),
        marks: Marks::Fraction,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth::RENO),
        response: Some(Response::Reno),
        needs_every_ack: true,
        source: "RFC 8257",
    };
    "bbr" => Bbr(Box<bbr::Bbr>) = Record {
        paced: true,
        decrease: Decrease::Model,
        marks: Marks::Ignored,
        timeout_reduces_ssthresh: false,
        growth: None,
        response: None,
        needs_every_ack: true,
        source: "draft-cardwell-iccrg-bbr-congestion-control-00; Linux, tcp_bbr",
    };
    "bbr3" => Bbr3(Box<bbr3::Bbr3>) = Record {
        paced: true,
        decrease: Decrease::Model,
        marks: Marks::Ignored,
        timeout_reduces_ssthresh: false,
        growth: None,
        response: None,
        needs_every_ack: true,
        source: "draft-ietf-ccwg-bbr",
    };
    "westwood" => Westwood(Box<westwood::Westwood>) = Record {
        paced: false,
        decrease: Decrease::Bandwidth,
        marks: Marks::Loss,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth::RENO),
        response: None,
        needs_every_ack: true,
        source: "Grieco and Mascolo 2004; Linux, tcp_westwood",
    };
    "prague" => Prague(Box<prague::Prague>) = Record {
        paced: true,
        decrease: Decrease::Share(0.5),
        marks: Marks::L4s,
        timeout_reduces_ssthresh: true,
        growth: Some(Growth::RENO),
        response: Some(Response::Reno),
        needs_every_ack: true,
        source: "draft-briscoe-iccrg-prague-congestion-control",
    };
}
