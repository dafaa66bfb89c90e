"""Goals for the buffer: of the link, and of one traffic class."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, Unpack

from pydantic import Discriminator, Field, GetCoreSchemaHandler, Strict, Tag, model_validator
from pydantic_core import CoreSchema, core_schema

from forebay.catalogue import KINDS
from forebay.scenario.base import SHARE, Between, ScenarioModel, such_as
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration, Rate

if TYPE_CHECKING:
    from forebay.scenario import inputs


class AtLeastTable(ScenarioModel):
    """The share of the round trips that reach the fraction is at least ``probability``."""

    example: ClassVar[dict[str, Any]] = {"at_least": 0.98, "probability": 0.99}
    at_least: Annotated[float, Strict()] = Field(examples=[0.98])
    """The least share."""
    probability: Annotated[float, Strict(), SHARE] = Field(examples=[0.99])
    """The share of the round trips that reach it."""


class AtMostTable(ScenarioModel):
    """The share of the round trips that stay below the fraction is at least ``probability``."""

    example: ClassVar[dict[str, Any]] = {"at_most": 0.01, "probability": 0.99}
    at_most: Annotated[float, Strict()] = Field(examples=[0.01])
    """The most."""
    probability: Annotated[float, Strict(), SHARE] = Field(examples=[0.99])
    """The share of the round trips that reach it."""


def _form_of(value: object) -> str:
    is_table = isinstance(value, Mapping | AtLeastTable | AtMostTable)
    return "table" if is_table else "number"


class Target(float):
    """The target fraction; ``probability`` is None if the target is for the mean.

    With a probability it is a goal as in Yang, Zhang, Xu 2013 (§III): the share of round trips that
    reach the fraction, each by itself, is at least ``probability``.
    """

    forms: ClassVar[Any]
    """The discriminated union of its notations: a number, or a table."""
    sense: ClassVar[str]
    probability: float | None

    def __new__(cls, value: float, probability: float | None = None) -> Self:
        target = super().__new__(cls, value)
        target.probability = probability
        return target

    @classmethod
    def _of(cls, written: Any) -> Self:
        if isinstance(written, float):
            return cls(written)
        return cls(getattr(written, cls.sense), written.probability)

    def written(self) -> float | dict[str, float]:
        """Return the notation in a scenario file."""
        if self.probability is None:
            return float(self)
        return {self.sense: float(self), "probability": self.probability}

    def __eq__(self, other: object) -> bool:
        same = getattr(other, "probability", None) == self.probability
        return same and float(self).__eq__(other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((float(self), self.probability))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(cls.written)
        return core_schema.no_info_wrap_validator_function(
            lambda value, read: value if isinstance(value, cls) else cls._of(read(value)),
            handler.generate_schema(cls.forms),
            serialization=written,
        )


_Number = Annotated[float, Strict(), Tag("number")]


class AtLeast(Target):
    """0.98, or { at_least = 0.98, probability = 0.99 }."""

    sense = "at_least"
    forms = Annotated[_Number | Annotated[AtLeastTable, Tag("table")], Discriminator(_form_of)]


class AtMost(Target):
    """0.01, or { at_most = 0.01, probability = 0.99 }."""

    sense = "at_most"
    forms = Annotated[_Number | Annotated[AtMostTable, Tag("table")], Discriminator(_form_of)]


_DELAYS = Between(Duration(1e-9), Duration(3600))
_SHARE = Between(0.0, 1.0, "fraction")
_INCREASE = Between(0.0, 1000.0, "fraction")

_FCT_INCREASE = (
    "At most this increase of the mean flow completion time over a buffer in which nothing is "
    "dropped (0.125: one eighth longer); needs flows that complete."
)

COMPLETING_KINDS = frozenset(kind.name for kind in KINDS.values() if kind.completes)
"""Kinds of traffic whose flows end."""

OPEN_LOOP_KINDS = frozenset(kind.name for kind in KINDS.values() if kind.open_loop)
"""Kinds of traffic that do not respond to loss: real-time traffic."""


class QueueDelay(ScenarioModel):
    """Waiting time in the queue; any of these can be combined. The older names outside of this
    table have the same meaning.

    >>> forebay.QueueDelay(quantile=0.999, at_most="20 ms")
    QueueDelay(quantile=0.999, at_most='20 ms')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.QueueDelayDict]) -> None: ...

    maximum: Annotated[Duration | None, _DELAYS] = such_as("10 ms")
    """No packet waits longer."""
    quantile: Annotated[float | None, Strict(), Between(0.001, 0.999999, "fraction")] = such_as(
        0.999
    )
    """The share of the packets that wait no longer than `at_most`."""
    at_most: Annotated[Duration | None, _DELAYS] = such_as("5 ms")
    """The longest waiting time of `quantile`."""
    mean: Annotated[Duration | None, _DELAYS] = such_as("5 ms")
    """At most this mean waiting time."""

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if (self.quantile is None) != (self.at_most is None):
            missing = "quantile" if self.quantile is None else "at_most"
            raise ScenarioError("missing.of-a-pair", missing=missing)
        if self.model_fields_set == frozenset():
            raise ScenarioError("missing.any-goal")
        return self


class Goals(ScenarioModel):
    """Goals for the buffer; a goal that is not set is not checked.

    >>> forebay.Goals(utilization=0.98, queue_delay_p99="10 ms")
    Goals(utilization=0.98, queue_delay_p99='10 ms')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.GoalsDict]) -> None: ...

    utilization: Annotated[AtLeast | None, Between(0.001, 1.0, "fraction")] = such_as(
        0.98, {"at_least": 0.98, "probability": 0.99}
    )
    """At least this share of the link's capacity is used: over the measured window, or with {
    at_least = 0.98, probability = 0.99 } in 99 % of the round trips."""
    loss_rate: Annotated[AtMost | None, _SHARE] = such_as(
        0.01, {"at_most": 0.01, "probability": 0.99}
    )
    """At most this share of the packets is dropped: over the measured window, or with { at_most =
    0.01, probability = 0.99 } in 99 % of the round trips."""
    queue_delay: QueueDelay | None = None
    """Waiting time: maximum, any quantile, mean."""
    queue_delay_mean: Annotated[Duration | None, _DELAYS] = such_as("5 ms")
    """At most this mean waiting time."""
    queue_delay_p99: Annotated[Duration | None, _DELAYS] = such_as("20 ms")
    """At most this 99th percentile of the waiting time; never below the mean's."""
    fct_increase: Annotated[float | None, Strict(), _INCREASE] = Field(
        default=None, description=_FCT_INCREASE, examples=[0.125]
    )
    realtime_loss: Annotated[float | None, Strict(), _SHARE] = such_as(0.001)
    """At most this share of the packets of real-time classes, which do not respond to loss, is
    dropped."""

    @property
    def need_round_trips(self) -> bool:
        """Whether a goal is about the share of round trips."""
        targets = (self.utilization, self.loss_rate)
        return any(t is not None and t.probability is not None for t in targets)


class ClassGoals(ScenarioModel):
    """Goals of one class, written in its [[traffic]]: `goals = { loss_rate = 0.001 }`.

    >>> forebay.ClassGoals(loss_rate=0.001)
    ClassGoals(loss_rate=0.001)
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.ClassGoalsDict]) -> None: ...

    throughput: Annotated[Rate | None, Between(Rate(1), Rate(1e13))] = such_as("30 Mbit/s")
    """At least this rate on the link, all flows of the class together."""
    loss_rate: Annotated[float | None, Strict(), _SHARE] = such_as(0.001)
    """At most this share of its packets is dropped."""
    queue_delay_mean: Annotated[Duration | None, _DELAYS] = such_as("5 ms")
    """At most this mean wait of its packets in the queue under study, whichever discipline it
    has."""
    queue_delay_p99: Annotated[Duration | None, _DELAYS] = such_as("20 ms")
    """At most this 99th percentile of that wait."""
    fct_mean: Annotated[Duration | None, _DELAYS] = such_as("1 s")
    """At most this mean flow completion time."""
    fct_p99: Annotated[Duration | None, _DELAYS] = such_as("5 s")
    """At most this 99th percentile of the flow completion time."""
    fct_increase: Annotated[float | None, Strict(), _INCREASE] = Field(
        default=None, description=_FCT_INCREASE, examples=[0.125]
    )
    request_mean: Annotated[Duration | None, _DELAYS] = such_as("5 ms")
    """At most this mean time of a request until its last answer has arrived; of kind "requests"."""
    request_p99: Annotated[Duration | None, _DELAYS] = such_as("10 ms")
    """At most this 99th percentile of it."""

    def slower(self, factor: float) -> Self:
        """Return the goals on a link whose rate is divided by ``factor``."""
        if self.throughput is None:
            return self
        return self.model_copy(update={"throughput": Rate(float(self.throughput) / factor)})
