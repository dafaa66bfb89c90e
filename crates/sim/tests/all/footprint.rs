//! What a flow costs in memory, besides what its window holds.

use forebay_sim::flow::Flow;

/// Its timer in the event queue, in an array that may have room for twice as many. A packet on its
/// way has an event too, as its window holds it.
const TIMER: usize = 2 * size_of::<forebay_sim::events::Event>();
/// Its entry in the configuration that the run reads.
const SPECIFICATION: usize = size_of::<forebay_sim::config::FlowSpec>();

#[test]
fn a_flow_costs_at_most_600_bytes() {
    let bytes = size_of::<Flow>() + TIMER + SPECIFICATION;
    println!("{} + {TIMER} + {SPECIFICATION}", size_of::<Flow>());
    assert!(bytes <= 600, "{bytes}");
}
