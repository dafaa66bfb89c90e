"""Requests that many workers answer at once: the next one waits for the last answer (incast)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, Strict

from forebay.scenario.base import DAY, MAX_FLOWS, Between
from forebay.scenario.distribution import AnyDistribution, Distribution
from forebay.scenario.flow_length import AnyFlowLength, FlowLength
from forebay.scenario.quantity import Duration
from forebay.scenario.tcp import Fetching

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import RequestsFields


class Requests(Fetching):
    """Workers that answer each request together; the next is asked when all answers are there."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[RequestsFields]) -> None: ...

    kind: Literal["requests"] = Field(
        default="requests", description="What the flows do: answer requests together."
    )
    response: AnyFlowLength = Field(
        description="What a worker answers, headers included, over a connection of its own with "
        "the initial window: a length.",
        examples=["20 kB", {"lognormal": {"mean": "20 kB", "deviation": "8 kB"}}],
    )
    fan_in: Annotated[int | None, Strict(), Between(1, MAX_FLOWS, "workers")] = Field(
        default=None,
        description="Workers that answer one request; the last group may be smaller. Each group "
        "has requests of its own. Not set: all.",
        examples=[40],
    )
    think: Annotated[AnyDistribution, Between(Duration(0), DAY)] = Field(
        default=Distribution.exponential_of(Duration(0.01)),
        description="Pause between the arrival of the last answer and the next request: a "
        "distribution.",
        examples=[{"exponential": "10 ms"}],
    )
    service_time: Annotated[AnyDistribution, Between(Duration(0), DAY)] = Field(
        default=Distribution.constant(Duration(0)),
        description="How long a worker takes for a request before it sends: a distribution. Its "
        "spread keeps the answers apart.",
        examples=[{"uniform": ["0 us", "50 us"]}],
    )
    start: Annotated[AnyDistribution, Between(Duration(0), DAY)] = Field(
        default=Distribution.constant(Duration(0)),
        description="When a group's first request is asked, counted from the beginning of the "
        "run: a distribution.",
        examples=["0 s"],
    )

    @property
    def fetched(self) -> FlowLength:
        """The length of an answer."""
        return self.response

    @property
    def together(self) -> int:
        """Workers that answer a request, but perhaps the last group's."""
        return min(self.flows, self.fan_in or self.flows)

    @property
    def shortest_cycle(self) -> float:
        """Mean seconds from request to request without queueing."""
        return super().shortest_cycle + self.service_time.mean

    def requests_in(self, seconds: float) -> float:
        """Return the approximate number of requests of one group in ``seconds``."""
        return self.files_in(seconds)
