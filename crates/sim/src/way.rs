//! Kinds of flows for which what every packet passes through is compiled apart: it then asks
//! nothing whose answer is known from the start. A flow's ACKs reach its sender in events of its
//! kind, and these lead to the code.

use crate::tcp::profile::{LINUX, NS2, Profile};

/// A kind of flow. Both `PLAIN` and `SACK` say that it sends its segments once, over one queue that
/// keeps its memory to itself, without marks, pacing, delivery rates or jitter.
pub trait Way {
    /// Besides, NewReno alone: no SACK, small queues or delayed ACKs, and a controller that the
    /// ACKs of new data alone drive.
    const PLAIN: bool = false;
    /// Besides, it uses SACK.
    const SACK: bool = false;
    /// One of these.
    const SIMPLE: bool = Self::PLAIN || Self::SACK;
    /// Its profile, where that is a shipped one.
    const PROFILE: Option<&'static Profile> = None;
    /// The kind of event in which an ACK reaches the sender.
    const HOME: u32;

    /// A profile as given, or known while compiling.
    #[inline(always)]
    fn profile(given: &Profile) -> &Profile {
        Self::PROFILE.unwrap_or(given)
    }
}

/// So many kinds of events are ACKs that reach a sender.
pub const HOMES: u32 = 5;

/// `Way::PLAIN` with the profile `ns2`.
pub struct Ns2;
/// `Way::SACK` with the profile `linux`.
pub struct Linux;
/// `Way::PLAIN` with any profile.
pub struct Plain;
/// `Way::SACK` with any profile.
pub struct Sack;
/// Any flow, also one of the others.
pub struct Any;

/// Does something with a flow of a kind, given by the event of its ACKs, in the code of `Plain`,
/// `Linux`, `Sack` or `Any`. What is rare needs none for each profile; but a flow with SACK shares
/// much code with its ACKs (`enter_apart`), and is to find it in the cache.
macro_rules! as_kind {
    ($home:expr, $way:ident => $does:expr) => {
        match $home {
            $crate::way::Ns2::HOME | $crate::way::Plain::HOME => {
                type $way = $crate::way::Plain;
                $does
            }
            $crate::way::Linux::HOME => {
                type $way = $crate::way::Linux;
                $does
            }
            $crate::way::Sack::HOME => {
                type $way = $crate::way::Sack;
                $does
            }
            _ => {
                type $way = $crate::way::Any;
                $does
            }
        }
    };
}
pub(crate) use as_kind;

impl Way for Ns2 {
    const PLAIN: bool = true;
    const PROFILE: Option<&'static Profile> = Some(&NS2);
    const HOME: u32 = 0;
}

impl Way for Linux {
    const SACK: bool = true;
    const PROFILE: Option<&'static Profile> = Some(&LINUX);
    const HOME: u32 = 1;
}

impl Way for Plain {
    const PLAIN: bool = true;
    const HOME: u32 = 2;
}

impl Way for Sack {
    const SACK: bool = true;
    const HOME: u32 = 3;
}

impl Way for Any {
    const HOME: u32 = 4;
}
