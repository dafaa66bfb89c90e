"""Distributions of a duration: the same for every flow of a class, or drawn for each flow.

In a file a distribution is text, or a table named after the law. Each law has a model, which is
chosen by that name. A truncated law is that of X given low <= X <= high; its ends may be infinite
if those of the law are.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import erf, erfc, exp, expm1, fsum, inf, log, pi, sqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, cast

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    SerializerFunctionWrapHandler,
    Strict,
    Tag,
    WrapSerializer,
    field_validator,
    model_validator,
)

from forebay.scenario import errors
from forebay.scenario.base import SHARE, Between, ScenarioModel
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration


def lognormal_mean(median: float, sigma: float, low: float, high: float) -> float:
    """Mean of a lognormal law on [low, high]; sigma is that of the logarithm."""
    a, b = (_log(x / median) / sigma for x in (low, high))
    whole = median * exp(sigma * sigma / 2)
    return whole * _between(a - sigma, b - sigma) / _between(a, b)


def pareto_mean(shape: float, low: float, high: float) -> float:
    """Mean of a Pareto law on [low, high]."""
    ratio = log(high / low)
    if abs(shape - 1) < 1e-9:
        return low * ratio / -expm1(-shape * ratio)
    over = -expm1(-(shape - 1) * ratio) / (shape - 1)
    return low * shape * over / -expm1(-shape * ratio)


def lognormal_sigma(mean: float, deviation: float) -> float:
    """Standard deviation of the logarithm, from mean and standard deviation."""
    return sqrt(log(1 + (deviation / mean) ** 2))


def lognormal_median(mean: float, deviation: float) -> float:
    """Median of the whole law, from its mean and standard deviation."""
    return mean / sqrt(1 + (deviation / mean) ** 2)


def lognormal_tail(x: float, median: float, sigma: float, high: float) -> float:
    """P(X > x) of a lognormal law on (0, high]."""
    top = _log(high / median) / sigma
    return _between(_log(x / median) / sigma, top) / _between(-inf, top) if x < high else 0.0


def pareto_tail(x: float, shape: float, low: float, high: float) -> float:
    """P(X > x) of a Pareto law on [low, high]."""
    if x <= low:
        return 1.0
    if x >= high:
        return 0.0
    most = (low / high) ** shape
    return float(((low / x) ** shape - most) / (1 - most))


def _log(x: float) -> float:
    if x <= 0:
        return -inf
    return log(x) if x < inf else inf


def _density(x: float) -> float:
    return exp(-x * x / 2) / sqrt(2 * pi)


def _between(a: float, b: float) -> float:
    """P(a < Z < b) of a standard normal Z, computed from the nearer tail to avoid cancellation."""
    if a > 0:
        return (erfc(a / sqrt(2)) - erfc(b / sqrt(2))) / 2
    if b < 0:
        return (erfc(-b / sqrt(2)) - erfc(-a / sqrt(2))) / 2
    return (erf(b / sqrt(2)) - erf(a / sqrt(2))) / 2


def solve(rising: Callable[[float], float], wanted: float, least: float, most: float) -> float:
    """Return the x in [least, most] at which an increasing function has the wanted value."""
    low, high = log(least), log(most)
    for _ in range(100):
        middle = (low + high) / 2
        if rising(exp(middle)) < wanted:
            low = middle
        else:
            high = middle
    return exp((low + high) / 2)


_LEAST_KEPT = 1e-3
_MEAN = Between(Duration(1e-12), Duration(1e9))
TAIL_EXPONENT = Between(0.1, 100.0)


def check_deviation(deviation: float, mean: float) -> None:
    """Raise ScenarioError for a standard deviation that is out of range for this mean."""
    if not 1e-6 <= deviation / mean <= 1e3:
        raise ScenarioError("out-of-range.deviation", field="deviation")


class _Shape(ScenarioModel):
    """The parameters of a law that is cut at its ends; results are in seconds."""

    mean: Annotated[Duration, _MEAN]
    """Mean before the law is cut at its ends."""
    if TYPE_CHECKING:
        low: Duration
        high: Duration

    def kept(self, low: float, high: float) -> float:
        """Return the share of the whole law between two values."""
        raise NotImplementedError

    def mean_between(self, low: float, high: float) -> float:
        """Return the mean of the law cut at two values."""
        raise NotImplementedError

    @property
    def expected(self) -> float:
        """Mean after the law is cut."""
        return self.mean_between(float(self.low), float(self.high))

    def below(self, x: float) -> tuple[float, float]:
        """Return the share of draws up to x, between the ends, and their mean."""
        low = float(self.low)
        share = self.kept(low, x) / self.kept(low, float(self.high))
        return share, self.mean_between(low, x) if share else x

    @model_validator(mode="after")
    def _holds_enough(self) -> Self:
        if (deviation := getattr(self, "deviation", None)) is not None:
            check_deviation(deviation, self.mean)
        if self.low >= self.high:
            raise ScenarioError("out-of-range.low", field="low", value=self.low, high=self.high)
        if self.kept(self.low, self.high) < _LEAST_KEPT:
            raise ScenarioError("out-of-range.improbable", low=self.low, high=self.high)
        return self


class ExponentialShape(_Shape):
    """Without memory; without ends on 0 to 40 means, beyond which nothing is ever drawn."""

    low: Duration = Duration(0)
    """Nothing less is drawn."""
    high: Duration = Field(default_factory=lambda data: Duration(40 * data["mean"]))
    """Nothing more is drawn."""

    def kept(self, low: float, high: float) -> float:
        return -expm1(-(high - low) / self.mean)  # of what is not below the first value

    def mean_between(self, low: float, high: float) -> float:
        span = (high - low) / self.mean
        if span < 1e-6:  # practically uniform
            return (low + high) / 2
        return low + self.mean - (high - low) / expm1(span) if span < 700 else low + self.mean


class NormalShape(_Shape):
    """Bell-shaped; without ends cut at four standard deviations, and never below 0."""

    deviation: Annotated[Duration, _MEAN]
    """Standard deviation before the law is cut at its ends."""
    low: Duration = Field(
        default_factory=lambda data: Duration(max(0.0, data["mean"] - 4 * data["deviation"]))
    )
    """Nothing less is drawn."""
    high: Duration = Field(
        default_factory=lambda data: Duration(data["mean"] + 4 * data["deviation"])
    )
    """Nothing more is drawn."""

    def _standard(self, low: float, high: float) -> tuple[float, float]:
        return (low - self.mean) / self.deviation, (high - self.mean) / self.deviation

    def kept(self, low: float, high: float) -> float:
        return _between(*self._standard(low, high))

    def mean_between(self, low: float, high: float) -> float:
        a, b = self._standard(low, high)
        return self.mean + self.deviation * (_density(a) - _density(b)) / _between(a, b)


class LognormalShape(_Shape):
    """Its logarithm is normal; without ends cut at six of the logarithm's deviations."""

    deviation: Annotated[Duration, _MEAN]
    """Standard deviation before the law is cut at its ends."""
    low: Duration = Field(default_factory=lambda data: _at_deviations(data, -6))
    """Nothing less is drawn."""
    high: Duration = Field(default_factory=lambda data: _at_deviations(data, 6))
    """Nothing more is drawn."""

    @property
    def sigma(self) -> float:
        """Standard deviation of the logarithm."""
        return lognormal_sigma(self.mean, self.deviation)

    @property
    def median(self) -> float:
        """Median of the whole law, seconds."""
        return lognormal_median(self.mean, self.deviation)

    def kept(self, low: float, high: float) -> float:
        return _between(*(_log(x / self.median) / self.sigma for x in (low, high)))

    def mean_between(self, low: float, high: float) -> float:
        return lognormal_mean(self.median, self.sigma, low, high)


def _at_deviations(data: dict[str, Any], deviations: int) -> Duration:
    law = data["mean"], data["deviation"]
    return Duration(lognormal_median(*law) * exp(deviations * lognormal_sigma(*law)))


class ParetoShape(ScenarioModel):
    """Heavy-tailed: P(X > x) falls as x to the power of -shape, up to high."""

    mean: Annotated[Duration, _MEAN]
    """Mean of what is drawn."""
    shape: Annotated[float, Strict(), TAIL_EXPONENT]
    """Exponent of the tail."""
    high: Annotated[Duration, _MEAN]
    """Nothing more is drawn."""

    @property
    def low(self) -> float:
        """Lower end of the law, seconds."""
        return _pareto_low(self.mean, self.shape, self.high)

    @property
    def expected(self) -> float:
        return self.mean

    def below(self, x: float) -> tuple[float, float]:
        share = 1 - pareto_tail(x, self.shape, self.low, float(self.high))
        return share, pareto_mean(self.shape, self.low, x)

    @model_validator(mode="after")
    def _mean_below_high(self) -> Self:
        if self.mean >= self.high:
            raise ScenarioError("out-of-range.mean", field="mean", value=self.mean, high=self.high)
        return self


@lru_cache(maxsize=256)
def _pareto_low(mean: float, shape: float, high: float) -> float:
    return solve(lambda low: pareto_mean(shape, low, high), mean, mean * 1e-12, mean)


_MOST_VALUES = 10_000


def _two_ends(value: object) -> object:
    if isinstance(value, list | tuple) and len(value) == 2:
        return value
    _refuse_range(value)
    raise ScenarioError("wrong-type.one-end", value=value)


def _mean_alone(value: object) -> object:
    """Accept { exponential = "1 s" } for { exponential = { mean = "1 s" } }."""
    return value if isinstance(value, Mapping | ExponentialShape) else {"mean": value}


def _some_values(value: object) -> object:
    """Refuse what is no list of values, or one of too many."""
    if isinstance(value, list | tuple) and 1 <= len(value) <= _MOST_VALUES:
        return value
    raise ScenarioError("wrong-type.values", value=value, most=_MOST_VALUES)


def _refuse_range(value: object) -> None:
    """Refuse "10-180 ms" and ["10 ms", "180 ms"], with the correct table in the hint."""
    two = value if isinstance(value, list | tuple) and len(value) == 2 else errors.span(value)
    if two and all(isinstance(end, str) for end in two):
        raise ScenarioError("wrong-type.range", value=value, spread={"uniform": list(two)})


LAWS = ("uniform", "exponential", "normal", "lognormal", "pareto", "values")
"""Every law that a table can name."""


def law_among(laws: tuple[str, ...], single: str) -> Callable[[Any], str | None]:
    """Return what finds the law that a value names: anything but tables and laws is one value."""

    def law_of(value: Any) -> str | None:
        if isinstance(value, Mapping):
            return next((name for name in laws if name in value), None)
        kind = getattr(value, "kind", None)  # a duration has one too, and is one value
        return kind if kind in laws else single

    return law_of


def written(law: Any, handler: SerializerFunctionWrapHandler, info: Any) -> Any:
    """Return a law as a file has it, or in JSON its canonical form."""
    return handler(law) if info.mode == "json" else law.canonical()


class Distribution(ABC):
    """A distribution on [low, high]; it is truncated there, so no draw is moved to the ends."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def _ends(self) -> tuple[Duration, Duration]: ...

    @property
    def low(self) -> Duration:
        """The smallest possible draw."""
        return self._ends[0]

    @property
    def high(self) -> Duration:
        """The largest possible draw."""
        return self._ends[1]

    @property
    @abstractmethod
    def mean(self) -> Duration:
        """The expected value of the truncated distribution."""

    def mean_within(self, seconds: float) -> float:
        """Return the expected value of min(draw, `seconds`).

        It is the mean within a run of that length, if rare draws beyond it dominate the mean.
        """
        if seconds >= self.high:
            return self.mean
        if seconds <= self.low:
            return seconds
        share, mean = self._below(seconds)
        return share * mean + (1 - share) * seconds

    def share_up_to(self, seconds: float) -> float:
        """Return the probability of a draw up to ``seconds``."""
        if seconds >= self.high:
            return 1.0
        return 0.0 if seconds < self.low else self._below(seconds)[0]

    @abstractmethod
    def _below(self, seconds: float) -> tuple[float, float]:
        """Return the share of draws up to a value between the ends, and their mean."""

    def parameters(self) -> list[float]:
        """Return the parameters other than the ends, in base units."""
        return []

    def canonical(self) -> dict[str, list[float]]:
        """Return base units, the same for every notation."""
        return {self.kind: [float(self.low), float(self.high), *self.parameters()]}

    @staticmethod
    def constant(value: Duration) -> Constant:
        """Return the distribution with the same value for every flow."""
        return cast(Constant, Constant.model_construct(root=value))

    @staticmethod
    def uniform_between(low: Duration, high: Duration) -> Uniform:
        """Return the uniform distribution from low to high."""
        return Uniform.model_construct(uniform=(low, high))

    @staticmethod
    def exponential_of(mean: Duration) -> Exponential:
        """Return the exponential distribution, on 0 to 40 means."""
        high = Duration(40 * mean)
        shape = ExponentialShape.model_construct(mean=mean, low=Duration(0), high=high)
        return Exponential.model_construct(exponential=shape)

    @staticmethod
    def parse(value: object) -> Distribution:
        """Read text, or a table named after the law. Raises ScenarioError."""
        return _Alone.from_dict({"distribution": value}).distribution


if TYPE_CHECKING:
    _Root = RootModel[Duration]
else:
    _Root = RootModel  # RootModel[Duration] would be another class of pydantic


class Constant(_Root, Distribution):
    """The same value for every flow: "100 ms"."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    kind: ClassVar[str] = "constant"
    root: Duration

    @property
    def _ends(self) -> tuple[Duration, Duration]:
        return self.root, self.root

    @property
    def mean(self) -> Duration:
        return self.root

    def _below(self, seconds: float) -> tuple[float, float]:
        raise AssertionError("a constant has no values between its ends")

    def __repr__(self) -> str:
        return repr(str(self.root))


class Uniform(ScenarioModel, Distribution):
    """Equally likely anywhere from the first to the second."""

    kind: ClassVar[str] = "uniform"
    uniform: Annotated[tuple[Duration, Duration], BeforeValidator(_two_ends)]
    """The least and the most."""

    @field_validator("uniform")
    @classmethod
    def _rising(cls, ends: tuple[Duration, Duration]) -> tuple[Duration, Duration]:
        if ends[0] > ends[1]:
            raise ScenarioError("out-of-range.ends", low=ends[0], high=ends[1])
        return ends

    @property
    def _ends(self) -> tuple[Duration, Duration]:
        return self.uniform

    @property
    def mean(self) -> Duration:
        return Duration((float(self.low) + float(self.high)) / 2)

    def _below(self, seconds: float) -> tuple[float, float]:
        return (seconds - self.low) / (self.high - self.low), (self.low + seconds) / 2


class Named(ScenarioModel, Distribution):
    """A law whose one field, named as the law, is a table of its parameters."""

    @property
    def _shape(self) -> Any:
        return getattr(self, self.kind)

    @property
    def _ends(self) -> tuple[Duration, Duration]:
        return Duration(self._shape.low), Duration(self._shape.high)

    @property
    def mean(self) -> Duration:
        return Duration(self._shape.expected)

    def _below(self, seconds: float) -> tuple[float, float]:
        share, mean = self._shape.below(seconds)
        return share, mean

    def parameters(self) -> list[float]:
        shape = self._shape
        named = (getattr(shape, name, 0.0) for name in ("mean", "deviation", "shape"))
        return [float(value) for value in named]


class Exponential(Named):
    """Without memory, given as { exponential = "1 s" } or with its ends."""

    kind: ClassVar[str] = "exponential"
    exponential: Annotated[
        ExponentialShape,
        BeforeValidator(_mean_alone, json_schema_input_type=Duration | ExponentialShape),
    ]
    """The mean alone, or a table with its ends."""


class Normal(Named):
    """Bell-shaped, cut at its ends."""

    kind: ClassVar[str] = "normal"
    normal: NormalShape
    """Its mean, deviation and ends."""


class Lognormal(Named):
    """Its logarithm is normal; cut at its ends."""

    kind: ClassVar[str] = "lognormal"
    lognormal: LognormalShape
    """Its mean, deviation and ends."""


class Pareto(Named):
    """Heavy-tailed; it begins where its mean, cut at ``high``, is the mean asked for."""

    kind: ClassVar[str] = "pareto"
    pareto: ParetoShape
    """Its mean, shape and upper end."""


class Values(ScenarioModel, Distribution):
    """One of a list; equally likely where no shares are given."""

    kind: ClassVar[str] = "values"
    values: Annotated[tuple[Duration, ...], BeforeValidator(_some_values)]
    """The values to draw from."""
    shares: tuple[Annotated[float, Strict(), SHARE], ...] = Field(
        default_factory=lambda data: (1.0 / len(data["values"]),) * len(data["values"])
    )
    """The probability of each value; not set: equal."""
    # Left out where it is not set, which keeps documents and digests without it unchanged.
    stratified: bool = Field(default=False, exclude_if=operator.not_)
    """Each value occurs exactly as often as its share says, to within one, instead of at random."""

    @model_validator(mode="before")
    @classmethod
    def _older(cls, table: Any) -> Any:
        """Read ``dealt``, which older files say for ``stratified``."""
        if not isinstance(table, dict) or "dealt" not in table or "stratified" in table:
            return table
        return {("stratified" if key == "dealt" else key): table[key] for key in table}

    @model_validator(mode="after")
    def _shared_out(self) -> Self:
        many, total = len(self.values), fsum(self.shares)
        if len(self.shares) != many:
            got = len(self.shares)
            raise ScenarioError("wrong-type.shares", field="shares", got=got, many=many)
        if abs(total - 1) > 1e-9:
            raise ScenarioError("out-of-range.shares", field="shares", total=total, many=many)
        return self

    @property
    def _ends(self) -> tuple[Duration, Duration]:
        return min(self.values), max(self.values)

    @property
    def mean(self) -> Duration:
        pairs = zip(self.values, self.shares, strict=True)
        return Duration(fsum(value * share for value, share in pairs))

    def _below(self, seconds: float) -> tuple[float, float]:
        pairs = zip(self.values, self.shares, strict=True)
        held = [(value, share) for value, share in pairs if value <= seconds]
        share = fsum(part for _, part in held)
        return share, fsum(value * part for value, part in held) / share

    def parameters(self) -> list[float]:
        return [0.0, 0.0, 0.0, *(float(x) for x in (*self.values, *self.shares))]


def _constant(value: object) -> object:
    if isinstance(value, Constant):
        return value
    try:
        return Duration.parse(value)
    except ScenarioError:
        _refuse_range(value)
        raise


AnyDistribution = Annotated[
    Annotated[Annotated[Constant, BeforeValidator(_constant)], Tag("constant")]
    | Annotated[Uniform, Tag("uniform")]
    | Annotated[Exponential, Tag("exponential")]
    | Annotated[Normal, Tag("normal")]
    | Annotated[Lognormal, Tag("lognormal")]
    | Annotated[Pareto, Tag("pareto")]
    | Annotated[Values, Tag("values")],
    Discriminator(law_among(LAWS, "constant")),
    WrapSerializer(written),
]
"""Value of a field of a scenario: one of the laws, selected by the name that it is written
under."""


class _Alone(ScenarioModel):
    distribution: AnyDistribution
