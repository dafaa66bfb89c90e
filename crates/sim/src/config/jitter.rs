//! What some packets take longer behind a wire than others.

use crate::time::Picos;
use serde::Deserialize;

/// A delay that is drawn for each packet behind the wire, evenly from 0 to `most`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// The longest.
    #[serde(rename = "most_ps")]
    pub most: Picos,
    /// Share of the packets that are delayed; the others are not.
    pub share: f64,
    /// A packet of data may overtake another. ACKs never do: the next one would repeat in its SACK blocks what the other
    /// reports, and ours report what is new.
    #[serde(default)]
    pub reorders: bool,
}
