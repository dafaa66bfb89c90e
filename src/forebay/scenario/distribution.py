"""A duration that is the same for every flow of a class, or drawn for each."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Any, Literal, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from forebay.scenario import truncated
from forebay.scenario.quantity import Duration

Law = Literal["constant", "uniform", "exponential", "normal", "lognormal", "pareto", "values"]

_NONE = Duration(0)


@dataclass(frozen=True, slots=True)
class Distribution:
    """A law on [low, high]; what lies outside is cut off, not moved to the ends.

    Attributes
    ----------
    kind
        Name of the law; a constant has both ends alike.
    low, high : Duration
        Ends. A Pareto law begins at ``low``.
    center, deviation : Duration
        Mean and standard deviation of an exponential, normal or lognormal law before it was
        cut; of a Pareto law the mean after.
    shape : float
        Exponent of a Pareto law's tail.
    values, shares
        The values, and the probability of each.
    """

    kind: Law
    low: Duration
    high: Duration
    center: Duration = _NONE
    deviation: Duration = _NONE
    shape: float = 0.0
    values: tuple[Duration, ...] = ()
    shares: tuple[float, ...] = ()

    @classmethod
    def constant(cls, value: Duration) -> Self:
        """The same value for every flow."""
        return cls("constant", value, value)

    @classmethod
    def uniform(cls, low: Duration, high: Duration) -> Self:
        """Equally likely anywhere from low to high."""
        return cls("uniform", low, high)

    @classmethod
    def exponential(cls, mean: Duration) -> Self:
        """Without memory, cut at 40 times the mean, beyond which nothing is ever drawn."""
        return cls("exponential", Duration(0), Duration(40 * mean), mean)

    @property
    def mean(self) -> Duration:
        """The expected value, what was cut off not counted."""
        return Duration(_mean(self))

    @classmethod
    def parse(cls, value: object) -> Distribution:
        """Read text, or a table named after the law. Raises ScenarioError."""
        from forebay.scenario import distribution_tables

        return distribution_tables.parse(value)

    def written(self) -> str | dict[str, Any]:
        """Return the form that a scenario file holds."""
        from forebay.scenario import distribution_tables

        return distribution_tables.written(self)

    def canonical(self) -> dict[str, list[float]]:
        """Return base units, the same for every way of writing it."""
        law = [float(self.low), float(self.high)]
        if self.kind not in ("constant", "uniform"):
            law += [float(self.center), float(self.deviation), self.shape]
            law += [float(x) for x in (*self.values, *self.shares)]
        return {self.kind: law}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda law, info: law.written() if info.mode == "json" else law.canonical(),
                info_arg=True,
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        from forebay.scenario import distribution_tables

        return distribution_tables.json_schema()


def _mean(law: Distribution) -> float:
    low, high = float(law.low), float(law.high)
    match law.kind:
        case "exponential":
            return truncated.exponential_mean(law.center, low, high)
        case "normal":
            return truncated.normal_mean(law.center, law.deviation, low, high)
        case "lognormal":
            sigma = truncated.lognormal_sigma(law.center, law.deviation)
            median = truncated.lognormal_median(law.center, law.deviation)
            return truncated.lognormal_mean(median, sigma, low, high)
        case "pareto":
            return float(law.center)
        case "values":
            return fsum(v * share for v, share in zip(law.values, law.shares, strict=True))
        case _:
            return (low + high) / 2
