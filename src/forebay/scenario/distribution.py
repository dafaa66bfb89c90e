"""A duration that is the same for every flow of a class, or drawn for each.

A file writes text, or a table named after the law; each has a model, and the name decides which.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import erf, exp, fsum, log, sqrt
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

from forebay.errors import entry, literal
from forebay.scenario import exact_forms, truncated
from forebay.scenario.base import ScenarioModel
from forebay.scenario.bounds import SHARE, Between
from forebay.scenario.errors import ScenarioError, show
from forebay.scenario.quantity import Duration

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import (
        ExponentialDict,
        ExponentialShapeDict,
        LognormalDict,
        LognormalShapeDict,
        NormalDict,
        NormalShapeDict,
        ParetoDict,
        ParetoShapeDict,
        UniformDict,
        ValuesDict,
    )

_LEAST_KEPT = 1e-3
_MOST_VALUES = 10_000
_MEAN = Between(Duration(1e-12), Duration(1e9))
_SHAPE = Between(0.1, 100.0)
_LOW, _HIGH = "Nothing less is drawn.", "Nothing more is drawn."
_BEFORE_CUT = "Mean before the law is cut at its ends."
_DEVIATION = "Standard deviation before the law is cut at its ends."


class Distribution:
    """A law on [low, high]; what lies outside is cut off, not moved to the ends."""

    kind: ClassVar[str]

    @property
    def low(self) -> Duration:
        """The least that is drawn."""
        raise NotImplementedError

    @property
    def high(self) -> Duration:
        """The most that is drawn."""
        raise NotImplementedError

    @property
    def mean(self) -> Duration:
        """The expected value, what was cut off not counted."""
        raise NotImplementedError

    def parameters(self) -> list[float]:
        """Return what tells the law from others with the same ends, in base units."""
        return []

    def canonical(self) -> dict[str, list[float]]:
        """Return base units, the same for every way of writing it."""
        return {self.kind: [float(self.low), float(self.high), *self.parameters()]}

    @staticmethod
    def constant(value: Duration) -> Constant:
        """Return a law that gives the same value for every flow."""
        return cast(Constant, Constant.model_construct(root=value))

    @staticmethod
    def uniform_between(low: Duration, high: Duration) -> Uniform:
        """Return a law that is equally likely anywhere from low to high."""
        return Uniform.model_construct(uniform=(low, high))

    @staticmethod
    def exponential_of(mean: Duration) -> Exponential:
        """Return a law without memory, on 0 to 40 means."""
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
    _Root = RootModel  # pydantic would make a class of its own for RootModel[Duration]


class Constant(_Root, Distribution):
    """The same value for every flow: "100 ms"."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    kind: ClassVar[str] = "constant"
    root: Duration

    @property
    def low(self) -> Duration:
        return self.root

    @property
    def high(self) -> Duration:
        return self.root

    @property
    def mean(self) -> Duration:
        return self.root

    def __repr__(self) -> str:
        return repr(str(self.root))


def _two_ends(value: object) -> object:
    if isinstance(value, list | tuple) and len(value) == 2:
        return value
    _refuse_range(value)
    raise ScenarioError("wrong-type", "uniform needs its two ends", _write(), value=value)


class Uniform(ScenarioModel, Distribution):
    """Equally likely anywhere from the first to the second."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[UniformDict]) -> None: ...

    kind: ClassVar[str] = "uniform"
    uniform: Annotated[tuple[Duration, Duration], BeforeValidator(_two_ends)] = Field(
        description="The least and the most."
    )

    @field_validator("uniform")
    @classmethod
    def _rising(cls, ends: tuple[Duration, Duration]) -> tuple[Duration, Duration]:
        if ends[0] > ends[1]:
            wrong, hint = f"{ends[0]} is above {ends[1]}", "write the smaller end first"
            raise ScenarioError("out-of-range", wrong, hint)
        return ends

    @property
    def low(self) -> Duration:
        return self.uniform[0]

    @property
    def high(self) -> Duration:
        return self.uniform[1]

    @property
    def mean(self) -> Duration:
        return Duration((float(self.low) + float(self.high)) / 2)


class Named(ScenarioModel, Distribution):
    """A law whose one field, named as the law, is a table of its parameters."""

    @property
    def _shape(self) -> Any:
        return getattr(self, self.kind)

    @property
    def low(self) -> Duration:
        return Duration(self._shape.low)

    @property
    def high(self) -> Duration:
        return Duration(self._shape.high)

    @property
    def mean(self) -> Duration:
        return Duration(self._shape.expected)

    def parameters(self) -> list[float]:
        shape = self._shape
        named = (getattr(shape, name, 0.0) for name in ("mean", "deviation", "shape"))
        return [float(each) for each in named]


class ExponentialShape(ScenarioModel):
    """Without memory; without ends on 0 to 40 means, beyond which nothing is ever drawn."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ExponentialShapeDict]) -> None: ...

    mean: Annotated[Duration, _MEAN] = Field(description=_BEFORE_CUT)
    low: Duration = Field(default=Duration(0), description=_LOW)
    high: Duration = Field(
        default_factory=lambda data: Duration(40 * data["mean"]), description=_HIGH
    )

    @property
    def expected(self) -> float:
        """Mean after the law is cut, seconds."""
        return truncated.exponential_mean(self.mean, float(self.low), float(self.high))

    @model_validator(mode="after")
    def _holds_enough(self) -> Self:
        _rising(self.low, self.high)
        span = self.high - self.low
        _keeps(self.low, self.high, 1.0 if span > self.mean else span / self.mean)
        return self


def _mean_alone(value: object) -> object:
    """Take { exponential = "1 s" } for { exponential = { mean = "1 s" } }."""
    return value if isinstance(value, Mapping | ExponentialShape) else {"mean": value}


class Exponential(Named):
    """Without memory, given as { exponential = "1 s" } or with its ends."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ExponentialDict]) -> None: ...

    kind: ClassVar[str] = "exponential"
    exponential: Annotated[
        ExponentialShape,
        BeforeValidator(_mean_alone, json_schema_input_type=Duration | ExponentialShape),
    ] = Field(description="The mean alone, or a table with its ends.")


class NormalShape(ScenarioModel):
    """Bell-shaped; without ends cut at four standard deviations, and never below 0."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[NormalShapeDict]) -> None: ...

    mean: Annotated[Duration, _MEAN] = Field(description=_BEFORE_CUT)
    deviation: Annotated[Duration, _MEAN] = Field(description=_DEVIATION)
    low: Duration = Field(
        default_factory=lambda data: Duration(max(0.0, data["mean"] - 4 * data["deviation"])),
        description=_LOW,
    )
    high: Duration = Field(
        default_factory=lambda data: Duration(data["mean"] + 4 * data["deviation"]),
        description=_HIGH,
    )

    @property
    def expected(self) -> float:
        """Mean after the law is cut, seconds."""
        ends = float(self.low), float(self.high)
        return truncated.normal_mean(self.mean, self.deviation, *ends)

    @model_validator(mode="after")
    def _holds_enough(self) -> Self:
        check_deviation(self.deviation, self.mean)
        _rising(self.low, self.high)
        a, b = ((x - self.mean) / self.deviation / sqrt(2) for x in (self.low, self.high))
        _keeps(self.low, self.high, (erf(b) - erf(a)) / 2)
        return self


class Normal(Named):
    """Bell-shaped, cut at its ends."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[NormalDict]) -> None: ...

    kind: ClassVar[str] = "normal"
    normal: NormalShape = Field(description="Its mean, deviation and ends.")


class LognormalShape(ScenarioModel):
    """Its logarithm is normal; without ends cut at six of the logarithm's deviations."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[LognormalShapeDict]) -> None: ...

    mean: Annotated[Duration, _MEAN] = Field(description=_BEFORE_CUT)
    deviation: Annotated[Duration, _MEAN] = Field(description=_DEVIATION)
    low: Duration = Field(default_factory=lambda data: _at_deviations(data, -6), description=_LOW)
    high: Duration = Field(default_factory=lambda data: _at_deviations(data, 6), description=_HIGH)

    @property
    def sigma(self) -> float:
        """Standard deviation of the logarithm."""
        return truncated.lognormal_sigma(self.mean, self.deviation)

    @property
    def median(self) -> float:
        """Median of the whole law, seconds."""
        return truncated.lognormal_median(self.mean, self.deviation)

    @property
    def expected(self) -> float:
        """Mean after the law is cut, seconds."""
        ends = float(self.low), float(self.high)
        return truncated.lognormal_mean(self.median, self.sigma, *ends)

    @model_validator(mode="after")
    def _holds_enough(self) -> Self:
        check_deviation(self.deviation, self.mean)
        _rising(self.low, self.high)
        ends = (max(x, 1e-300) for x in (self.low, self.high))
        a, b = (log(x / self.median) / self.sigma / sqrt(2) for x in ends)
        _keeps(self.low, self.high, (erf(b) - erf(a)) / 2)
        return self


def _at_deviations(data: dict[str, Any], deviations: int) -> Duration:
    law = data["mean"], data["deviation"]
    return Duration(
        truncated.lognormal_median(*law) * exp(deviations * truncated.lognormal_sigma(*law))
    )


class Lognormal(Named):
    """Its logarithm is normal; cut at its ends."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[LognormalDict]) -> None: ...

    kind: ClassVar[str] = "lognormal"
    lognormal: LognormalShape = Field(description="Its mean, deviation and ends.")


class ParetoShape(ScenarioModel):
    """Heavy-tailed: P(X > x) falls as x to the power of -shape, up to high."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ParetoShapeDict]) -> None: ...

    mean: Annotated[Duration, _MEAN] = Field(description="Mean of what is drawn.")
    shape: Annotated[float, Strict(), _SHAPE] = Field(description="Exponent of the tail.")
    high: Annotated[Duration, _MEAN] = Field(description=_HIGH)

    @property
    def low(self) -> float:
        """Where the law begins, seconds."""
        return _pareto_low(self.mean, self.shape, self.high)

    @property
    def expected(self) -> float:
        """Mean of what is drawn, seconds."""
        return self.mean

    @model_validator(mode="after")
    def _mean_below_high(self) -> Self:
        if self.mean >= self.high:
            wrong = f"{self.mean} is not below high, {self.high}"
            raise ScenarioError("out-of-range", wrong, "write a smaller mean", field="mean")
        return self


class Pareto(Named):
    """Heavy-tailed; it begins where its mean, cut at ``high``, is the mean asked for."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ParetoDict]) -> None: ...

    kind: ClassVar[str] = "pareto"
    pareto: ParetoShape = Field(description="Its mean, shape and upper end.")


@lru_cache(maxsize=256)
def _pareto_low(mean: float, shape: float, high: float) -> float:
    rising = lambda low: truncated.pareto_mean(shape, low, high)  # noqa: E731
    return truncated.solve(rising, mean, mean * 1e-12, mean)


def _some(value: object) -> object:
    if isinstance(value, list | tuple) and 1 <= len(value) <= _MOST_VALUES:
        return value
    wrong = f"{show(value)} is no list of 1 to {_MOST_VALUES} durations"
    raise ScenarioError("wrong-type", wrong, f"write {entry('values', ['28 ms', '67 ms'])}")


class Values(ScenarioModel, Distribution):
    """One of a list; equally likely where no shares are given."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ValuesDict]) -> None: ...

    kind: ClassVar[str] = "values"
    values: Annotated[tuple[Duration, ...], BeforeValidator(_some)] = Field(
        description="What is drawn from."
    )
    shares: tuple[Annotated[float, Strict(), SHARE], ...] = Field(
        default_factory=lambda data: (1.0 / len(data["values"]),) * len(data["values"]),
        description="The probability of each; not set: the same.",
    )

    @model_validator(mode="after")
    def _shared_out(self) -> Self:
        hint = f"write {len(self.values)} numbers above 0 that sum to 1"
        if len(self.shares) != len(self.values):
            wrong = f"{len(self.shares)} are not a share for each value"
            raise ScenarioError("wrong-type", wrong, hint, field="shares")
        if abs(fsum(self.shares) - 1) > 1e-9:
            wrong = f"the shares sum to {fsum(self.shares):g}"
            raise ScenarioError("out-of-range", wrong, hint, field="shares")
        return self

    @property
    def low(self) -> Duration:
        return min(self.values)

    @property
    def high(self) -> Duration:
        return max(self.values)

    @property
    def mean(self) -> Duration:
        pairs = zip(self.values, self.shares, strict=True)
        return Duration(fsum(value * share for value, share in pairs))

    def parameters(self) -> list[float]:
        return [0.0, 0.0, 0.0, *(float(x) for x in (*self.values, *self.shares))]


LAWS = ("uniform", "exponential", "normal", "lognormal", "pareto", "values")
"""Every law that a table can name."""


def _law_of(value: Any) -> str | None:
    """Return the law that a value names; what is no table, and no range, is one value."""
    if isinstance(value, Distribution):
        return value.kind
    if isinstance(value, Mapping):
        return next((name for name in LAWS if name in value), None)
    return "constant"


def _constant(value: object) -> object:
    if isinstance(value, Constant):
        return value
    try:
        return Duration.parse(value)
    except ScenarioError:
        _refuse_range(value)
        raise


def _refuse_range(value: object) -> None:
    """Refuse "10-180 ms" and ["10 ms", "180 ms"], with the table that says it."""
    two = value if isinstance(value, list | tuple) and len(value) == 2 else exact_forms.span(value)
    if two and all(isinstance(end, str) for end in two):
        hint = f"write {literal({'uniform': list(two)})}"
        wrong = f"{show(value)} does not say how values lie between its ends"
        raise ScenarioError("wrong-type", wrong, hint, value=value)


def _write() -> str:
    return f'write "100 ms" or {literal({"uniform": ["80 ms", "120 ms"]})}'


def _written(law: Distribution, handler: SerializerFunctionWrapHandler, info: Any) -> Any:
    return handler(law) if info.mode == "json" else law.canonical()


AnyDistribution = Annotated[
    Annotated[Annotated[Constant, BeforeValidator(_constant)], Tag("constant")]
    | Annotated[Uniform, Tag("uniform")]
    | Annotated[Exponential, Tag("exponential")]
    | Annotated[Normal, Tag("normal")]
    | Annotated[Lognormal, Tag("lognormal")]
    | Annotated[Pareto, Tag("pareto")]
    | Annotated[Values, Tag("values")],
    Discriminator(_law_of),
    WrapSerializer(_written),
]
"""What a field of a scenario holds: one of the laws, told apart by the name that it is written
under."""


class _Alone(ScenarioModel):
    distribution: AnyDistribution


def check_deviation(deviation: float, mean: float) -> None:
    """Raise ScenarioError for a standard deviation that no law of such a mean is drawn with."""
    if not 1e-6 <= deviation / mean <= 1e3:
        wrong, hint = "is out of range", "write a deviation of 0.000001 to 1000 times the mean"
        raise ScenarioError("out-of-range", wrong, hint, field="deviation")


def _rising(low: Duration, high: Duration) -> None:
    if low >= high:
        wrong, hint = f"low, {low}, is not below high, {high}", "write a low below the high"
        raise ScenarioError("out-of-range", wrong, hint, field="low")


def _keeps(low: Duration, high: Duration, share: float) -> None:
    if share < _LEAST_KEPT:
        wrong = f"{low} to {high} holds almost nothing of the law"
        raise ScenarioError("out-of-range", wrong, "write a low and a high around the mean")
