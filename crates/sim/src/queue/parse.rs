//! Disciplines as a scenario writes them: a name, a limit, and parameters by their names.

use super::classes::{ClassDiscipline, ClassParams, ClassesParams};
use super::parameters::BadParameter;
use super::registry::QueueSpec;
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
}

impl TryFrom<QueueSpec> for ClassDiscipline {
    type Error = NamingError;

    /// Refuses, as the parameter `queue` of `classes`, what a class queue cannot drop by.
    fn try_from(spec: QueueSpec) -> Result<Self, NamingError> {
        match spec {
            QueueSpec::Pfifo(params) => Ok(Self::Pfifo(params)),
            QueueSpec::Bfifo(params) => Ok(Self::Bfifo(params)),
            QueueSpec::Red(params) => Ok(Self::Red(params)),
            _ => {
                let bad = BadParameter { field: "queue", must_be: "pfifo, bfifo or red" };
                Err(NamingError::Bad("classes", bad))
            }
        }
    }
}

/// Names, kinds and fields of the parameters that a scenario may set, for each discipline that has some.
macro_rules! parameters {
    ($($variant:ident { $($key:literal: $kind:ident $field:ident),+ $(,)? })+) => {
        impl QueueSpec {
            fn set(&mut self, key: &str, value: f64) -> Result<(), NamingError> {
                let name = self.name();
                match (self, key) {
                    $($((Self::$variant(params), $key) => {
                        params.$field = $kind::read(name, key, value)?.into();
                    })+)+
                    _ => return Err(NamingError::NoParameter(name, key.into())),
                }
                Ok(())
            }

            /// The parameters that `named` takes, each with its value as `named` takes it; `None` for one that
            /// the discipline computes.
            pub fn parameters(&self) -> Vec<(&'static str, Option<f64>)> {
                match self {
                    $(Self::$variant(params) => vec![$(($key, $kind::write(params.$field))),+],)+
                    _ => Vec::new(),
                }
            }
        }
    };
}

parameters! {
    Red {
        "min": bytes min, "max": bytes max, "probability": number probability, "weight": number weight,
        "ecn": flag ecn, "gentle": flag gentle,
    }
    Pie { "target": seconds target, "ecn": flag ecn }
    Codel { "target": seconds target, "interval": seconds interval, "ecn": flag ecn }
    FqCodel {
        "target": seconds target, "interval": seconds interval, "quantum": whole quantum,
        "buckets": whole flows, "ecn": flag ecn,
    }
    DualPi2 {
        "target": seconds target, "step_thresh": seconds step_thresh,
        "coupling_factor": whole coupling_factor, "classic_protection": whole classic_protection,
        "drop_on_overload": flag drop_on_overload,
    }
    Cobalt { "target": seconds target, "interval": seconds interval, "ecn": flag ecn }
    Cake { "rtt": seconds rtt, "target": seconds target }
}

/// 0 or 1.
mod flag {
    use super::NamingError;

    pub fn read(_: &'static str, _: &str, value: f64) -> Result<bool, NamingError> {
        Ok(value != 0.0)
    }

    pub fn write(value: bool) -> Option<f64> {
        Some(f64::from(u8::from(value)))
    }
}

/// A span of time.
mod seconds {
    use super::{NamingError, Picos, SECOND};

    pub fn read(_: &'static str, _: &str, value: f64) -> Result<Picos, NamingError> {
        Ok((value * SECOND as f64) as Picos)
    }

    pub fn write(value: impl Into<Option<Picos>>) -> Option<f64> {
        value.into().map(|span| span as f64 / SECOND as f64)
    }
}

/// A whole number.
mod whole {
    use super::NamingError;

    pub fn read(name: &'static str, key: &str, value: f64) -> Result<u32, NamingError> {
        let fits = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
        let refused = || NamingError::NotWhole(name, key.into(), value);
        fits.then_some(value as u32).ok_or_else(refused)
    }

    pub fn write(value: u32) -> Option<f64> {
        Some(value.into())
    }
}

/// A whole number of bytes.
mod bytes {
    use super::{NamingError, whole};

    pub fn read(name: &'static str, key: &str, value: f64) -> Result<u64, NamingError> {
        whole::read(name, key, value).map(u64::from)
    }

    pub fn write(value: Option<u64>) -> Option<f64> {
        value.map(|bytes| bytes as f64)
    }
}

/// Any number.
mod number {
    use super::NamingError;

    pub fn read(_: &'static str, _: &str, value: f64) -> Result<f64, NamingError> {
        Ok(value)
    }

    pub fn write(value: impl Into<Option<f64>>) -> Option<f64> {
        value.into()
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

    /// What is listed is what is set, and a default set again changes nothing.
    #[test]
    fn the_parameters_that_are_listed_can_be_set() {
        for name in crate::queue::registry::NAMES {
            let spec = QueueSpec::by_name(name).expect("listed");
            for (key, value) in spec.parameters() {
                let mut again = spec.clone();
                again.set(key, value.unwrap_or(1.0)).expect("a parameter");
                assert!(value.is_none() || again == spec, "{name}: {key}");
            }
        }
    }
}
