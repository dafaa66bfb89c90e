//! Transfers are made when they start, and freed when they are over and nothing of them is on its way: memory
//! grows with those in flight, not with all.
//!
//! Every event of a flow is in the event queue and every packet that waits is counted by its flow, so that what has
//! neither is never touched again. Who has an event is found out now and then, which costs nothing an event.

use crate::config::{Config, Source};
use crate::events::event_key::decode;
use crate::flow::Flow;
use crate::flow::flows::Flows;
use crate::meters::report::ClassBatch;
use crate::network::Network;
use crate::run::partition::Partition;
use crate::run::readings::flow_totals;
use crate::time::{NEVER, Picos};

/// Transfers that are made at a time.
const TOGETHER: usize = 64;
/// Transfers that are made between two looks at which of them are over, at least.
const BETWEEN_SWEEPS: usize = 4096;

/// The transfers that are still to come, and those that are made.
pub(crate) struct Arrivals {
    /// Their numbers, in order of their starts.
    order: Vec<u32>,
    next: usize,
    made: Vec<u32>,
    /// How many are made when they are next looked at.
    sweep_at: usize,
}

impl Arrivals {
    /// Of a configuration. None where flows are sampled, or several parts of a network share each.
    pub(crate) fn of(config: &Config, partition: &Partition) -> Self {
        let whole = partition.parts == 1 && config.trace.is_none();
        let mut order: Vec<u32> = (0..config.flows.len() as u32)
            .filter(|&index| whole && is_transfer(config.flows[index as usize].source))
            .collect();
        order.sort_by_key(|&index| config.flows[index as usize].start);
        Self { order, next: 0, made: Vec::new(), sweep_at: BETWEEN_SWEEPS }
    }

    /// Whether there are any.
    pub(crate) fn exist(&self) -> bool {
        !self.order.is_empty()
    }

    /// Whether a flow is made when it starts.
    pub(crate) fn make_later(&self, config: &Config, flow: u32) -> bool {
        self.exist() && is_transfer(config.flows[flow as usize].source)
    }

    /// When the next ones are made: none of them starts before. `NEVER` where none are left.
    pub(crate) fn next_at(&self, config: &Config) -> Picos {
        self.order.get(self.next).map_or(NEVER, |&index| config.flows[index as usize].start)
    }

    /// Makes the next ones, and frees those that are over where many are made.
    #[cold]
    pub(crate) fn make(&mut self, network: &mut Network, flows: &mut Flows) {
        let config = network.traffic.config;
        if self.made.len() >= self.sweep_at {
            self.sweep(network, flows);
            self.sweep_at = 2 * self.made.len() + BETWEEN_SWEEPS;
        }
        let end = (self.next + TOGETHER).min(self.order.len());
        for &index in &self.order[self.next..end] {
            let flow = Flow::new(index, &config.flows[index as usize], config, &network.paths);
            let flow = flows.make(flow);
            network.arm_timer(flow, flow.start(config));
            self.made.push(index);
        }
        self.next = end;
        network.schedule_arrivals(self.next_at(config));
    }

    fn sweep(&mut self, network: &mut Network, flows: &mut Flows) {
        let mut busy: Vec<u32> =
            network.early_deliveries.deliveries.iter().map(|later| later.flow).collect();
        network.wheel.for_each_key(|key| busy.push(decode(key).0 as u32));
        busy.sort_unstable();
        self.made.retain(|&index| {
            let Some(flow) = flows.get(index as usize) else { return false };
            let over =
                !flow.transfers(network.traffic.config) && network.waiting[index as usize] == 0;
            if !over || busy.binary_search(&index).is_ok() {
                return true;
            }
            let mut totals = ClassBatch::default();
            flow_totals(network, flow, &mut totals);
            let class = network.class(flow);
            if let Some(recorder) = &mut network.flow_recorder {
                recorder.ends(flow, network.traffic.config);
            }
            network.passed[index as usize] = totals.passed;
            network.freed[class].add(&totals);
            flows.free(index);
            false
        });
    }
}

/// It sends so many segments, once.
fn is_transfer(source: Source) -> bool {
    matches!(source, Source::Segments(segments) if segments < u64::MAX)
}
