//! Congestion controllers. Adding one is a file here and a line in `controllers!` below.

mod reno;

/// The window that a controller steers, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold; infinite until the first loss.
    pub ssthresh: f64,
}

impl Window {
    /// RFC 5681, section 3.1: below ssthresh the sender is in slow start.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// What a controller learns with an ACK for new data.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Segments that count towards growth.
    pub segments: u32,
    /// How a sender in congestion avoidance turns ACKs into growth.
    pub growth: Growth,
}

/// Two readings of "one segment a round trip" (RFC 5681, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Each ACK adds 1/cwnd (equation 3 of the RFC; ns-2).
    PerAck,
    /// A whole segment once a window of segments is acknowledged (Linux).
    PerWindow,
}

/// The hooks of a congestion controller. A hook that a controller does not need does nothing.
pub trait Controller {
    /// New data was acknowledged outside recovery.
    fn on_ack(&mut self, window: &mut Window, acked: Acked);
    /// The slow-start threshold after a loss that is noticed now.
    fn ssthresh(&mut self, window: &Window) -> f64;
    /// The retransmission timer expired; the window has been reset.
    fn on_timeout(&mut self) {}
}

macro_rules! controllers {
    ($($name:literal => $variant:ident($type:ty)),+ $(,)?) => {
        /// Any of the controllers, dispatched without a pointer.
        pub enum Cc { $(#[doc = $name] $variant($type)),+ }

        /// Their Linux names, in the order of `Cc::by_index`.
        pub const NAMES: &[&str] = &[$($name),+];

        impl Cc {
            /// A fresh controller by its Linux name.
            pub fn by_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant(Default::default())),)+ _ => None }
            }
        }

        impl Controller for Cc {
            #[inline]
            fn on_ack(&mut self, window: &mut Window, acked: Acked) {
                match self { $(Self::$variant(cc) => cc.on_ack(window, acked)),+ }
            }
            fn ssthresh(&mut self, window: &Window) -> f64 {
                match self { $(Self::$variant(cc) => cc.ssthresh(window)),+ }
            }
            fn on_timeout(&mut self) {
                match self { $(Self::$variant(cc) => cc.on_timeout()),+ }
            }
        }
    };
}

controllers! {
    "reno" => Reno(reno::Reno),
}

#[cfg(test)]
mod conformance;
