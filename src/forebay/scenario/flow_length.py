"""Flow lengths: the same for every flow of a class, or drawn for each flow.

In a file a length is text, or a table named after the law. Each law has a model, which is chosen by
that name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    SerializerFunctionWrapHandler,
    Strict,
    Tag,
    WrapSerializer,
    model_validator,
)

from forebay.scenario.base import Between, ScenarioModel
from forebay.scenario.distribution_shapes import PacketLaw, check_deviation
from forebay.scenario.errors import ScenarioError, show
from forebay.scenario.quantity import FromText, parse_amount, plain, unitless

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import (
        GeometricDict,
        LognormalLengthDict,
        LognormalLengthShapeDict,
        ParetoLengthDict,
        ParetoLengthShapeDict,
    )

Unit = Literal["packets", "bytes"]

MOST_PACKETS = 1_000_000_000
_EXAMPLE = "14 packets"
_SHAPE = Between(0.1, 100.0)
_MEAN = "Mean of the whole packets drawn."
_HIGH = "No longer flow is drawn."


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
        if not isinstance(value, str):
            raise unitless(value, _EXAMPLE)
        amount, kind = parse_amount(value, ("packets", "size"), _EXAMPLE)
        unit: Unit = "packets" if kind == "packets" else "bytes"
        found = float(amount if unit == "packets" else amount / 8)
        most = MOST_PACKETS * (1 if unit == "packets" else 1500)
        if 0 < found <= most:
            return cls(found, unit)
        hint = f"write more than 0, at most {most} {unit}"
        raise ScenarioError("out-of-range", f"{show(value)} is out of range", hint, value=value)

    def packets(self, packet_bytes: int) -> float:
        """Return it in packets of this size, including fractions of packets."""
        return self.value if self.unit == "packets" else self.value / packet_bytes

    def __str__(self) -> str:
        unit = "packets" if self.unit == "packets" else "B"
        return f"{plain(Decimal(repr(self.value)))} {unit}"


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
            wrong = f"a mean of {mean:.3g} packets of {int(packet_bytes)} B"
            raise ScenarioError("out-of-range", wrong, "write a mean above 1 packet")

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

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[GeometricDict]) -> None: ...

    kind: ClassVar[str] = "geometric"
    geometric: Amount = Field(description=_MEAN)

    @property
    def amount(self) -> Amount:
        return self.geometric


def _no_end(data: dict[str, Any]) -> Amount:
    """The default upper end, in the unit of the mean."""
    unit: Unit = data["mean"].unit
    return Amount(1e6 if unit == "packets" else 1.5e9, unit)


class _Cut(ScenarioModel):
    """A law with a mean, truncated at ``high``."""

    mean: Amount = Field(description=_MEAN)

    def _check_units(self, *names: str) -> None:
        for name in names:
            if getattr(self, name).unit != self.mean.unit:
                wrong, hint = (
                    f"is not in {self.mean.unit}",
                    f"write all of them in {self.mean.unit}",
                )
                raise ScenarioError("wrong-dimension", wrong, hint, field=name)

    def _check_high(self, high: Amount) -> None:
        if self.mean.value >= high.value / 2:
            wrong = f"{self.mean} is not below half of high, {high}"
            raise ScenarioError("out-of-range", wrong, "write a smaller mean", field="mean")


class ParetoLengthShape(_Cut):
    """Heavy-tailed up to ``high``: 1000000 packets or 1500 MB if not set."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ParetoLengthShapeDict]) -> None: ...

    shape: Annotated[float, Strict(), _SHAPE]
    """Exponent of the tail."""
    high: Amount = Field(default_factory=_no_end, description=_HIGH)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self._check_units("high")
        self._check_high(self.high)
        return self


class ParetoLength(ScenarioModel, FlowLength):
    """Heavy-tailed, cut at ``high``, rounded to the nearest packet."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ParetoLengthDict]) -> None: ...

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

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[LognormalLengthShapeDict]) -> None: ...

    deviation: Amount
    """Standard deviation before the law is cut."""
    high: Amount = Field(default_factory=_no_end, description=_HIGH)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self._check_units("deviation", "high")
        check_deviation(self.deviation.value, self.mean.value)
        self._check_high(self.high)
        return self


class LognormalLength(ScenarioModel, FlowLength):
    """Its logarithm is normal; cut at ``high``, rounded to the nearest packet."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[LognormalLengthDict]) -> None: ...

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


def _law_of(value: Any) -> str | None:
    if isinstance(value, FlowLength):
        return value.kind
    if isinstance(value, Mapping):
        return next((name for name in LENGTH_LAWS if name in value), None)
    return "fixed"


def _written(law: FlowLength, handler: SerializerFunctionWrapHandler, info: Any) -> Any:
    return handler(law) if info.mode == "json" else law.canonical()


AnyFlowLength = Annotated[
    Annotated[Fixed, Tag("fixed")]
    | Annotated[Geometric, Tag("geometric")]
    | Annotated[ParetoLength, Tag("pareto")]
    | Annotated[LognormalLength, Tag("lognormal")],
    Discriminator(_law_of),
    WrapSerializer(_written),
]
"""Value of a field of a scenario: one of the laws, selected by its name."""


class _Alone(ScenarioModel):
    length: AnyFlowLength
