//! Disciplines as a scenario writes them: a name, a limit, and parameters by their names.

use super::classes::{ClassParams, ClassesParams};
use super::registry::{BadParameter, QueueSpec};
use crate::time::{Picos, SECOND};
use std::fmt;

/// Why a discipline cannot be made of what was written.
#[derive(Clone, Debug, PartialEq)]
pub enum NamingError {
    /// There is no discipline of this name.
    Unknown(String),
    /// The discipline has no such parameter.
    NoParameter(&'static str, String),
    /// A number is not one that the parameter can be.
    NotWhole(&'static str, String, f64),
    /// The discipline refuses its parameters.
    Bad(&'static str, BadParameter),
}

impl fmt::Display for NamingError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "unknown queue discipline {name:?}"),
            Self::NoParameter(name, key) => write!(f, "{name} has no parameter {key:?}"),
            Self::NotWhole(name, key, value) => {
                write!(f, "{name}: {key} must be a whole number, not {value}")
            }
            Self::Bad(name, error) => write!(f, "{name}: {error}"),
        }
    }
}

impl std::error::Error for NamingError {}

impl QueueSpec {
    /// The discipline `name` (as Linux's tc has it) that holds `packets` of `packet_bytes`. Spans
    /// of time are in seconds; a flag is 0 or 1.
    pub fn named<'a>(
        name: &str,
        packets: u32,
        packet_bytes: u32,
        parameters: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Result<Self, NamingError> {
        let known = Self::by_name(name).ok_or_else(|| NamingError::Unknown(name.into()))?;
        let mut spec = known.sized(packets, packet_bytes);
        for (key, value) in parameters {
            spec.set(key, value)?;
        }
        spec.check().map_err(|error| NamingError::Bad(spec.name(), error))?;
        Ok(spec)
    }

    /// Several class queues, and for each traffic class the index of its own.
    pub fn of_classes(
        classes: Vec<ClassParams>,
        of_traffic: Vec<u16>,
    ) -> Result<Self, NamingError> {
        let spec = Self::Classes(ClassesParams { classes, of_traffic });
        spec.check().map_err(|error| NamingError::Bad(spec.name(), error))?;
        Ok(spec)
    }

    fn set(&mut self, key: &str, value: f64) -> Result<(), NamingError> {
        let name = self.name();
        let flag = value != 0.0;
        let span = (value * SECOND as f64) as Picos;
        let whole = || {
            let fits = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
            let refused = || NamingError::NotWhole(name, key.into(), value);
            fits.then_some(value as u32).ok_or_else(refused)
        };
        match (self, key) {
            (Self::Red(red), "ecn") => red.ecn = flag,
            (Self::DualPi2(dual), "target") => dual.target = span,
            (Self::DualPi2(dual), "step_thresh") => dual.step_thresh = span,
            (Self::DualPi2(dual), "coupling_factor") => dual.coupling_factor = whole()?,
            (Self::DualPi2(dual), "classic_protection") => dual.classic_protection = whole()?,
            (Self::DualPi2(dual), "drop_on_overload") => dual.drop_on_overload = flag,
            (Self::Red(red), "min") => red.min = Some(whole()?.into()),
            (Self::Red(red), "max") => red.max = Some(whole()?.into()),
            (Self::Red(red), "probability") => red.probability = value,
            (Self::Red(red), "weight") => red.weight = Some(value),
            (Self::Red(red), "gentle") => red.gentle = flag,
            (Self::Pie(pie), "ecn") => pie.ecn = flag,
            (Self::Pie(pie), "target") => pie.target = span,
            (Self::Codel(codel), "ecn") => codel.ecn = flag,
            (Self::Codel(codel), "target") => codel.target = span,
            (Self::Codel(codel), "interval") => codel.interval = span,
            (Self::Cobalt(cobalt), "ecn") => cobalt.ecn = flag,
            (Self::Cobalt(cobalt), "target") => cobalt.target = span,
            (Self::Cobalt(cobalt), "interval") => cobalt.interval = span,
            (Self::Cake(cake), "rtt") => cake.rtt = span,
            (Self::Cake(cake), "target") => cake.target = Some(span),
            (Self::FqCodel(fair), "ecn") => fair.ecn = flag,
            (Self::FqCodel(fair), "target") => fair.target = span,
            (Self::FqCodel(fair), "interval") => fair.interval = span,
            (Self::FqCodel(fair), "quantum") => fair.quantum = whole()?,
            (Self::FqCodel(fair), "buckets") => fair.flows = whole()?,
            _ => return Err(NamingError::NoParameter(name, key.into())),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_in_seconds_and_a_flag_a_number() {
        let parameters = [("target", 0.01), ("ecn", 1.0)];
        let Ok(QueueSpec::Codel(codel)) = QueueSpec::named("codel", 100, 1500, parameters) else {
            panic!("codel takes both");
        };
        assert_eq!((codel.target, codel.ecn, codel.limit), (SECOND / 100, true, 100));
    }

    #[test]
    fn what_is_not_there_is_refused_in_one_line() {
        let refused = |name, parameters: [(&'static str, f64); 1]| {
            QueueSpec::named(name, 100, 1500, parameters).unwrap_err().to_string()
        };
        assert_eq!(refused("tbf", [("ecn", 1.0)]), "unknown queue discipline \"tbf\"");
        assert_eq!(refused("pfifo", [("ecn", 1.0)]), "pfifo has no parameter \"ecn\"");
        let none = QueueSpec::of_classes(vec![], vec![]).unwrap_err().to_string();
        assert_eq!(none, "classes: classes must be at least one");
        let fraction = refused("fq_codel", [("quantum", 0.5)]);
        assert_eq!(fraction, "fq_codel: quantum must be a whole number, not 0.5");
    }
}
