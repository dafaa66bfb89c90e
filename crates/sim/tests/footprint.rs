//! What a flow costs in memory, besides what its window holds.

use forebay_sim::flow::Flow;

/// Its event nodes: four of 16 bytes where the route has one queue.
const NODES: usize = 4 * 16;
/// Its entry in the configuration that the run reads.
const SPECIFICATION: usize = size_of::<forebay_sim::config::FlowSpec>();

#[test]
fn a_flow_costs_at_most_600_bytes() {
    let bytes = size_of::<Flow>() + NODES + SPECIFICATION;
    println!("{} + {NODES} + {SPECIFICATION}", size_of::<Flow>());
    assert!(bytes <= 600, "{bytes}");
}
