"""A link, what shapes or polices it, and the time that is measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

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

from forebay.errors import entry
from forebay.scenario.base import DAY, RATES, Between, ScenarioModel
from forebay.scenario.errors import ScenarioError
from forebay.scenario.framing import FRAMINGS, Name
from forebay.scenario.jitter import DURATION_OR_TABLE, Jitter
from forebay.scenario.loss import RATE_OR_TABLE, Loss
from forebay.scenario.outages import TIMES_OR_TABLE, Outages
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import Queue
from forebay.scenario.rate_trace import FILE_OR_TABLE, RateTrace, file_alone
from forebay.scenario.source import NAME

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import (
        LinkDict,
        MeasureDict,
        OtherLinkDict,
        TokenBucketDict,
    )


_BURSTS = Between(DataSize(100), DataSize(10**12))
_EXCESSES = Between(DataSize(0), DataSize(10**12))


class TokenBucket(ScenarioModel):
    """A token bucket: a rate, and the burst by which traffic may exceed it. It starts full."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[TokenBucketDict]) -> None: ...

    rate: Annotated[Rate, RATES] = Field(
        description="Rate of the tokens (CIR); at most the rate of the link.",
        examples=["21 Mbit/s"],
    )
    burst: Annotated[DataSize | None, _BURSTS] = Field(
        default=None,
        description="Committed burst (Bc; tc's burst): at least the largest packet. Required, "
        'except with refill = "deficit", which keeps no tokens.',
        examples=["72 kB"],
    )
    excess: Annotated[DataSize, _EXCESSES] = Field(
        default=DataSize(0),
        description="Excess burst (Be): the bucket holds this much more after a pause.",
    )
    refill: Literal["continuous", "interval", "deficit"] = Field(
        default="continuous",
        description='How tokens arrive: "continuous", as in tc\'s tbf, or Bc of them in each '
        '"interval" Tc = Bc / rate, as in a router that shapes by a timer. "deficit" keeps no '
        "tokens: packets leave as from a wire of the shaper's rate (tc cake's bandwidth).",
    )

    @model_validator(mode="after")
    def _burst_where_tokens_are_kept(self) -> Self:
        keeps = self.refill != "deficit"
        if keeps and self.burst is None:
            hint = f"write one, such as {entry('burst', '15 kB')}, or {entry('refill', 'deficit')}"
            raise ScenarioError("missing", "is not written", hint, field="burst")
        if not keeps and (self.burst is not None or self.excess):
            field = "excess" if self.burst is None else "burst"
            wrong = 'refill = "deficit" keeps no tokens'
            hint = "leave it out, or write another refill"
            raise ScenarioError("contradiction", wrong, hint, field=field)
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
    """The link under study, the bottleneck."""

    model_config = ConfigDict(json_schema_extra=_rate_or_trace)

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[LinkDict]) -> None: ...

    rate: Annotated[Rate, RATES] = Field(
        description="Capacity of the bottleneck; with a rate_trace it is that's mean.",
        examples=["155 Mbit/s"],
    )
    delay: Annotated[Duration, _PROPAGATION] = Field(
        default=Duration(0),
        description="Propagation delay to the next link of a route; it is a part of a flow's rtt.",
    )
    shaper: TokenBucket | None = Field(
        default=None,
        description="Holds packets in the queue, which is then the shaping queue, until its "
        "bucket has tokens for them; they leave at the link's rate. Sizes in time"
        " and in bandwidth-delay products, loads and utilization refer to the "
        "shaper's rate.",
    )
    policer: TokenBucket | None = Field(
        default=None,
        description="Drops a packet for which its bucket has no tokens, before the queue. "
        "Bandwidth-delay products refer to its rate, where that is less than the link's.",
    )
    reverse_rate: Annotated[Rate | None, RATES] = Field(
        default=None,
        description='Rate of the opposite direction, which classes with direction = "reverse" '
        "cross; by default the link's own. Shapers and policers are of the forward direction.",
        examples=["100 Mbit/s"],
    )
    loss: Annotated[Loss | None, RATE_OR_TABLE] = Field(
        default=None,
        description="Packets that the link itself loses; a number is the rate of independent loss.",
        examples=[0.001],
    )
    rate_trace: Annotated[RateTrace | None, FILE_OR_TABLE] = Field(
        default=None,
        description="The rate over time, instead of rate; text is the path of a file. Sizes in time"
        " and in bandwidth-delay products, and loads refer to its mean.",
        examples=["lte.csv"],
    )
    down: Annotated[Outages | None, TIMES_OR_TABLE] = Field(
        default=None,
        description="When the link does not send; a list is pairs of when it goes down and comes "
        "up. With a period, sizes in time and in bandwidth-delay products, and loads refer to the "
        "mean rate, that of the times up and down.",
        examples=[[["10 s", "12 s"]]],
    )
    jitter: Annotated[Jitter | None, DURATION_OR_TABLE] = Field(
        default=None,
        description="A delay behind the wire that is drawn for each packet; a duration is the "
        "longest.",
        examples=["5 ms"],
    )

    framing: Name | None = Field(
        default=None,
        description='What the line adds to each packet, which is then IP alone: "atm" 40 B and '
        'cells of 53 B with 48, "ptm" 30 B and 1 in 64, "ethernet" 38 B and at least 84. The '
        "rate, and a shaper's, are the line's; sizes in time and in bandwidth-delay products, and "
        "loads refer to what is left for full packets.",
    )
    _packet: int = PrivateAttr(default=1500)

    @model_validator(mode="before")
    @classmethod
    def _mean_is_the_rate(cls, data: Any, info: ValidationInfo) -> Any:
        written = data.get("rate_trace") if isinstance(data, Mapping) else None
        if written is None:
            return data
        if data.get("rate") is not None:
            wrong, hint = "cannot be set beside rate_trace", "leave it out: it is the trace's mean"
            raise ScenarioError("contradiction", wrong, hint, field="rate")
        try:
            trace = RateTrace.model_validate(file_alone(written), context=info.context)
        except (ValidationError, ScenarioError):
            return {**data, "rate": "1 Mbit/s"}  # the field itself then says what is wrong
        return {**data, "rate_trace": trace, "rate": trace.mean}

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
    """A further link that routes may cross, with its own queue."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[OtherLinkDict]) -> None: ...

    name: Annotated[str, Strict(), Field(pattern=NAME)] = Field(
        description="Name of the link in routes; letters, digits, '_', '.' and '-'.",
        examples=["access"],
    )
    queue: Queue = Field(default=Queue.model_construct(), description="The buffer in front of it.")


class Measure(ScenarioModel):
    """The measured window."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[MeasureDict]) -> None: ...

    warmup: Annotated[Duration, Between(Duration(0), DAY)] = Field(
        default=Duration(20), description="Time before anything is counted."
    )
    duration: Annotated[Duration, Between(Duration(1e-3), DAY)] = Field(
        default=Duration(40), description="Time during which everything is counted."
    )
