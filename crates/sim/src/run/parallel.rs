//! One run on several threads: the network in parts, each with its own event queue.
//!
//! A part simulates its links, and the senders and receivers at them, up to the end of a period as long as
//! the lookahead (`partition`). What it causes in other parts happens later than that. So all parts can do so
//! at the same time, and then exchange what they caused (`exchange`): conservative, synchronous parallel
//! simulation. Events of an instant fire in the order of their keys, and those of one key are caused by one
//! part, so the readings do not depend on the number of threads.
//!
//! Each part has all flows and links, but uses only its own. Before a reading, what the others have counted is
//! brought into the first one (`gather`).

mod exchange;
mod gather;

use crate::config::Config;
use crate::meters::report::Report;
use crate::run::event_loop::{AtLimit, Control, Simulation};
use crate::run::partition::Partition;
use crate::run::readings::Readings;
use crate::time::Picos;
use exchange::Exchange;
use gather::swap_into_first;
use std::ops::{ControlFlow, Range};

/// Runs `config` to its end. Gives `None` if `control` stopped it.
pub(crate) fn run_in_parts(
    config: &Config,
    control: &Control,
    partition: &Partition,
) -> Option<Report> {
    let numbers = 0..partition.parts as u8;
    let mut parts: Vec<_> =
        numbers.map(|number| Simulation::of_part(config, partition, number)).collect();
    let exchange = Exchange::between(partition.parts);
    let mut readings = Readings::new(config);
    let (mut now, mut events) = (0, 0);
    loop {
        let until = readings.next_at;
        let periods = Periods { exchange: &exchange, lookahead: partition.lookahead, until };
        let more;
        (parts, more) = advance(parts, now..until, &periods, control)?;
        events += more;
        swap_into_first(&mut parts, config, partition);
        let first = &mut parts[0];
        if readings.take(&mut first.network, &first.flows, until) {
            let first = parts.swap_remove(0);
            return Some(readings.finish(first.network, &first.flows, events));
        }
        let next_batch_end = first.network.early_deliveries.next_batch_end;
        swap_into_first(&mut parts, config, partition);
        for part in &mut parts {
            part.network.early_deliveries.next_batch_end = next_batch_end;
        }
        now = until;
    }
}

/// All parts, each on a thread, from one instant to another. Counts the events of all.
fn advance<'a>(
    parts: Vec<Simulation<'a>>,
    span: Range<Picos>,
    periods: &Periods,
    control: &Control,
) -> Option<(Vec<Simulation<'a>>, u64)> {
    let run = |mut part: Simulation<'a>| {
        let _guard = StopOnPanic(periods.exchange);
        part.network.schedule_reading(periods.end(span.start));
        let ended = part.run_until(&mut periods.clone(), control);
        if ended.is_none() {
            periods.exchange.stop();
        }
        ended
    };
    let run = &run;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            parts.into_iter().map(|part| scope.spawn(move || run(part))).collect();
        let mut ended = (Vec::new(), 0);
        for thread in threads {
            let joined = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let (part, events) = joined?;
            ended.0.push(part);
            ended.1 += events;
        }
        Some(ended)
    })
}

/// Periods of the lookahead, up to a reading.
#[derive(Clone)]
struct Periods<'a> {
    exchange: &'a Exchange,
    lookahead: Picos,
    until: Picos,
}

impl Periods<'_> {
    /// The end of the period that begins at `now`.
    fn end(&self, now: Picos) -> Picos {
        now.saturating_add(self.lookahead).min(self.until)
    }
}

impl AtLimit for Periods<'_> {
    fn on_limit(&mut self, part: &mut Simulation, now: Picos) -> ControlFlow<bool> {
        if self.exchange.exchange(&mut part.network).is_err() {
            return ControlFlow::Break(false);
        }
        if now == self.until {
            return ControlFlow::Break(true);
        }
        part.network.schedule_reading(self.end(now));
        ControlFlow::Continue(())
    }
}

/// Nobody waits for a part that panics.
struct StopOnPanic<'a>(&'a Exchange);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests;
