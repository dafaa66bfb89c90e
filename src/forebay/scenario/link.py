"""A link, what shapes or polices it, and the time that is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Unpack

from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    Strict,
    ValidationError,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from forebay.scenario.base import DAY, RATES, SHARE, Between, ScenarioModel, shorthand, such_as
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import Queue
from forebay.scenario.rate_trace import OR_FILE, RateTrace
from forebay.scenario.source import NAME
from forebay.words import Fact, entry

if TYPE_CHECKING:
    from forebay.scenario import inputs

Name = Literal["ethernet", "ptm", "atm"]


@dataclass(frozen=True, slots=True)
class Framing:
    """How a line frames a packet, with the fields of the simulator's framing.

    Attributes
    ----------
    overhead : bytes that are added to an IP packet, before cells or blocks.
    least : bytes that a packet with its overhead takes at least.
    payload, extra : bytes of a cell or block, and those that each begun one has besides.
    padded : whether the last one is filled up.
    """

    overhead: int
    least: int
    payload: int
    extra: int
    padded: bool

    def on_line(self, framed: int) -> int:
        """Return the bytes on the line of so many bytes, overhead included."""
        blocks = -(-framed // self.payload)
        return (blocks * self.payload if self.padded else framed) + blocks * self.extra

    def packet(self, size: int) -> int:
        """Return the bytes on the line of an IP packet."""
        return self.on_line(max(size + self.overhead, self.least))


FRAMINGS: dict[Name, Framing] = {
    # Preamble 8, addresses and type 14, checksum 4, gap 12; at least 84 (IEEE 802.3).
    "ethernet": Framing(38, 84, 1, 0, padded=False),
    # PPPoE 8, Ethernet 14 and its checksum 4, PTM 4 (tc-cake(8): pppoe-ptm); 64/65 encoding.
    "ptm": Framing(30, 0, 64, 1, padded=False),
    # PPPoE 8, Ethernet 14, LLC/SNAP 10, AAL5 8 (tc-cake(8): pppoe-llcsnap); cells of 53 with 48.
    "atm": Framing(40, 0, 48, 5, padded=True),
}
_LONGEST = Between(Duration(1e-9), Duration(60))


class Jitter(ScenarioModel):
    """A delay behind the wire, drawn for each packet by the seed, evenly from 0 to the longest.

    A duration alone is the longest.

    >>> forebay.Jitter(most="2 ms")
    Jitter(most='2 ms')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.JitterDict]) -> None: ...

    most: Annotated[Duration, _LONGEST] = Field(examples=["5 ms"])
    """The longest delay. It is no part of a flow's rtt, and no wait in the queue."""
    share: Annotated[float, Strict(), SHARE] = 1.0
    """Share of the packets that are delayed; the others are not."""
    reorder: Annotated[bool, Strict()] = False
    """Whether data that is delayed less overtakes other data; if not, what follows a packet waits
    until that has gone on. ACKs keep their order."""


_OR_LONGEST = shorthand("most", object, Duration | Jitter | None)
"""Validator of a field with a Jitter: what is no table is its longest."""

_PROBABILITY = Between(0, 1, "fraction")
_Probability = Annotated[float, Strict(), _PROBABILITY]
_CHANGES = ("good_to_bad", "bad_to_good")


class Loss(ScenarioModel):
    """Random loss of a link, by its seed: independent (Bernoulli), or in bursts (Gilbert-Elliott).

    A number alone is the rate.

    >>> forebay.Loss(loss_in_bad=0.2, good_to_bad=0.001, bad_to_good=0.1)
    Loss(good_to_bad=0.001, bad_to_good=0.1, loss_in_bad=0.2)
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.LossDict]) -> None: ...

    rate: _Probability | None = such_as(0.001)
    """Probability of each loss, independent of the others. Or leave it out and write good_to_bad
    and bad_to_good."""
    good_to_bad: _Probability | None = None
    """Gilbert-Elliott channel: probability that the state has changed from good to bad when the
    next packet comes (tc netem gemodel's p)."""
    bad_to_good: _Probability | None = None
    """The same from bad to good (gemodel's r): bursts last 1 / bad_to_good packets."""
    loss_in_bad: _Probability | None = None
    """Probability of loss in the bad state (gemodel's 1-h); 1 if it is not set."""
    loss_in_good: _Probability | None = None
    """Probability of loss in the good state (gemodel's 1-k); 0 if it is not set."""
    unit: Literal["packet", "byte"] = "packet"
    """What the probabilities of loss are of: a packet, or each byte of it. A packet of n bytes is
    then lost with probability 1 - (1 - p)^n."""
    place: Literal["after-queue", "before-queue"] = "after-queue"
    """"after-queue": on the wire; lost packets have waited and take their time of the link.
    "before-queue": the queue never sees them."""

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        changes = [name for name in _CHANGES if getattr(self, name) is not None]
        lossy = ("loss_in_bad", "loss_in_good")
        states = [*changes, *(name for name in lossy if getattr(self, name) is not None)]
        if self.rate is not None and states:
            raise ScenarioError("contradiction.beside-rate", field=states[0])
        if self.rate is None and len(changes) < len(_CHANGES):
            missing = next(name for name in _CHANGES if name not in changes)
            field = missing if states else "rate"
            example = entry(field, 0.25 if states else 0.001)
            raise ScenarioError("missing.loss", field=field, example=example)
        return self

    @property
    def in_states(self) -> tuple[float, float]:
        """Probability of loss in the good and in the bad state."""
        if self.rate is not None:
            return self.rate, self.rate
        good, bad = self.loss_in_good, self.loss_in_bad
        return (0.0 if good is None else good), (1.0 if bad is None else bad)

    @property
    def changes(self) -> tuple[float, float]:
        """Probability that the state changes from good to bad, and back."""
        return self.good_to_bad or 0.0, 1.0 if self.bad_to_good is None else self.bad_to_good

    def mean(self, packet: int) -> float:
        """Return the share of packets of so many bytes that are lost in the long run."""
        to_bad, to_good = self.changes
        bad = to_bad / (to_bad + to_good) if to_bad else 0.0
        good_loses, bad_loses = (
            state if self.unit == "packet" else 1.0 - (1.0 - state) ** packet
            for state in self.in_states
        )
        return (1.0 - bad) * good_loses + bad * bad_loses


_OR_RATE = shorthand("rate", int | float, float | Loss | None, "wrong-type.loss")
"""Validator of a field with a Loss: a number is its rate."""

_MOST = 100_000


class Outages(ScenarioModel):
    """When a link is down: it sends nothing. A list alone is the times.

    >>> forebay.Outages(times=[["1 s", "1.5 s"]])
    Outages(times=[['1 s', '1.5 s']])
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.OutagesDict]) -> None: ...

    times: tuple[tuple[Duration, Duration], ...] = Field(examples=[[["10 s", "12 s"]]])
    """When it goes down and when up again, ascending, from the run's start."""
    period: Annotated[Duration | None, Between(Duration(1e-6), DAY)] = None
    """After which they begin again; not set: they do not."""
    queue: Literal["hold", "drop"] = "hold"
    """What becomes of packets that arrive meanwhile: "hold" lets them wait, as far as the queue has
    room; "drop" drops them. What waits stays either way."""

    @model_validator(mode="after")
    def _ascend(self) -> Self:
        instants = list(chain.from_iterable(self.times))
        gaps = [later - sooner for sooner, later in pairwise(instants)]
        end = DAY if self.period is None else self.period
        around = [
            *instants[:1],
            *([] if self.period is None else [end - max(instants, default=end)]),
        ]
        always = self.period is not None and len(instants) == 2 and instants == [0, self.period]
        faults = {
            "times.number": not 1 <= len(self.times) <= _MOST,
            "times.descending": min(gaps, default=1) < 0 or min(instants, default=0) < 0,
            "times.touching": 0 in gaps[1::2],
            "times.close": min(gaps, default=1) < 1e-6,
            "times.close-to-an-end": any(0 < gap < 1e-6 for gap in around),
            "times.late": instants and instants[-1] > end,
            "times.always-down": always,
        }
        for fault, holds in faults.items():
            if holds:
                wrong = Fact(fault, most=_MOST, end=end)
                raise ScenarioError("out-of-range.outages", wrong, field="times")
        return self

    @property
    def share_up(self) -> float:
        """Share of the period in which it sends; 1 where the outages do not repeat."""
        if self.period is None:
            return 1.0
        return 1.0 - sum(up - down for down, up in self.times) / self.period

    def rates(self, rate: Rate) -> RateTrace:
        """Return the rate over time of a link that has this rate while it is up."""
        steps = [(Duration(0), rate)]
        for down, up in self.times:
            steps += [(down, Rate(0)), (up, rate)]
        if float(steps[1][0]) == 0.0:
            del steps[0]
        length = self.period or Duration(steps[-1][0] + 1)
        if steps[-1][0] == length:
            del steps[-1]
        repeat = self.period is not None
        # Nothing is left to check; and the last step may lie at the end of the longest period.
        return RateTrace.model_construct(steps=tuple(steps), period=length, repeat=repeat)


_OR_TIMES = shorthand(
    "times", list | tuple, tuple[tuple[Duration, Duration], ...] | Outages | None,
    "wrong-type.outages",
)  # fmt: skip
"""Validator of a field with Outages: a list is their times."""

_BURSTS = Between(DataSize(100), DataSize(10**12))
_EXCESSES = Between(DataSize(0), DataSize(10**12))


class TokenBucket(ScenarioModel):
    """A token bucket: a rate, and the burst by which traffic may exceed it. It starts full.

    >>> forebay.TokenBucket(rate="50 Mbit/s", burst="15 kB")
    TokenBucket(rate='50 Mbit/s', burst='15000 B')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.TokenBucketDict]) -> None: ...

    rate: Annotated[Rate, RATES] = Field(examples=["21 Mbit/s"])
    """Rate of the tokens (CIR); at most the rate of the link."""
    burst: Annotated[DataSize | None, _BURSTS] = such_as("72 kB")
    """Committed burst (Bc; tc's burst): at least the largest packet. Required, except with refill =
    "deficit", which keeps no tokens."""
    excess: Annotated[DataSize, _EXCESSES] = DataSize(0)
    """Excess burst (Be): the bucket holds this much more after a pause."""
    refill: Literal["continuous", "interval", "deficit"] = "continuous"
    """How tokens arrive: "continuous", as in tc's tbf, or Bc of them in each "interval" Tc = Bc /
    rate, as in a router that shapes by a timer. "deficit" keeps no tokens: packets leave as from a
    wire of the shaper's rate (tc cake's bandwidth)."""

    @model_validator(mode="after")
    def _burst_where_tokens_are_kept(self) -> Self:
        keeps = self.refill != "deficit"
        if keeps and self.burst is None:
            raise ScenarioError("missing.burst", field="burst")
        if not keeps and (self.burst is not None or self.excess):
            field = "excess" if self.burst is None else "burst"
            raise ScenarioError("contradiction.no-tokens", field=field)
        return self

    @property
    def depth(self) -> int:
        """Size of the bucket, bytes."""
        return int((self.burst or 0) + self.excess)

    @property
    def interval(self) -> Duration:
        """Tc, the time in which Bc is refilled, seconds."""
        return Duration(8 * (self.burst or 0) / self.rate)


def _rate_or_trace(schema: dict[str, Any]) -> None:
    """Say in the JSON Schema that one of the two is required."""
    schema["required"] = [name for name in schema["required"] if name != "rate"]
    schema["anyOf"] = [{"required": ["rate"]}, {"required": ["rate_trace"]}]


_PROPAGATION = Between(Duration(0), Duration(60))


class Link(ScenarioModel):
    """The link under study, the bottleneck.

    >>> forebay.Link(rate="10 Gbit/s", delay="5 ms")
    Link(rate='10 Gbit/s', delay='5 ms')
    """

    model_config = ConfigDict(json_schema_extra=_rate_or_trace)

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.LinkDict]) -> None: ...

    rate: Annotated[Rate, RATES] = Field(examples=["155 Mbit/s"])
    """Capacity of the bottleneck; with a rate_trace it is that's mean."""
    delay: Annotated[Duration, _PROPAGATION] = Duration(0)
    """Propagation delay to the next link of a route; it is a part of a flow's rtt."""
    shaper: TokenBucket | None = None
    """Holds packets in the queue, which is then the shaping queue, until its bucket has tokens for
    them; they leave at the link's rate. Sizes in time and in bandwidth-delay products, loads and
    utilization refer to the shaper's rate."""
    policer: TokenBucket | None = None
    """Drops a packet for which its bucket has no tokens, before the queue. Bandwidth-delay products
    refer to its rate, where that is less than the link's."""
    reverse_rate: Annotated[Rate | None, RATES] = such_as("100 Mbit/s")
    """Rate of the opposite direction, which classes with direction = "reverse" cross; by default
    the link's own. Shapers and policers are of the forward direction."""
    loss: Annotated[Loss | None, _OR_RATE] = such_as(0.001)
    """Packets that the link itself loses; a number is the rate of independent loss."""
    rate_trace: Annotated[RateTrace | None, OR_FILE] = such_as("lte.csv")
    """The rate over time, instead of rate; text is the path of a file. Sizes in time and in
    bandwidth-delay products, and loads refer to its mean."""
    down: Annotated[Outages | None, _OR_TIMES] = such_as([["10 s", "12 s"]])
    """When the link does not send; a list is pairs of when it goes down and comes up. With a
    period, sizes in time and in bandwidth-delay products, and loads refer to the mean rate, that of
    the times up and down."""
    jitter: Annotated[Jitter | None, _OR_LONGEST] = such_as("5 ms")
    """A delay behind the wire that is drawn for each packet; a duration is the longest."""

    framing: Name | None = None
    """What the line adds to each packet, which is then IP alone: "atm" 40 B and cells of 53 B with
    48, "ptm" 30 B and 1 in 64, "ethernet" 38 B and at least 84. The rate, and a shaper's, are the
    line's; sizes in time and in bandwidth-delay products, and loads refer to what is left for full
    packets."""
    _packet: int = PrivateAttr(default=1500)

    @model_validator(mode="before")
    @classmethod
    def _mean_is_the_rate(cls, data: Any, info: ValidationInfo) -> Any:
        written = data.get("rate_trace") if isinstance(data, Mapping) else None
        if written is None:
            return data
        if data.get("rate") is not None:
            raise ScenarioError("contradiction.rate-beside-trace", field="rate")
        try:
            is_table = isinstance(written, Mapping | RateTrace)
            table = written if is_table else {"file": written}
            trace = RateTrace.model_validate(table, context=info.context)
        except (ValidationError, ScenarioError):
            return {**data, "rate": "1 Mbit/s"}  # the field itself then says what is wrong
        mean = trace.mean
        if not RATES.least <= mean <= RATES.most:
            kind, where = "out-of-range.mean-rate", "rate_trace"
            raise ScenarioError(kind, field=where, value=mean, range=RATES.range)
        return {**data, "rate_trace": trace, "rate": mean}

    @model_validator(mode="after")
    def _rate_was_not_written(self) -> Self:
        if self.rate_trace is not None:
            self.model_fields_set.discard("rate")
        return self

    @model_serializer(mode="wrap")
    def _without_mean(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        if self.rate_trace is not None:
            written.pop("rate", None)  # not there where only fields that were set are written
        return written

    def on_line(self, packet: int) -> int:
        """Return the bytes on the line of a packet."""
        return packet if self.framing is None else FRAMINGS[self.framing].packet(packet)

    def with_packets(self, packet: int) -> Self:
        """Return the link whose capacity is that for full packets of so many bytes."""
        if self.framing is None or packet == self._packet:
            return self
        other = self.model_copy()
        object.__setattr__(other, "__pydantic_private__", {"_packet": packet})  # it is frozen
        return other

    @property
    def capacity(self) -> Rate:
        """The mean rate at which the queue is served with full packets, without framing, bit/s."""
        line = self.line_capacity
        if self.framing is None:
            return line
        return Rate(float(f"{line * self._packet / self.on_line(self._packet):.9g}"))

    @property
    def line_capacity(self) -> Rate:
        """The mean rate of the line for the queue: the shaper's, else the link's own, bit/s."""
        if self.shaper is not None:
            return self.shaper.rate
        return self.rate if self.down is None else Rate(self.rate * self.down.share_up)

    @property
    def unshaped(self) -> Self:
        """The link without a shaper, at the rate that its shaper gives it."""
        return self.model_copy(update={"rate": self.line_capacity, "shaper": None})

    def slower(self, factor: float) -> Self:
        """Return the link with its rates, its shaper's and its trace's divided by ``factor``."""
        changes: dict[str, Any] = {"rate": Rate(float(self.rate) / factor)}
        if self.reverse_rate is not None:
            changes["reverse_rate"] = Rate(float(self.reverse_rate) / factor)
        if self.shaper is not None:
            rate = Rate(float(self.shaper.rate) / factor)
            changes["shaper"] = self.shaper.model_copy(update={"rate": rate})
        if self.rate_trace is not None:
            changes["rate_trace"] = self.rate_trace.scaled(1.0 / factor)
        return self.model_copy(update=changes)

    @property
    def opposite(self) -> Link:
        """The link of the other direction: without this one's buckets, at a rate of its own."""
        changes: dict[str, Any] = {"shaper": None, "policer": None}
        if self.reverse_rate is not None:
            changes |= {"rate": self.reverse_rate, "rate_trace": None}
        return self.model_copy(update=changes)

    @property
    def rates(self) -> RateTrace | None:
        """The rate over time; None if it is constant."""
        return self.rate_trace if self.down is None else self.down.rates(self.rate)


class OtherLink(Link):
    """A further link that routes may cross, with its own queue.

    >>> forebay.OtherLink(name="core", rate="10 Gbit/s")
    OtherLink(rate='10 Gbit/s', name='core')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.OtherLinkDict]) -> None: ...

    name: Annotated[str, Strict(), Field(pattern=NAME)] = Field(examples=["access"])
    """Name of the link in routes; letters, digits, '_', '.' and '-'."""
    queue: Queue = Queue.model_construct()
    """The buffer in front of it."""


class Measure(ScenarioModel):
    """The measured window.

    >>> forebay.Measure(warmup="5 s", duration="30 s")
    Measure(warmup='5 s', duration='30 s')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.MeasureDict]) -> None: ...

    warmup: Annotated[Duration, Between(Duration(0), DAY)] = Duration(20)
    """Time before anything is counted."""
    duration: Annotated[Duration, Between(Duration(1e-3), DAY)] = Duration(40)
    """Time during which everything is counted."""
