"""Distributions of a duration: the same for every flow of a class, or drawn for each flow.

In a file a distribution is text, or a table named after the law. Each law has a model, which is
chosen by that name.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import fsum
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
from forebay.scenario import errors
from forebay.scenario.base import SHARE, ScenarioModel
from forebay.scenario.distribution_shapes import (
    ExponentialShape,
    LognormalShape,
    NormalShape,
    ParetoShape,
)
from forebay.scenario.errors import ScenarioError, show
from forebay.scenario.quantity import Duration

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import (
        ExponentialDict,
        LognormalDict,
        NormalDict,
        ParetoDict,
        UniformDict,
        ValuesDict,
    )


_MOST_VALUES = 10_000


def two_ends(value: object) -> object:
    """Refuse what is no list of two ends."""
    if isinstance(value, list | tuple) and len(value) == 2:
        return value
    refuse_range(value)
    raise ScenarioError(
        "wrong-type", "uniform needs its two ends", write_distribution(), value=value
    )


def mean_alone(value: object) -> object:
    """Accept { exponential = "1 s" } for { exponential = { mean = "1 s" } }."""
    return value if isinstance(value, Mapping | ExponentialShape) else {"mean": value}


def some_values(value: object) -> object:
    """Refuse what is no list of values, or one of too many."""
    if isinstance(value, list | tuple) and 1 <= len(value) <= _MOST_VALUES:
        return value
    wrong = f"{show(value)} is no list of 1 to {_MOST_VALUES} durations"
    raise ScenarioError("wrong-type", wrong, f"write {entry('values', ['28 ms', '67 ms'])}")


def refuse_range(value: object) -> None:
    """Refuse "10-180 ms" and ["10 ms", "180 ms"], with the correct table in the hint."""
    two = value if isinstance(value, list | tuple) and len(value) == 2 else errors.span(value)
    if two and all(isinstance(end, str) for end in two):
        hint = f"write {literal({'uniform': list(two)})}"
        wrong = f"{show(value)} does not give the distribution between its ends"
        raise ScenarioError("wrong-type", wrong, hint, value=value)


def write_distribution() -> str:
    """Return what to write for a distribution, as a hint."""
    return f'write "100 ms" or {literal({"uniform": ["80 ms", "120 ms"]})}'


def check_shares(shares: Sequence[float], values: int) -> None:
    """Refuse shares that are not one for each value, or do not sum to 1."""
    hint = f"write {values} numbers above 0 that sum to 1"
    if len(shares) != values:
        wrong = f"{len(shares)} are not a share for each value"
        raise ScenarioError("wrong-type", wrong, hint, field="shares")
    if abs(fsum(shares) - 1) > 1e-9:
        wrong = f"the shares sum to {fsum(shares):g}"
        raise ScenarioError("out-of-range", wrong, hint, field="shares")


def read_dealt(table: Any) -> Any:
    """Read ``dealt``, which older files say for ``stratified``."""
    if not isinstance(table, dict) or "dealt" not in table or "stratified" in table:
        return table
    return {("stratified" if key == "dealt" else key): table[key] for key in table}


LAWS = ("uniform", "exponential", "normal", "lognormal", "pareto", "values")
"""Every law that a table can name."""


def law_of(value: Any) -> str | None:
    """Return the law that a value names; anything but tables, ranges and laws is one value."""
    if isinstance(value, Mapping):
        return next((name for name in LAWS if name in value), None)
    kind = getattr(value, "kind", None)  # a duration has one too, and is one value
    return kind if kind in LAWS else "constant"


def written(law: Any, handler: SerializerFunctionWrapHandler, info: Any) -> Any:
    """Return a law as a file has it, or in JSON its canonical form."""
    return handler(law) if info.mode == "json" else law.canonical()


class Distribution(ABC):
    """A distribution on [low, high]; it is truncated there, so no draw is moved to the ends."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def low(self) -> Duration:
        """The smallest possible draw."""

    @property
    @abstractmethod
    def high(self) -> Duration:
        """The largest possible draw."""

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
    def low(self) -> Duration:
        return self.root

    @property
    def high(self) -> Duration:
        return self.root

    @property
    def mean(self) -> Duration:
        return self.root

    def _below(self, seconds: float) -> tuple[float, float]:
        raise AssertionError("a constant has no values between its ends")

    def __repr__(self) -> str:
        return repr(str(self.root))


class Uniform(ScenarioModel, Distribution):
    """Equally likely anywhere from the first to the second."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[UniformDict]) -> None: ...

    kind: ClassVar[str] = "uniform"
    uniform: Annotated[tuple[Duration, Duration], BeforeValidator(two_ends)]
    """The least and the most."""

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

    def _below(self, seconds: float) -> tuple[float, float]:
        return (seconds - self.low) / (self.high - self.low), (self.low + seconds) / 2


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

    def _below(self, seconds: float) -> tuple[float, float]:
        share, mean = self._shape.below(seconds)
        return share, mean

    def parameters(self) -> list[float]:
        shape = self._shape
        named = (getattr(shape, name, 0.0) for name in ("mean", "deviation", "shape"))
        return [float(each) for each in named]


class Exponential(Named):
    """Without memory, given as { exponential = "1 s" } or with its ends."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ExponentialDict]) -> None: ...

    kind: ClassVar[str] = "exponential"
    exponential: Annotated[
        ExponentialShape,
        BeforeValidator(mean_alone, json_schema_input_type=Duration | ExponentialShape),
    ]
    """The mean alone, or a table with its ends."""


class Normal(Named):
    """Bell-shaped, cut at its ends."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[NormalDict]) -> None: ...

    kind: ClassVar[str] = "normal"
    normal: NormalShape
    """Its mean, deviation and ends."""


class Lognormal(Named):
    """Its logarithm is normal; cut at its ends."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[LognormalDict]) -> None: ...

    kind: ClassVar[str] = "lognormal"
    lognormal: LognormalShape
    """Its mean, deviation and ends."""


class Pareto(Named):
    """Heavy-tailed; it begins where its mean, cut at ``high``, is the mean asked for."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ParetoDict]) -> None: ...

    kind: ClassVar[str] = "pareto"
    pareto: ParetoShape
    """Its mean, shape and upper end."""


class Values(ScenarioModel, Distribution):
    """One of a list; equally likely where no shares are given."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ValuesDict]) -> None: ...

    kind: ClassVar[str] = "values"
    values: Annotated[tuple[Duration, ...], BeforeValidator(some_values)]
    """The values to draw from."""
    shares: tuple[Annotated[float, Strict(), SHARE], ...] = Field(
        default_factory=lambda data: (1.0 / len(data["values"]),) * len(data["values"])
    )
    """The probability of each value; not set: equal."""
    stratified: bool = Field(default=False, exclude_if=operator.not_)
    """Each value occurs exactly as often as its share says, to within one, instead of at random."""

    @model_validator(mode="before")
    @classmethod
    def _older(cls, table: Any) -> Any:
        return read_dealt(table)

    @model_validator(mode="after")
    def _shared_out(self) -> Self:
        check_shares(self.shares, len(self.values))
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

    def _below(self, seconds: float) -> tuple[float, float]:
        pairs = zip(self.values, self.shares, strict=True)
        held = [(value, share) for value, share in pairs if value <= seconds]
        share = fsum(each for _, each in held)
        return share, fsum(value * each for value, each in held) / share

    def parameters(self) -> list[float]:
        return [0.0, 0.0, 0.0, *(float(x) for x in (*self.values, *self.shares))]


def _constant(value: object) -> object:
    if isinstance(value, Constant):
        return value
    try:
        return Duration.parse(value)
    except ScenarioError:
        refuse_range(value)
        raise


AnyDistribution = Annotated[
    Annotated[Annotated[Constant, BeforeValidator(_constant)], Tag("constant")]
    | Annotated[Uniform, Tag("uniform")]
    | Annotated[Exponential, Tag("exponential")]
    | Annotated[Normal, Tag("normal")]
    | Annotated[Lognormal, Tag("lognormal")]
    | Annotated[Pareto, Tag("pareto")]
    | Annotated[Values, Tag("values")],
    Discriminator(law_of),
    WrapSerializer(written),
]
"""Value of a field of a scenario: one of the laws, selected by the name that it is written
under."""


class _Alone(ScenarioModel):
    distribution: AnyDistribution
