//! The list of disciplines: their names, and how one is made of its parameters.

use super::classes::{Classes, ClassesParams};
use super::codel::{Codel, CodelParams};
use super::fifo::{Bfifo, BfifoParams, Pfifo, PfifoParams};
use super::fq_codel::{FqCodel, FqCodelParams};
use super::packets::Packets;
use super::parameters::{BadParameter, Parameters, Wire};
use super::pie::{Pie, PieParams};
use super::red::{Red, RedParams};
use super::{Backlog, DequeueDiscipline, EnqueueDecision, EnqueueDiscipline, Limit};
use crate::time::Picos;

/// A queue, ready to run.
pub enum Discipline {
    /// It decides on arrival.
    AtEnqueue(EnqueueQueue),
    /// It decides on departure.
    AtDequeue(DequeueQueue),
}

macro_rules! disciplines {
    (
        at_enqueue { $($aname:literal => $avariant:ident($aparams:ty, $atype:ty)),+ $(,)? }
        at_dequeue { $($dname:literal => $dvariant:ident($dparams:ty, $dtype:ty)),+ $(,)? }
    ) => {
        /// Any discipline with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueSpec {
            $(#[doc = $aname] $avariant($aparams),)+
            $(#[doc = $dname] $dvariant($dparams),)+
        }

        /// Names of all disciplines, as Linux's tc has them where it has them.
        pub const NAMES: &[&str] = &[$($aname,)+ $($dname),+];

        impl QueueSpec {
            /// A discipline with its default parameters, by its name.
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($aname => Some(Self::$avariant(Default::default())),)+
                    $($dname => Some(Self::$dvariant(Default::default())),)+
                    _ => None,
                }
            }

            /// Its name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$avariant(_) => $aname,)+
                    $(Self::$dvariant(_) => $dname,)+
                }
            }

            /// It chooses what to send when the wire is free.
            pub fn decides_at_dequeue(&self) -> bool {
                match self {
                    $(Self::$avariant(_) => false,)+
                    $(Self::$dvariant(_) => true,)+
                }
            }

            /// `Parameters::check`.
            pub fn check(&self) -> Result<(), BadParameter> {
                match self {
                    $(Self::$avariant(params) => params.check(),)+
                    $(Self::$dvariant(params) => params.check(),)+
                }
            }

            /// `Parameters::sized`.
            pub fn sized(self, packets: u32, packet_bytes: u32) -> Self {
                match self {
                    $(Self::$avariant(params) =>
                        Self::$avariant(params.sized(packets, packet_bytes)),)+
                    $(Self::$dvariant(params) =>
                        Self::$dvariant(params.sized(packets, packet_bytes)),)+
                }
            }

            /// `Parameters::build`, once they are checked.
            pub fn build(&self, wire: &Wire, seed: u64) -> Result<Discipline, BadParameter> {
                self.check()?;
                Ok(match self {
                    $(Self::$avariant(params) =>
                        Discipline::AtEnqueue(EnqueueQueue::$avariant(params.build(wire, seed))),)+
                    $(Self::$dvariant(params) =>
                        Discipline::AtDequeue(DequeueQueue::$dvariant(params.build(wire, seed))),)+
                })
            }
        }

        /// Any of the arrival disciplines, dispatched without a pointer.
        pub enum EnqueueQueue { $(#[doc = $aname] $avariant($atype)),+ }

        impl EnqueueDiscipline for EnqueueQueue {
            #[inline]
            fn on_enqueue(
                &mut self,
                now: Picos,
                bytes: u32,
                ecn_capable: bool,
                backlog: &Backlog,
            ) -> EnqueueDecision {
                match self {
                    $(Self::$avariant(queue) => queue.on_enqueue(now, bytes, ecn_capable, backlog)),+
                }
            }

            fn threshold(&self, bytes: u32) -> Option<usize> {
                match self { $(Self::$avariant(queue) => queue.threshold(bytes)),+ }
            }

            fn capacity(&self) -> usize {
                match self { $(Self::$avariant(queue) => queue.capacity()),+ }
            }

            fn limit(&self) -> Limit {
                match self { $(Self::$avariant(queue) => queue.limit()),+ }
            }
        }

        impl EnqueueQueue {
            /// The name of what was built.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$avariant(_) => $aname),+ }
            }
        }

        impl DequeueQueue {
            /// The name of what was built.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$dvariant(_) => $dname),+ }
            }
        }

        /// Any of the departure disciplines, dispatched without a pointer.
        #[repr(u8)] // a tag of its own: to find it hidden in another field takes longer
        pub enum DequeueQueue { $(#[doc = $dname] $dvariant($dtype)),+ }

        impl DequeueDiscipline for DequeueQueue {
            #[inline]
            fn enqueue(&mut self, now: Picos, packet: u32, packets: &mut Packets) {
                match self { $(Self::$dvariant(queue) => queue.enqueue(now, packet, packets)),+ }
            }

            #[inline]
            fn dequeue(&mut self, now: Picos, packets: &mut Packets) -> Option<(u32, bool)> {
                match self { $(Self::$dvariant(queue) => queue.dequeue(now, packets)),+ }
            }

            #[inline]
            fn ready_at(&self) -> Option<Picos> {
                match self { $(Self::$dvariant(queue) => queue.ready_at()),+ }
            }

            #[inline]
            fn bytes(&self) -> u64 {
                match self { $(Self::$dvariant(queue) => queue.bytes()),+ }
            }

            fn capacity(&self) -> usize {
                match self { $(Self::$dvariant(queue) => queue.capacity()),+ }
            }

            fn limit(&self) -> Limit {
                match self { $(Self::$dvariant(queue) => queue.limit()),+ }
            }
        }
    };
}

disciplines! {
    at_enqueue {
        "pfifo" => Pfifo(PfifoParams, Pfifo),
        "bfifo" => Bfifo(BfifoParams, Bfifo),
        "red" => Red(RedParams, Red),
        "pie" => Pie(PieParams, Pie),
    }
    at_dequeue {
        "codel" => Codel(CodelParams, Codel),
        "fq_codel" => FqCodel(FqCodelParams, FqCodel),
        "classes" => Classes(ClassesParams, Classes),
        "dualpi2" => DualPi2(super::dualpi2::DualPi2Params, super::dualpi2::DualPi2),
        "cobalt" => Cobalt(super::cobalt::CobaltParams, super::cobalt::Cobalt),
        "cake" => Cake(super::cake::CakeParams, super::cake::Cake),
        "pfifo_head_drop" => HeadDrop(super::head_drop::HeadDropParams, super::head_drop::HeadDrop),
    }
}
