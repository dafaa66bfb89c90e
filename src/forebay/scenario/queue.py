"""A queue: its discipline with Linux's names, its size, its parameters, and its class queues."""

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import floor, sqrt
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Unpack

from pydantic import Field, Strict, model_validator

from forebay.catalogue import DISCIPLINES
from forebay.scenario.base import LISTED, RATES, SHARE, Between, ScenarioModel, such_as
from forebay.scenario.errors import ScenarioError, did_you_mean, plain
from forebay.scenario.quantity import DataSize, Duration, FromText, Rate, parse_amount, text_of
from forebay.scenario.source import NAME
from forebay.words import one_of

BufferUnit = Literal["packets", "bytes", "seconds", "bdp", "bdp/sqrt(n)"]
_BUFFER_EXAMPLE = "129 packets"
_PER_SQRT_N = re.compile(r"\s*/\s*sqrt\s*\(\s*n\s*\)\s*$")
_BUFFER_UNITS: dict[str, BufferUnit] = {
    "packets": "packets", "size": "bytes", "time": "seconds", "bdp": "bdp",
}  # fmt: skip
_BUFFER_WRITTEN = {"bytes": "B", "seconds": "s"}


@dataclass(frozen=True, slots=True)
class BufferSize(FromText):
    """An amount, its unit, and its original text.

    ``bdp`` is the mean two-way propagation delay times the link's rate, and n the number of long
    flows, both of the flows that cross the link (`CrossingFlows`). Sizes with the same
    meaning are equal, whatever their text.
    """

    amount: float
    unit: BufferUnit
    text: str = field(default="", compare=False)

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read text such as "129 packets" or "1 bdp/sqrt(n)". Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        text = text_of(value, _BUFFER_EXAMPLE)
        amount, unit = _buffer_amount(text)
        if amount == 0:
            raise ScenarioError("out-of-range.no-buffer", value=value)
        if unit in ("packets", "bytes") and amount != int(amount):
            raise ScenarioError("out-of-range.part-of-unit", value=value, unit=unit)
        return cls(float(amount), unit, text.strip())

    def packets(self, *, rate_bps: float, packet_bytes: int, bdp: float, flows: int) -> int:
        """Return the packets that may wait: bytes are rounded down, other units to the nearest."""
        if self.unit == "packets":
            return int(self.amount)
        if self.unit == "bytes":
            return int(self.amount // packet_bytes)
        if self.unit == "seconds":
            return floor(self.amount * rate_bps / (8 * packet_bytes) + 0.5)
        share = sqrt(max(flows, 1)) if self.unit == "bdp/sqrt(n)" else 1.0
        return floor(self.amount * bdp / share + 0.5)

    def __str__(self) -> str:
        number = plain(Decimal(repr(self.amount)))
        return self.text or f"{number} {_BUFFER_WRITTEN.get(self.unit, self.unit)}"

    def canonical(self) -> dict[str, float]:
        """Return base units, the same for every notation."""
        return {self.unit: self.amount}


def _buffer_amount(text: str) -> tuple[Decimal, BufferUnit]:
    """Return the amount and its unit: packets, bytes, seconds or bdp."""
    bare, shared = _PER_SQRT_N.subn("", text)
    if shared:
        return parse_amount(bare, ("bdp",), "1 bdp/sqrt(n)")[0], "bdp/sqrt(n)"
    amount, kind = parse_amount(text, ("packets", "size", "time", "bdp"), _BUFFER_EXAMPLE)
    return (amount / 8 if kind == "size" else amount), _BUFFER_UNITS[kind]


if TYPE_CHECKING:
    from forebay.scenario import inputs

    Discipline = str
else:
    Discipline = Literal[tuple(DISCIPLINES)]


def _readers(parameter: str) -> tuple[str, ...]:
    return tuple(
        discipline.name for discipline in DISCIPLINES.values() if parameter in discipline.parameters
    )


_OTHERS = DISCIPLINES.keys() - {"drop-tail", "bfifo", "pfifo_head_drop", "classes"}
*_FIRST, _LAST_OF = (f'"{name}"' for name in DISCIPLINES if name in _OTHERS)
_AS_IN_LINUX = f"{', '.join(_FIRST)} and {_LAST_OF}"
"""Names that need no words of their own in the description of `discipline`."""
_BYTES = Between(DataSize(1), DataSize(10**12))
_TIMES = Between(Duration(1e-9), Duration(3600))
_PRIORITIES = Between(0, 1000, "number")
_LAST = 1001
"""Priority of class queues without one."""


class Red(ScenarioModel):
    """RED of one class queue; with thresholds in each class it is WRED by class.

    >>> forebay.Red(min="30 kB", max="90 kB")
    Red(min='30000 B', max='90000 B')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.RedDict]) -> None: ...

    min: Annotated[DataSize | None, _BYTES] = None
    """Average queue of the class below which no packet is marked or dropped."""
    max: Annotated[DataSize | None, _BYTES] = None
    """Average queue at which the probability is reached."""
    probability: Annotated[float | None, Between(1e-6, 1.0, "fraction")] = None
    """Probability of a mark or drop at max."""
    weight: Annotated[float | None, Between(1e-9, 1.0)] = None
    """Weight of the current queue in its average."""
    gentle: Annotated[bool | None, Strict()] = None
    """From max to twice max the probability increases to 1."""
    ecn: Annotated[bool | None, Strict()] = None
    """Mark packets of ECN-capable flows instead of dropping them."""

    @model_validator(mode="after")
    def _min_below_max(self) -> Self:
        _check_thresholds(self.min, self.max)
        return self


class ClassQueue(ScenarioModel):
    """One class queue of a port, such as a Junos scheduler or a class of an IOS policy-map.

    >>> forebay.ClassQueue(name="voice", priority=1, max_rate="10 Mbit/s")
    ClassQueue(name='voice', priority=1, max_rate='10 Mbit/s')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.ClassQueueDict]) -> None: ...

    name: Annotated[str, Strict(), Field(pattern=NAME)] = Field(examples=["voice"])
    """Name in messages; letters, digits, '_', '.' and '-'."""
    traffic: tuple[str, ...] = Field(default=(), examples=[["voip"]])
    """Names of the traffic classes whose packets, data and ACKs, it queues; a class without a name
    has its kind and its place in the list, "long-0"."""
    default: Annotated[bool, Strict()] = False
    """Queues all traffic classes that no class queue names; true in at most one."""
    priority: Annotated[int | None, Strict(), _PRIORITIES] = None
    """Strict priority: a class is served only while no class with a lower number has packets;
    classes without a number come last."""
    weight: Annotated[float, Between(1e-3, 1e3)] = 1.0
    """Relative share, in bytes, of the capacity left to the classes of its priority (deficit round
    robin)."""
    min_rate: Annotated[Rate | None, RATES] = such_as("2 Mbit/s")
    """Guaranteed rate while it has packets; the classes of its priority share the rest by weight
    (tc htb: rate)."""
    max_rate: Annotated[Rate | None, RATES] = such_as("5 Mbit/s")
    """Maximum rate: it is shaped to this rate (tc htb: ceil)."""
    burst: Annotated[DataSize | None, Between(DataSize(1), DataSize(10**12))] = None
    """Burst beyond max_rate, after time in which it was not served. Not set: one more of the
    largest packets than there are class queues."""
    size: BufferSize | None = such_as("64 packets")
    """Its own limit; bdp and n are those of its own traffic, a time is at the link's rate. A sizing
    does not change it. Not set: queue.size, or a share of it."""
    share: Annotated[float | None, SHARE] = None
    """Its limit as a share of queue.size, which a sizing sets."""
    discipline: Literal["drop-tail", "bfifo", "red"] = "drop-tail"
    """"drop-tail" counts packets, "bfifo" bytes; "red" is set if red is written."""
    red: Red | None = such_as({"min": "30 kB"})
    """RED of this class only."""

    @model_validator(mode="before")
    @classmethod
    def _red_says_its_discipline(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("red") is not None and "discipline" not in data:
            return {**data, "discipline": "red"}
        return data

    @model_validator(mode="after")
    def _only_what_is_read(self) -> Self:
        if self.red is not None and self.discipline != "red":
            raise ScenarioError("contradiction.not-red", field="red", value=self.discipline)
        if self.size is not None and self.share is not None:
            raise ScenarioError("contradiction.both", field="share", one="size", other="share")
        if self.burst is not None and self.max_rate is None:
            raise ScenarioError("contradiction.burst-without-rate", field="burst")
        if self.min_rate and self.max_rate and self.min_rate > self.max_rate:
            raise ScenarioError(
                "contradiction.above-max-rate", field="min_rate", value=self.min_rate,
                max_rate=self.max_rate,
            )  # fmt: skip
        return self

    @property
    def is_sized(self) -> bool:
        """Whether a sizing, which sets queue.size, sets its limit."""
        return self.size is None

    @property
    def level(self) -> int:
        """Its priority as a number, even if not set."""
        return _LAST if self.priority is None else self.priority

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters set for its discipline: bytes, numbers and switches by name."""
        given = {} if self.red is None else dict(self.red)
        return {name: value for name, value in given.items() if value is not None}


class Queue(ScenarioModel):
    """A buffer in front of a link.

    >>> forebay.Queue(discipline="codel", size="1000 packets")
    Queue(discipline='codel', size='1000 packets')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.QueueDict]) -> None: ...

    discipline: Discipline = Field(
        default="drop-tail",
        description='"drop-tail" counts packets and drops an arrival that finds it full (Linux '
        'pfifo); "bfifo" does so in bytes; "pfifo_head_drop" drops the oldest instead; '
        f"{_AS_IN_LINUX} as in queues.md, with Linux's defaults for parameters that are not set; "
        '"classes" means several class queues, which [[queue.classes]] lists.',
    )
    size: BufferSize = Field(
        default=BufferSize(1.0, "bdp"),
        examples=["129 packets", "1.5 MB", "10 ms", "1 bdp", "1 bdp/sqrt(n)"],
    )
    """Packets that may wait, without the one on the wire: packets, bytes (rounded down to whole
    packets), time at the link's rate, a multiple of the bandwidth-delay product, or that over the
    root of the number of flows; from 1 to 1000000000 packets. With class queues: the limit of each
    one without its own size, or the base of its share."""
    classes: Annotated[tuple[ClassQueue, ...], LISTED] = Field(default=(), exclude_if=operator.not_)
    """classes: the class queues before the wire."""
    transmit_ring: Annotated[int, Strict(), Between(0, 100_000, "packets")] = 0
    """Packets that the line card holds between queue and wire, in addition to the size; the queue
    does not count them (Appenzeller et al. 2004, section 5.2.2)."""
    ecn: Annotated[bool | None, Strict()] = None
    """Mark packets of ECN-capable flows instead of dropping them."""
    min: Annotated[DataSize | None, _BYTES] = None
    """average queue below which no packet is marked or dropped."""
    max: Annotated[DataSize | None, _BYTES] = None
    """average queue at which the probability is reached."""
    probability: Annotated[float | None, Between(1e-6, 1.0, "fraction")] = None
    """probability of a mark or drop at max."""
    weight: Annotated[float | None, Between(1e-9, 1.0)] = None
    """weight of the current queue in its average."""
    gentle: Annotated[bool | None, Strict()] = None
    """from max to twice max the probability increases to 1."""
    target: Annotated[Duration | None, _TIMES] = None
    """target queueing delay."""
    interval: Annotated[Duration | None, _TIMES] = None
    """time within which the delay must fall below target."""
    rtt: Annotated[Duration | None, _TIMES] = None
    """the RTT for which it is tuned, its interval; its target is a twentieth of that."""
    quantum: Annotated[DataSize | None, Between(DataSize(256), DataSize(1_000_000))] = None
    """bytes that a flow may send in each round."""
    buckets: Annotated[int | None, Strict(), Between(1, 65_536, "queues")] = None
    """number of queues to which flows are hashed."""
    step_thresh: Annotated[Duration | None, _TIMES] = None
    """all L4S packets with a longer delay are marked."""
    coupling_factor: Annotated[int | None, Strict(), Between(1, 255)] = None
    """k; if classic packets are dropped with probability p, L4S packets are marked with k times the
    root of p."""
    classic_protection: Annotated[int | None, Strict(), Between(0, 100, "percent")] = None
    """share of the classic queue while both queues have packets."""
    drop_on_overload: Annotated[bool | None, Strict()] = None
    """drop packets that marks cannot slow down; else they fill the queue."""

    alpha: Annotated[float | None, Between(1e-3, 1000.0)] = None
    """The queue uses the scenario's shared memory, at most alpha times its free part (Choudhury and
    Hahne 1998)."""

    @model_validator(mode="after")
    def _only_what_the_discipline_reads(self) -> Self:
        for name, readers in READ_BY.items():
            if getattr(self, name) is not None and self.discipline not in readers:
                raise ScenarioError(
                    "contradiction.no-such-parameter", field=name, value=self.discipline,
                    reader=readers[0], others="".join(f' or "{other}"' for other in readers[1:]),
                )  # fmt: skip
        _check_thresholds(self.min, self.max)
        several = self.discipline == "classes"
        if several and not self.classes:
            raise ScenarioError("missing.class-queues", field="classes")
        if self.classes and not several:
            raise ScenarioError(
                "contradiction.classes-of-one-queue", field="classes", value=self.discipline
            )
        if several:
            check_alone(self.classes)
        return self

    @property
    def reads_size(self) -> bool:
        """Whether ``size`` is its size; not if each class queue has its own."""
        return not self.classes or any(kind.is_sized for kind in self.classes)

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters set for the discipline: bytes, seconds, numbers and switches by name."""
        given = ((name, getattr(self, name)) for name in READ_BY)
        return {name: value for name, value in given if value is not None}


READ_BY = {name: _readers(name) for name in Queue.model_fields if _readers(name)}
"""The disciplines that use each parameter, in the order of the fields."""


def _check_thresholds(low: DataSize | None, high: DataSize | None) -> None:
    if low is not None and high is not None and low >= high:
        raise ScenarioError("contradiction.thresholds", field="max", low=low, value=high)


MAX_CLASSES = 64
"""Maximum number of class queues before one wire; router ports have 4 to 16."""


def check_alone(queues: Sequence[ClassQueue]) -> None:
    """Refuse class queues that contradict each other. Raises ScenarioError."""
    if len(queues) > MAX_CLASSES:
        raise ScenarioError(
            "out-of-range.class-queues", field="classes", value=len(queues), most=MAX_CLASSES
        )
    names: set[str] = set()
    holders: dict[str, str] = {}
    for index, queue in enumerate(queues):
        if queue.name in names:
            field = f"classes.{index}.name"
            raise ScenarioError("contradiction.name-of-a-queue", field=field, value=queue.name)
        names.add(queue.name)
        for traffic in queue.traffic:
            if traffic in holders:
                raise ScenarioError(
                    "contradiction.traffic-twice", field=f"classes.{index}.traffic", value=traffic,
                    other=holders[traffic],
                )  # fmt: skip
            holders[traffic] = queue.name
    defaults = [index for index, queue in enumerate(queues) if queue.default]
    if len(defaults) > 1:
        first, field = queues[defaults[0]].name, f"classes.{defaults[1]}.default"
        raise ScenarioError("contradiction.two-defaults", field=field, first=first)


def queue_of_traffic(queues: Sequence[ClassQueue], traffic: Sequence[str]) -> list[int | None]:
    """Return the index of the class queue of each traffic class, None without one."""
    default = next((index for index, queue in enumerate(queues) if queue.default), None)
    named = {name: index for index, queue in enumerate(queues) for name in queue.traffic}
    return [named.get(name, default) for name in traffic]


def check_rates(field: str, queues: Sequence[ClassQueue], capacity: float) -> None:
    """Refuse rates of class queues that exceed their link's capacity in bit/s."""
    for index, queue in enumerate(queues):
        for name in ("min_rate", "max_rate"):
            rate = getattr(queue, name)
            if rate is not None and rate > capacity:
                raise ScenarioError(
                    "contradiction.class-above-the-link", field=f"{field}.{index}.{name}",
                    value=rate, rate=Rate(capacity),
                )  # fmt: skip
    promised = sum(float(queue.min_rate or 0) for queue in queues)
    if promised > capacity * (1 + 1e-12):
        total, rate = Rate(promised), Rate(capacity)
        raise ScenarioError("contradiction.min-rates", field=field, total=total, rate=rate)


def check_traffic(
    field: str, queues: Sequence[ClassQueue], traffic: Sequence[str], crossing: Sequence[str]
) -> None:
    """Refuse unknown names of traffic, and traffic of the link without a class queue."""
    for index, queue in enumerate(queues):
        for name in queue.traffic:
            if name not in traffic:
                raise ScenarioError(
                    "unknown-name.traffic", field=f"{field}.{index}.traffic", value=name,
                    meant=did_you_mean(name, traffic), known=one_of(list(traffic)[:8]),
                )  # fmt: skip
    placed = dict(zip(traffic, queue_of_traffic(queues, traffic), strict=True))
    for name in crossing:
        if placed[name] is None:
            raise ScenarioError("contradiction.traffic-without-queue", field=field, value=name)
