//! The list of controllers, and the enum that holds any of them.

use super::foreign::ForeignCc;
use super::record::{Declared, Record};
use super::{Ack, CongestionEvent, Controller, PlainAck, Window};
use crate::time::Picos;

// Large controllers live on the heap, so that a flow with a small one stays small. `Box` is no controller: a
// hook is called on what it holds, and none can be left out.
macro_rules! controllers {
    ($($name:literal => $variant:ident($type:ty);)+) => {
        /// Any of the controllers, dispatched without a table of functions.
        pub enum Cc {
            $(#[doc = $name] $variant($type),)+
            /// One that is not in the list.
            Foreign(Box<ForeignCc>),
        }

        /// Their names in a scenario: Linux names where Linux has them.
        pub const NAMES: &[&str] = &[$($name),+];

        /// Each with its record, for the conformance suite.
        #[cfg(test)]
        pub(super) fn subjects() -> Vec<super::conformance::declared::Subject> {
            vec![$(super::conformance::declared::Subject {
                name: $name,
                record: <$type as Declared>::RECORD,
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
            pub fn record(&self) -> &Record {
                match self {
                    $(Self::$variant(_) => const { &<$type as Declared>::RECORD },)+
                    Self::Foreign(cc) => cc.record(),
                }
            }

            /// `Record::paced`.
            pub fn paced(&self) -> bool {
                match self {
                    $(Self::$variant(_) => const { <$type as Declared>::RECORD.paced },)+
                    Self::Foreign(cc) => cc.record().paced,
                }
            }

            /// `Record::controls_cwnd`.
            #[inline]
            pub fn controls_cwnd(&self) -> bool {
                match self {
                    $(Self::$variant(_) => const { <$type as Declared>::RECORD.controls_cwnd() },)+
                    Self::Foreign(cc) => cc.record().controls_cwnd(),
                }
            }

            /// It is not in the list.
            #[inline(always)]
            pub fn is_foreign(&self) -> bool {
                matches!(self, Self::Foreign(_))
            }

            /// `Record::needs_ecn`.
            pub fn needs_ecn(&self) -> bool {
                match self {
                    $(Self::$variant(_) => const { <$type as Declared>::RECORD.needs_ecn() },)+
                    Self::Foreign(cc) => cc.record().needs_ecn(),
                }
            }

            /// `Record::l4s`.
            pub fn l4s(&self) -> bool {
                match self {
                    $(Self::$variant(_) => const { <$type as Declared>::RECORD.l4s() },)+
                    Self::Foreign(cc) => cc.record().l4s(),
                }
            }

            /// `Record::needs_every_ack`.
            #[inline]
            pub fn needs_every_ack(&self) -> bool {
                match self {
                    $(Self::$variant(_) => const { <$type as Declared>::RECORD.needs_every_ack },)+
                    Self::Foreign(cc) => cc.record().needs_every_ack,
                }
            }
        }

        impl Controller for Cc {
            #[inline]
            fn cong_avoid_fast(&mut self, window: &mut Window, ack: PlainAck) -> bool {
                match self { $(Self::$variant(cc) => cc.cong_avoid_fast(window, ack),)+ Self::Foreign(cc) => cc.cong_avoid_fast(window, ack) }
            }
            #[inline]
            fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$variant(cc) => cc.cong_avoid(window, ack),)+ Self::Foreign(cc) => cc.cong_avoid(window, ack) }
            }
            #[inline]
            fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$variant(cc) => cc.on_ack_received(window, ack),)+ Self::Foreign(cc) => cc.on_ack_received(window, ack) }
            }
            fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
                match self { $(Self::$variant(cc) => cc.ssthresh(window, now, event),)+ Self::Foreign(cc) => cc.ssthresh(window, now, event) }
            }
            fn on_timeout(&mut self, window: &mut Window, now: Picos) {
                match self { $(Self::$variant(cc) => cc.on_timeout(window, now),)+ Self::Foreign(cc) => cc.on_timeout(window, now) }
            }
            fn on_loss_state(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$variant(cc) => cc.on_loss_state(window, ack),)+ Self::Foreign(cc) => cc.on_loss_state(window, ack) }
            }
            fn in_startup(&self, window: &Window) -> bool {
                match self { $(Self::$variant(cc) => cc.in_startup(window),)+ Self::Foreign(cc) => cc.in_startup(window) }
            }
            fn undo(&mut self, window: &Window, prior_cwnd: f64) -> f64 {
                match self { $(Self::$variant(cc) => cc.undo(window, prior_cwnd),)+ Self::Foreign(cc) => cc.undo(window, prior_cwnd) }
            }
            fn set_seed(&mut self, seed: u64) {
                match self { $(Self::$variant(cc) => cc.set_seed(seed),)+ Self::Foreign(cc) => cc.set_seed(seed) }
            }
            #[inline(always)]
            fn prefetch(&self) {
                match self { $(Self::$variant(cc) => cc.prefetch(),)+ Self::Foreign(cc) => cc.prefetch() }
            }
            fn set_segment_bytes(&mut self, bytes: u32) {
                match self { $(Self::$variant(cc) => cc.set_segment_bytes(bytes),)+ Self::Foreign(cc) => cc.set_segment_bytes(bytes) }
            }
        }
    };
}

// Begin: from src/forebay/catalogue/controls.py, by `make generated`.
controllers! {
    "reno" => Reno(super::reno::Reno);
    "scalable" => Scalable(super::scalable::Scalable);
    "bic" => Bic(Box<super::bic::Bic>);
    "cubic" => Cubic(Box<super::cubic::Cubic<717, true>>);
    "cubic-beta-0.8" => CubicBeta08(Box<super::cubic::Cubic<819, false>>);
    "cubic-beta-0.7" => CubicBeta07(Box<super::cubic::Cubic<717, false>>);
    "compound" => Compound(Box<super::compound::Compound>);
    "dctcp" => Dctcp(Box<super::dctcp::Dctcp>);
    "bbr" => Bbr(Box<super::bbr::Bbr>);
    "bbr3" => Bbr3(Box<super::bbr3::Bbr3>);
    "westwood" => Westwood(Box<super::westwood::Westwood>);
    "prague" => Prague(Box<super::prague::Prague>);
}
// End
