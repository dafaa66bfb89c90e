"""Common base of all traffic classes: number of flows, route, start, and when flows send."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Unpack

from pydantic import Field, Strict, model_validator

from forebay.scenario.base import DAY, MAX_FLOWS, RATES, Between, ScenarioModel, such_as
from forebay.scenario.distribution import AnyDistribution, Distribution
from forebay.scenario.errors import ScenarioError, count
from forebay.scenario.goals import ClassGoals
from forebay.scenario.quantity import DataSize, Duration, FromText, Rate
from forebay.words import Fact, entry

if TYPE_CHECKING:
    from forebay.scenario import inputs
    from forebay.scenario.link import Measure
    from forebay.scenario.traffic import Traffic

End = Literal["low", "high"]

_RANGE = re.compile(r"\s*([0-9]{1,12})\s*\.\.\s*([0-9]{1,12})\s*")


class FlowCount(FromText, int):
    """A number of flows; for a range its middle, with the ends in ``low`` and ``high``.

    Code that needs one number uses the middle; a sizing uses both ends.
    """

    low: int
    high: int
    json_schema: ClassVar[dict[str, Any]] = {
        "anyOf": [
            {"type": "integer"},
            {"type": "string", "pattern": r"^\s*[0-9]{1,12}\s*\.\.\s*[0-9]{1,12}\s*$"},
        ]
    }

    def __new__(cls, count: int, low: int | None = None, high: int | None = None) -> Self:
        """Return ``count`` with its ends, by default the count itself."""
        flows = super().__new__(cls, count)
        flows.low = int(count) if low is None else low
        flows.high = int(count) if high is None else high
        return flows

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a whole number, or text such as "8000..12000". Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return cls(value)
        match = _RANGE.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            exact = count(value)
            hint = Fact("wrong-type.flows-exactly", exact=exact) if exact else ""
            raise ScenarioError("wrong-type.flows", hint=hint, value=value)
        low, high = int(match[1]), int(match[2])
        if low > high:
            raise ScenarioError("out-of-range.ends", value=value, low=low, high=high)
        return cls((low + high) // 2, low, high)

    @property
    def is_range(self) -> bool:
        """Whether the ends differ."""
        return self.low != self.high

    def end(self, which: End) -> Self:
        """Return one end as a count without a range."""
        return type(self)(getattr(self, which))

    def written(self) -> int | str:
        """Return the notation in a scenario file."""
        return f"{self.low}..{self.high}" if self.is_range else int(self)

    canonical = written  # the hash of the meaning needs both ends

    def __eq__(self, other: object) -> bool:
        ends = (getattr(other, "low", other), getattr(other, "high", other))
        return int(self).__eq__(other) is True and ends == (self.low, self.high)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return int.__hash__(self)


OfADay = Annotated[AnyDistribution, Between(Duration(0), DAY)]
"""A distribution of times within a day."""
RTTS = Between(Duration(1e-6), Duration(60))
PACKETS = Between(DataSize(64), DataSize(65_535))
LOADS = Between(1e-6, 10.0, "share of link.rate")
NAME = r"^[A-Za-z0-9_.-]{1,64}$"
"""Pattern of the names of links and traffic classes."""
_SPANS = Between(Duration(0), DAY)
_LEAST_ON = Duration(1e-3)
_MOST_TIMES = 10_000


class Schedule(ScenarioModel):
    """On and off times, drawn for each flow from its start on, or the same times for all flows.

    >>> forebay.Schedule(on="10 s", off="5 s")
    Schedule(on='10 s', off='5 s')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.ScheduleDict]) -> None: ...

    on: Annotated[AnyDistribution | None, _SPANS] = such_as({"exponential": "2 s"})
    """How long a flow sends at a time: a distribution. It begins with its start."""
    off: Annotated[AnyDistribution | None, _SPANS] = such_as({"exponential": "5 s"})
    """How long it is silent between: a distribution."""
    times: tuple[tuple[Duration, Duration], ...] | None = such_as(
        [["0 s", "10 s"], ["20 s", "30 s"]]
    )
    """Or when all flows are switched on and off, ascending, from the run's start."""
    period: Annotated[Duration | None, Between(_LEAST_ON, DAY)] = None
    """After which times begin again; not set: they do not."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.times is None:
            missing = next((name for name in ("on", "off") if getattr(self, name) is None), None)
            if missing is not None:
                raise ScenarioError("missing.on-or-off", field=missing)
            if self.period is not None:
                raise ScenarioError("contradiction.period-without-times", field="period")
            for name, law in (("on", self.on), ("off", self.off)):
                if law is not None and law.mean < _LEAST_ON:
                    raise ScenarioError("out-of-range.on", field=name, law=law, least=_LEAST_ON)
            return self
        for name in ("on", "off"):
            if getattr(self, name) is not None:
                raise ScenarioError("contradiction.beside-times", field=name)
        self._check_times(self.times)
        return self

    def _check_times(self, times: tuple[tuple[Duration, Duration], ...]) -> None:
        instants = list(chain.from_iterable(times))
        end = DAY if self.period is None else self.period
        apart = all(later > sooner for sooner, later in pairwise(instants))
        faults = {
            "times.number": not 1 <= len(times) <= _MOST_TIMES,
            "times.descending": not apart or any(instant < 0 for instant in instants[:1]),
            "times.late": any(instant > end for instant in instants[-1:]),
        }
        for fault, holds in faults.items():
            if holds:
                wrong = Fact(fault, most=_MOST_TIMES, end=end)
                raise ScenarioError("out-of-range.schedule", wrong, field="times")

    def periods_in(self, seconds: float) -> float:
        """Return the expected on-times of a flow in ``seconds``."""
        if self.times is not None:
            cycles = 1.0 if self.period is None else seconds / self.period + 1.0
            return len(self.times) * cycles
        assert self.on is not None and self.off is not None, "by `_one_kind`"
        return 1.0 + seconds / (self.on.mean_within(seconds) + self.off.mean_within(seconds))


class Source(ScenarioModel):
    """A class of traffic: flows that are equal except for what is drawn for each."""

    kind: str
    name: Annotated[str | None, Strict(), Field(pattern=NAME)] = such_as("voip")
    """Name of the class in answers, different for each class; letters, digits, '_', '.' and '-'.
    Not set: its kind and its place in the list, "long-0" for the first."""
    direction: Literal["forward", "reverse"] = "forward"
    """The direction in which the data crosses the link. The ACKs cross it in the other direction,
    where they queue with the data of classes that go that way."""
    route: tuple[str, ...] = Field(default=(), examples=[["bottleneck", "core"]])
    """Names of the links that the data crosses, in order; not set: only the bottleneck."""
    goals: ClassGoals | None = None
    """Goals of this class."""
    return_route: tuple[str, ...] = ()
    """Names of the links that the ACKs cross, in order; not set: they queue nowhere."""
    access_rate: Annotated[Rate | None, RATES] = such_as("1 Gbit/s")
    """Rate of each flow's own link to the first queue; not set: ten times the bottleneck's, or the
    source's own peak if that is more. With an access link no faster than the bottleneck, one flow
    can fill the bottleneck evenly and lock out the others."""

    def access(self, link_rate: float) -> float:
        """Return the rate of a flow's access link, for a bottleneck rate; both in bit/s."""
        if self.access_rate is not None:
            return self.access_rate
        return max(10 * link_rate, self.flow_peak(link_rate))

    def flow_peak(self, link_rate: float) -> float:
        """Return the rate at which one flow sends whatever it loses, bit/s; 0 for TCP."""
        return 0.0

    def offered(self, link_rate: float) -> float | None:
        """Return the bit/s that all flows offer, no byte twice; None if TCP sets their rate."""
        return None

    def datagrams_in(self, seconds: float, link_rate: float) -> float:
        """Return the expected datagrams of all flows in ``seconds``; 0 for TCP."""
        return 0.0

    def transfers_in(self, seconds: float) -> float:
        """Return the expected files of all users in ``seconds``; 0 without users."""
        return 0.0

    def with_one_of(self, first: str, second: str, example: tuple[str, object]) -> Self:
        """Return the class if exactly one of two fields is set. Raises ScenarioError."""
        given = [name for name in (first, second) if getattr(self, name) is not None]
        if not given:
            raise ScenarioError(
                "missing.one-of-two", first=first, second=second, example=entry(*example)
            )
        if len(given) > 1:
            raise ScenarioError("contradiction.given-too", field=second, first=first, second=second)
        return self


class Standing(Source):
    """A class with a given number of flows, each of which starts once."""

    flows: Annotated[FlowCount, Between(1, MAX_FLOWS, "flows")] = Field(
        examples=[100, "8000..12000"]
    )
    """Number of flows of this class; for sessions, of users, for requests, of workers.
    "8000..12000" if only a range is known: a run then uses the middle, and a sizing serves both
    ends."""
    start: OfADay = Field(
        default=Distribution.uniform_between(Duration(0), Duration(10)),
        examples=[{"uniform": ["0 s", "10 s"]}],
    )
    """Start time of a flow, counted from the beginning of the run: a distribution. Not set: within
    the warm-up, and within 10 s at most; in a run without a warm-up, within the first fifth of its
    duration."""
    access_sharing: Annotated[int, Strict(), Between(1, MAX_FLOWS, "flows")] = 1
    """Number of flows that share one access link of access_rate; the last group may be smaller."""

    def starting(self, start: Distribution) -> Self:
        """Return the class with a start that nobody wrote."""
        group = self.model_copy(update={"start": start})
        group.model_fields_set.discard("start")
        return group

    @property
    def together(self) -> int:
        """Flows that start at one time, group after group."""
        return 1

    @property
    def access_links(self) -> int:
        """Access links of this class: its flows over `access_sharing`, rounded up."""
        return -(-self.flows // self.access_sharing)

    def starting_in(self, seconds: float, link_rate: float) -> float:
        """Return the expected flows that start in ``seconds``; of on/off flows, on-times."""
        return float(self.flows)

    def sending_share(self, begin: float, end: float) -> float:
        """Return the expected share of the flows that send at some time between two times."""
        return self.start.share_up_to(end)

    def sending(self, begin: float, end: float) -> Self:
        """Return the class with those that send at some time between two times, at least one."""
        share = self.sending_share(begin, end)
        if share >= 1.0:
            return self
        some = (self.flows, self.flows.low, self.flows.high)
        flows = FlowCount(*(max(1, round(share * number)) for number in some))
        return self.model_copy(update={"flows": flows})

    def peak(self, link_rate: float) -> float:
        """Return the maximum rate of all flows together at any time, bit/s."""
        return self.access_links * self.access(link_rate)


class Stopping(Standing):
    """A class whose flows may stop before the run ends."""

    stop: Annotated[AnyDistribution | None, Between(Duration(0), DAY)] = such_as(
        "30 s", {"uniform": ["20 s", "40 s"]}
    )
    """When the application of a flow stops, counted from the beginning of the run: a distribution.
    What TCP has sent by then is still sent again where it is lost; a user of sessions ends the file
    that has begun. Not set: never."""

    @property
    def ends_early(self) -> bool:
        """Whether flows may be silent before the run ends."""
        return self.stop is not None

    def sending_share(self, begin: float, end: float) -> float:
        gone = 0.0 if self.stop is None else self.stop.share_up_to(begin)
        return super().sending_share(begin, end) * (1.0 - gone)


class Switched(Stopping):
    """A class whose flows may be switched on and off."""

    schedule: Schedule | None = such_as(
        {"on": {"exponential": "2 s"}, "off": {"exponential": "5 s"}}
    )
    """When flows send: on and off times. Each on-time of TCP is a connection of its own. Not set:
    from start to stop."""

    @property
    def ends_early(self) -> bool:
        return super().ends_early or self.schedule is not None


class Datagrams(Switched):
    """A class that sends without congestion control."""

    def flow_rate(self, link_rate: float) -> float:
        """Return the mean rate of one flow while it sends, for a link rate; both in bit/s."""
        raise NotImplementedError

    def packets_in(self, seconds: float, link_rate: float) -> float:
        """Return the expected packets of all flows in ``seconds``."""
        raise NotImplementedError

    def offered(self, link_rate: float) -> float:
        return float(self.flows * self.flow_rate(link_rate))

    def datagrams_in(self, seconds: float, link_rate: float) -> float:
        return self.packets_in(seconds, link_rate)


class Sized(Source):
    """A class whose full packets have one size."""

    packet: Annotated[DataSize, PACKETS] = DataSize(1500)
    """Size of a full packet on the link, headers included."""

    @property
    def largest_packet(self) -> int:
        """Largest packet of its data, bytes."""
        return int(self.packet)


_FIRST = 0.2
"""Share of a run without a warm-up in which they start."""


def assumed_start(measure: Measure) -> Distribution | None:
    """Return when flows start if nobody wrote it; None where that is the default of their class."""
    most = Standing.model_fields["start"].default
    last = measure.warmup or Duration(_FIRST * measure.duration)
    return Distribution.uniform_between(Duration(0), last) if last < most.high else None


def with_starts(traffic: tuple[Traffic, ...], measure: Measure) -> tuple[Traffic, ...]:
    """Return the classes with the start that is assumed where none was written."""
    assumed = assumed_start(measure)
    groups: list[Traffic] = []
    for group in traffic:
        if isinstance(group, Standing) and "start" not in group.model_fields_set:
            usual = type(group).model_fields["start"].default
            start = usual if assumed is None or not usual.high else assumed
            groups.append(group if group.start == start else group.starting(start))
        else:
            groups.append(group)
    return tuple(groups)
