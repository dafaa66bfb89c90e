//! Kinds of flows for which what every packet passes through is compiled apart: it then asks
//! nothing whose answer is known from the start. A flow's ACKs reach its sender in events of its
//! kind, and these lead to the code.

/// A kind of flow. Both `PLAIN` and `SACK` say that it sends its segments once, over one queue that
/// keeps its memory to itself, without marks or pacing.
pub trait Way {
    /// Besides, NewReno alone: no SACK, small queues or delayed ACKs, and a controller that the
    /// ACKs of new data alone drive.
    const PLAIN: bool = false;
    /// Besides, it uses SACK.
    const SACK: bool = false;
    /// One of these.
    const SIMPLE: bool = Self::PLAIN || Self::SACK;
}

/// See `Way::PLAIN`.
pub struct Plain;
/// See `Way::SACK`.
pub struct Sack;
/// Any flow, also one of the others.
pub struct Any;

impl Way for Plain {
    const PLAIN: bool = true;
}

impl Way for Sack {
    const SACK: bool = true;
}

impl Way for Any {}
