//! Whether a run's flows fit the core's cache: if not, it pays to look ahead further than to the next event.

use crate::flow::Flow;

/// Bytes that stay in the core's cache by themselves.
const CACHE_BYTES: usize = 1 << 20;

/// Returns whether so many flows together are larger than the core's cache.
pub(crate) fn exceed_cache(flows: usize) -> bool {
    flows * size_of::<Flow>() > CACHE_BYTES
}
