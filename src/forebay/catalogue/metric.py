"""What is stated of a metric: its unit, bounds, scaling to a larger link, and printed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forebay.catalogue.record import Record

Level = Literal["link", "class", "controller"]
Bounds = Literal["share", "not negative", "capacity", "buffer", "longest wait"]
Scaling = Literal["same", "rate", "queue", "delay", "omitted"]


@dataclass(frozen=True, kw_only=True)
class Metric(Record):
    """A metric, or the mean and quantiles of one.

    Attributes
    ----------
    name : level and key in JSON: "link.utilization".
    unit : "fraction", "bit/s", "packets", "s", or what it counts.
    reading : raw readings from which `forebay.outcome.metrics` computes it.
    bounds : what no value of it exceeds (`forebay.outcome.invariants`).
    scaling : how a value of a smaller link becomes that of the whole link. "same": a share;
        "rate": as the rate; "queue": as the buffer; "delay": as the buffer's time at line rate;
        "omitted": unknown, such as a count or a sum of parts that scale in different ways.
    title : words before the value in a report, with the unit printed; "" if it is not in the table
        of its level.
    factor : the value printed over the value.
    form : how a report prints it; a distribution with quantiles, completion times with lower
        bounds of those that are not known.
    if_unknown : whether a report omits a metric that was not measured, or prints a dash.
    meaning : one sentence.
    """

    unit: str
    reading: str
    bounds: Bounds
    scaling: Scaling
    title: str
    factor: float
    form: Literal["2 decimals", "3 decimals", "significant", "quantiles", "completion"]
    if_unknown: Literal["dash", "omit", "omit also 0"]
    meaning: str

    @property
    def is_distribution(self) -> bool:
        """Whether it is the mean and quantiles of a distribution."""
        return self.form in ("quantiles", "completion")

    @property
    def level(self) -> str:
        """Part of an Outcome that has it."""
        return self.name.partition(".")[0]

    @property
    def key(self) -> str:
        """Field of that part, and its key in JSON."""
        return self.name.partition(".")[2]
