//! Runs a configuration.

pub use crate::run::event_loop::Control;

use crate::config::{Config, ConfigError};
use crate::meters::report::Report;
use crate::run::event_loop::Simulation;
use crate::run::parallel::run_in_parts;
use crate::run::partition::Partition;

/// Runs `config` to its end. Gives `None` if `control` stopped it.
pub fn run(config: &Config, control: &Control) -> Result<Option<Report>, ConfigError> {
    run_on(config, control, 1)
}

/// Runs `config` to its end on up to so many threads. Gives `None` if `control` stopped it. It uses as many as there are parts of the network that can be simulated
/// side by side and have enough to do; of one link it uses one. The readings are the same but for
/// `Report::events`.
pub fn run_on(
    config: &Config,
    control: &Control,
    threads: usize,
) -> Result<Option<Report>, ConfigError> {
    config.check()?;
    let partition = Partition::of(config, threads);
    if partition.parts > 1 {
        return Ok(run_in_parts(config, control, &partition));
    }
    Ok(Simulation::of_part(config, &partition, 0).run(config, control))
}
