//! One run on several threads: the network in parts, each with its own event queue.
//!
//! A part simulates its links, and the senders and receivers at them, up to the end of a period as long as
//! the lookahead (`partition`). What it causes in other parts comes later than that. So all parts can do so
//! at the same time, and then give each other what they caused (`exchange`). This is the conservative, synchronous kind
//! of parallel simulation. Events of an instant fire in the order of their keys, and those of one key are caused
//! by one part: the readings do not depend on the number of threads.
//!
//! Each part has all flows and links, but uses only its own. Where something is read, what the others have
//! counted comes into the first one (`gather`).

mod exchange;
mod gather;
mod groups;
mod load;
mod outbox;
mod partition;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use outbox::Part;
pub(crate) use partition::Partition;
pub(crate) use run::run_in_parts;
