"""What the buffer must reach: goals of the link, and of one class of traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, Strict, model_validator

from forebay.errors import literal
from forebay.scenario.base import ScenarioModel
from forebay.scenario.bounds import Between
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration, Rate
from forebay.scenario.target import AtLeast, AtMost

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import ClassGoalsDict, GoalsDict, QueueDelayDict

_DELAYS = Between(Duration(1e-9), Duration(3600))
_MAXIMUM, _QUANTILE = {"maximum": "10 ms"}, {"quantile": 0.999, "at_most": "5 ms"}
_SHARE = Between(0.0, 1.0, "fraction")
_INCREASE = Between(0.0, 1000.0, "fraction")

_FCT_INCREASE = (
    "At most this increase of the mean flow completion time over a buffer in which nothing is "
    "dropped (0.125: one eighth longer); asks for flows that complete."
)


COMPLETING_KINDS = frozenset({"short", "session"})
"""Kinds of traffic whose flows end."""

OPEN_LOOP_KINDS = frozenset({"udp", "onoff", "video", "replay"})
"""Kinds of traffic that do not answer to loss: real-time."""

COMPLETION_GOALS = ("fct_mean", "fct_p99", "fct_increase")
"""Goals of a class that only flows with an end can meet or miss."""


class QueueDelay(ScenarioModel):
    """Waiting time in the queue, any of these together; the old names beside it do the same."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[QueueDelayDict]) -> None: ...

    maximum: Annotated[Duration | None, _DELAYS] = Field(
        default=None, description="No packet waits longer.", examples=["10 ms"]
    )
    quantile: Annotated[float | None, Strict(), Between(0.001, 0.999999, "fraction")] = Field(
        default=None,
        description="The share of the packets that wait no longer than `at_most`.",
        examples=[0.999],
    )
    at_most: Annotated[Duration | None, _DELAYS] = Field(
        default=None, description="What `quantile` waits at most.", examples=["5 ms"]
    )
    mean: Annotated[Duration | None, _DELAYS] = Field(
        default=None, description="At most this mean waiting time.", examples=["5 ms"]
    )

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if (self.quantile is None) != (self.at_most is None):
            missing = "quantile" if self.quantile is None else "at_most"
            wrong = f"{missing} is missing: the two belong together"
            hint = f"write {literal(_QUANTILE)}, or {literal(_MAXIMUM)}"
            raise ScenarioError("missing", wrong, hint)
        if self.model_fields_set == frozenset():
            hint = f"write {literal(_MAXIMUM)} or {literal(_QUANTILE)}"
            raise ScenarioError("missing", "asks for nothing", hint)
        return self


class Goals(ScenarioModel):
    """What the buffer must reach; a goal that is not given is not checked."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[GoalsDict]) -> None: ...

    utilization: Annotated[AtLeast | None, Between(0.001, 1.0, "fraction")] = Field(
        default=None,
        description="At least this share of the link's capacity is used: over the measured "
        "window, or with { at_least = 0.98, probability = 0.99 } in 99 % of the round trips.",
        examples=[0.98, {"at_least": 0.98, "probability": 0.99}],
    )
    loss_rate: Annotated[AtMost | None, _SHARE] = Field(
        default=None,
        description="At most this share of the packets is dropped: over the measured window, or "
        "with { at_most = 0.01, probability = 0.99 } in 99 % of the round trips.",
        examples=[0.01, {"at_most": 0.01, "probability": 0.99}],
    )
    queue_delay: QueueDelay | None = Field(
        default=None, description="Waiting time: maximum, any quantile, mean."
    )
    queue_delay_mean: Annotated[Duration | None, _DELAYS] = Field(
        default=None, description="At most this mean waiting time.", examples=["5 ms"]
    )
    queue_delay_p99: Annotated[Duration | None, _DELAYS] = Field(
        default=None,
        description="At most this 99th percentile of the waiting time; never below the mean's.",
        examples=["20 ms"],
    )
    fct_increase: Annotated[float | None, Strict(), _INCREASE] = Field(
        default=None, description=_FCT_INCREASE, examples=[0.125]
    )
    realtime_loss: Annotated[float | None, Strict(), _SHARE] = Field(
        default=None,
        description="At most this share of the packets of real-time classes, those that do not "
        "answer to loss, is dropped.",
        examples=[0.001],
    )


class ClassGoals(ScenarioModel):
    """What one class must get, written in its [[traffic]]: `goals = { loss_rate = 0.001 }`."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ClassGoalsDict]) -> None: ...

    throughput: Annotated[Rate | None, Between(Rate(1), Rate(1e13))] = Field(
        default=None,
        description="At least this rate on the link, all flows of the class together.",
        examples=["30 Mbit/s"],
    )
    loss_rate: Annotated[float | None, Strict(), _SHARE] = Field(
        default=None, description="At most this share of its packets is dropped.", examples=[0.001]
    )
    fct_mean: Annotated[Duration | None, _DELAYS] = Field(
        default=None, description="At most this mean flow completion time.", examples=["1 s"]
    )
    fct_p99: Annotated[Duration | None, _DELAYS] = Field(
        default=None,
        description="At most this 99th percentile of the flow completion time.",
        examples=["5 s"],
    )
    fct_increase: Annotated[float | None, Strict(), _INCREASE] = Field(
        default=None, description=_FCT_INCREASE, examples=[0.125]
    )
