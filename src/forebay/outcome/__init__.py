"""Answers: the Outcome of every engine, its raw readings, and the metrics computed from them."""

from typing import TYPE_CHECKING

from forebay.outcome.document import (
    Document as Document, DocumentError as DocumentError, LinkRates as LinkRates, parse as parse,
)  # fmt: skip
from forebay.outcome.invariants import (
    ImpossibleOutcome as ImpossibleOutcome, Violation as Violation, checked as checked,
    violations as violations,
)  # fmt: skip
from forebay.outcome.model import (
    DELAY_MAXIMUM as DELAY_MAXIMUM, FCT_INCREASE as FCT_INCREASE,
    LOSS_PROBABILITY as LOSS_PROBABILITY, UTILIZATION_PROBABILITY as UTILIZATION_PROBABILITY,
    ClassOutcome as ClassOutcome, Comparison as Comparison, ControllerOutcome as ControllerOutcome,
    HopsOutcome as HopsOutcome, LinkOutcome as LinkOutcome, Metric as Metric,
    NetworkOutcome as NetworkOutcome, Outcome as Outcome, Provenance as Provenance,
    Quantiles as Quantiles, delay_quantile_name as delay_quantile_name,
)  # fmt: skip
from forebay.outcome.size_result import (
    Aqm as Aqm, AqmTarget as AqmTarget, AqmThresholds as AqmThresholds, Buffer as Buffer,
    Cheaper as Cheaper, Cost as Cost, CurvePoint as CurvePoint, Direction as Direction,
    Floor as Floor, FlowsEnd as FlowsEnd, GoalAtPoint as GoalAtPoint, GoalResult as GoalResult,
    Interval as Interval, LawResult as LawResult, LinkRegime as LinkRegime, LinkSize as LinkSize,
    Memory as Memory, Price as Price, Recommended as Recommended, Relaxation as Relaxation,
    Scaled as Scaled, ScaledLink as ScaledLink, Sense as Sense, SizeResult as SizeResult,
    Unit as Unit, Verdict as Verdict,
)  # fmt: skip
from forebay.packages import attributes

if TYPE_CHECKING:
    from forebay.outcome.metrics import summarize as summarize
    from forebay.outcome.reading import (
        ClassReading as ClassReading, ControllerReading as ControllerReading,
        Histogram as Histogram, LinkReading as LinkReading, LongFlows as LongFlows,
        Reading as Reading, RoundTrips as RoundTrips, Slowdowns as Slowdowns,
    )  # fmt: skip
    from forebay.outcome.reading_invariants import (
        violations_of_reading as violations_of_reading,
        violations_of_readings as violations_of_readings,
    )  # fmt: skip

# Only engines that measure need these: import them on first use.
_MODULES = {
    "metrics": "summarize",
    "reading": "ClassReading ControllerReading Histogram LinkReading LongFlows Reading RoundTrips "
    "Slowdowns",
    "reading_invariants": "violations_of_reading violations_of_readings",
}
_HOLDERS = {name: module for module, names in _MODULES.items() for name in names.split()}
__getattr__ = attributes(__name__, _HOLDERS)
