"""Flow lengths: the same for every flow of a class, or drawn for each flow.

In a file a length is text, or a table named after the law. Each law has a model, which is chosen by
that name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import ceil, exp, expm1, log
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Strict,
    Tag,
    WrapSerializer,
    model_validator,
)

from forebay.scenario import distribution
from forebay.scenario.base import ScenarioModel
from forebay.scenario.errors import ScenarioError, plain
from forebay.scenario.quantity import FromText, parse_amount, text_of

Unit = Literal["packets", "bytes"]

MOST_PACKETS = 1_000_000_000
_EXAMPLE = "14 packets"


@dataclass(frozen=True, slots=True)
class Amount(FromText):
    """Packets or bytes: "14 packets", "20 kB"."""

    value: float
    unit: Unit

    base_unit: ClassVar[str] = "packets or B"

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read text such as "14 packets" or "20 kB". Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        amount, kind = parse_amount(text_of(value, _EXAMPLE), ("packets", "size"), _EXAMPLE)
        unit: Unit = "packets" if kind == "packets" else "bytes"
        length = float(amount if unit == "packets" else amount / 8)
        most = MOST_PACKETS * (1 if unit == "packets" else 1500)
        if 0 < length <= most:
            return cls(length, unit)
        raise ScenarioError("out-of-range.length", value=value, most=most, unit=unit)

    def packets(self, packet_bytes: int) -> float:
        """Return it in packets of this size, including fractions of packets."""
        return self.value if self.unit == "packets" else self.value / packet_bytes

    def __str__(self) -> str:
        unit = "packets" if self.unit == "packets" else "B"
        return f"{plain(Decimal(repr(self.value)))} {unit}"


_SUMMED = 200


@dataclass(frozen=True, slots=True)
class PacketLaw:
    """A law of lengths in packets, including fractions of packets.

    Attributes
    ----------
    kind : "fixed", "geometric", "pareto" or "lognormal".
    mean : expected value of the drawn whole packets.
    shape : exponent of a Pareto law's tail.
    deviation : standard deviation of a lognormal law over its mean, both before truncation.
    high : length of the longest flow.
    """

    kind: str
    mean: float
    shape: float = 0.0
    deviation: float = 0.0
    high: float = 0.0

    @property
    def mean_square(self) -> float:
        """The mean of the squared length over the square of the mean: 1 if all are equal."""
        if self.kind == "geometric":
            return 2.0 - 1.0 / self.mean
        if self.kind == "lognormal":
            return 1.0 + (self.deviation / self.mean) ** 2
        if self.kind == "fixed":
            return 1.0
        low = lower_end(self.kind, self.mean, self.shape, self.deviation, self.high)
        ratio, more = log(self.high / low), 2.0 - self.shape
        over = ratio if abs(more) < 1e-9 else expm1(more * ratio) / more
        square = self.shape * low**2 * over / -expm1(-self.shape * ratio)
        return max(1.0, square / self.mean**2)


@lru_cache(maxsize=256)
def lower_end(kind: str, mean: float, shape: float, deviation: float, high: float) -> float:
    """Return the parameter with which the mean of the drawn whole packets is `mean`.

    It is the lower end of a Pareto law and the median of a lognormal law, in packets. The drawn
    number is max(1, nearest whole number).
    """
    sigma = distribution.lognormal_sigma(mean, deviation) if kind == "lognormal" else 0.0

    def rounded_mean(scale: float) -> float:
        if kind == "pareto":
            return _rounded_mean(
                lambda x: distribution.pareto_tail(x, shape, scale, high),
                lambda x: distribution.pareto_mean(shape, max(x, scale), high),
                high,
            )
        return _rounded_mean(
            lambda x: distribution.lognormal_tail(x, scale, sigma, high),
            lambda x: distribution.lognormal_mean(scale, sigma, x, high),
            high,
        )

    # With a median six deviations above the upper end, a lognormal law is nearly a Pareto law.
    most = high if kind == "pareto" else high * exp(6 * sigma)
    return distribution.solve(rounded_mean, mean, mean * 1e-9, most * (1 - 1e-12))


def _rounded_mean(
    tail: Callable[[float], float], mean_above: Callable[[float], float], high: float
) -> float:
    """E[max(1, round X)] = 1 + sum over j >= 2 of P(X > j - 1/2).

    Beyond J = 200 the sum is the integral of the tail, E[X - J; X > J], to seven digits.
    """
    last = min(_SUMMED, int(high + 0.5))
    total = 1.0 + sum(tail(j - 0.5) for j in range(2, last + 1))
    if last < _SUMMED or tail(last) <= 0.0:
        return total
    return total + tail(last) * (mean_above(last) - last)


class FlowLength(ABC):
    """A law of lengths, in packets or bytes; draws are whole packets, at least one."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def amount(self) -> Amount:
        """The mean of the drawn whole packets, as written."""

    def in_packets(self, packet_bytes: int) -> PacketLaw:
        """Return the law in packets of this size."""
        return PacketLaw(self.kind, self.amount.packets(packet_bytes))

    def check(self, packet_bytes: int) -> None:
        """Raise ScenarioError if whole packets, at least one, cannot have this mean."""
        mean = self.in_packets(packet_bytes).mean
        if self.kind != "fixed" and mean <= 1:
            raise ScenarioError("out-of-range.mean-length", mean=mean, packet=int(packet_bytes))

    def mean_packets(self, packet_bytes: int) -> float:
        """Return the expected number of whole packets."""
        mean = self.in_packets(packet_bytes).mean
        return float(ceil(mean)) if self.kind == "fixed" else mean

    def most_packets(self, packet_bytes: int) -> float:
        """Return the largest possible draw in packets; infinite for a geometric law."""
        if self.kind == "geometric":
            return float("inf")
        law = self.in_packets(packet_bytes)
        return self.mean_packets(packet_bytes) if self.kind == "fixed" else law.high

    def canonical(self) -> dict[str, list[float]]:
        """Return base units, the same for every notation."""
        unit, law = self.amount.unit, self.in_packets(1)  # packets of one byte: bytes stay bytes
        return {f"{self.kind} {unit}": [law.mean, law.shape, law.deviation, law.high]}

    @staticmethod
    def parse(value: object) -> FlowLength:
        """Read text, or a table named after the law. Raises ScenarioError."""
        return _Alone.from_dict({"length": value}).length


if TYPE_CHECKING:
    _Root = RootModel[Amount]
else:
    _Root = RootModel  # RootModel[Amount] would be another class of pydantic


class Fixed(_Root, FlowLength):
    """Always the same, rounded up to whole packets: "20 kB"."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    kind: ClassVar[str] = "fixed"
    root: Amount

    @property
    def amount(self) -> Amount:
        return self.root

    def __repr__(self) -> str:
        return repr(str(self.root))


class Geometric(ScenarioModel, FlowLength):
    """Geometric with this mean; at least one packet."""

    kind: ClassVar[str] = "geometric"
    geometric: Amount
    """Mean of the whole packets drawn."""

    @property
    def amount(self) -> Amount:
        return self.geometric


def _no_end(data: dict[str, Any]) -> Amount:
    """The default upper end, in the unit of the mean."""
    unit: Unit = data["mean"].unit
    return Amount(1e6 if unit == "packets" else 1.5e9, unit)


class _Cut(ScenarioModel):
    """A law with a mean, truncated at ``high``."""

    mean: Amount
    """Mean of the whole packets drawn."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        amounts = {name: amount for name, amount in self if isinstance(amount, Amount)}
        for name, amount in amounts.items():
            if amount.unit != self.mean.unit:
                raise ScenarioError("wrong-dimension.units", field=name, unit=self.mean.unit)
        if "deviation" in amounts:
            distribution.check_deviation(amounts["deviation"].value, self.mean.value)
        if self.mean.value >= amounts["high"].value / 2:
            high = amounts["high"]
            raise ScenarioError("out-of-range.half", field="mean", value=self.mean, high=high)
        return self


class ParetoLengthShape(_Cut):
    """Heavy-tailed up to ``high``: 1000000 packets or 1500 MB if not set."""

    shape: Annotated[float, Strict(), distribution.TAIL_EXPONENT]
    """Exponent of the tail."""
    high: Amount = Field(default_factory=_no_end)
    """No longer flow is drawn."""


class ParetoLength(ScenarioModel, FlowLength):
    """Heavy-tailed, cut at ``high``, rounded to the nearest packet."""

    kind: ClassVar[str] = "pareto"
    pareto: ParetoLengthShape
    """Its mean, shape and upper end."""

    @property
    def amount(self) -> Amount:
        return self.pareto.mean

    def in_packets(self, packet_bytes: int) -> PacketLaw:
        law = self.pareto
        mean, high = (x.packets(packet_bytes) for x in (law.mean, law.high))
        return PacketLaw(self.kind, mean, shape=law.shape, high=high)


class LognormalLengthShape(_Cut):
    """Its logarithm is normal; ``high`` as for a Pareto law."""

    deviation: Amount
    """Standard deviation before the law is cut."""
    high: Amount = Field(default_factory=_no_end)
    """No longer flow is drawn."""


class LognormalLength(ScenarioModel, FlowLength):
    """Its logarithm is normal; cut at ``high``, rounded to the nearest packet."""

    kind: ClassVar[str] = "lognormal"
    lognormal: LognormalLengthShape
    """Its mean, deviation and upper end."""

    @property
    def amount(self) -> Amount:
        return self.lognormal.mean

    def in_packets(self, packet_bytes: int) -> PacketLaw:
        law = self.lognormal
        mean, deviation, high = (
            x.packets(packet_bytes) for x in (law.mean, law.deviation, law.high)
        )
        return PacketLaw(self.kind, mean, deviation=deviation, high=high)


LENGTH_LAWS = ("geometric", "pareto", "lognormal")
"""Every law that a table can name."""

AnyFlowLength = Annotated[
    Annotated[Fixed, Tag("fixed")]
    | Annotated[Geometric, Tag("geometric")]
    | Annotated[ParetoLength, Tag("pareto")]
    | Annotated[LognormalLength, Tag("lognormal")],
    Discriminator(distribution.law_among(LENGTH_LAWS, "fixed")),
    WrapSerializer(distribution.written),
]
"""Value of a field of a scenario: one of the laws, selected by its name."""


class _Alone(ScenarioModel):
    length: AnyFlowLength
