"""What is asked: one link, its queue, its traffic, what to measure and what to reach."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Self

from pydantic import Field, Strict, model_validator

from forebay.scenario import consistency, counted
from forebay.scenario.bounds import Between
from forebay.scenario.buffer_size import BufferSize
from forebay.scenario.errors import ScenarioError
from forebay.scenario.flow_count import End
from forebay.scenario.goals import Goals
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import Queue
from forebay.scenario.room import DAY, RATES, Room
from forebay.scenario.source import Standing
from forebay.scenario.tcp import Long, Session
from forebay.scenario.traffic import Traffic

_PROPAGATION = Between(Duration(0), Duration(60))
_MEMORY = Between(DataSize(64), DataSize(10**12))
BOTTLENECK = "bottleneck"
"""Name of the link under study."""


class Link(Room):
    """The link under study, the bottleneck."""

    rate: Annotated[Rate, RATES] = Field(
        description="Capacity of the bottleneck.", examples=["155 Mbit/s"]
    )
    delay: Annotated[Duration, _PROPAGATION] = Field(
        default=Duration(0),
        description="Propagation to the next link of a route: a part of a flow's rtt.",
    )


class OtherLink(Link):
    """A further link that routes may cross, with a queue of its own."""

    name: Annotated[str, Strict(), Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] = Field(
        description="What routes call it; letters, digits, '_', '.' and '-'.", examples=["access"]
    )
    queue: Queue = Field(default=Queue(), description="The buffer in front of it.")


class Measure(Room):
    """The measured window."""

    warmup: Annotated[Duration, Between(Duration(0), DAY)] = Field(
        default=Duration(20), description="Time before anything is counted."
    )
    duration: Annotated[Duration, Between(Duration(1e-3), DAY)] = Field(
        default=Duration(40), description="Time during which everything is counted."
    )


class Scenario(Room):
    """A question that any engine can answer. Make one with ``load`` or ``loads``."""

    name: Annotated[str, Strict(), Field(min_length=1, max_length=200)] = Field(
        default="unnamed", description="What to call it in tables and figures; 1 to 200 characters."
    )
    link: Link = Field(description="The bottleneck.")
    queue: Queue = Field(default=Queue(), description="The buffer in front of it.")
    links: tuple[OtherLink, ...] = Field(
        default=(), description="Further links, for routes over more than the bottleneck."
    )
    memory: Annotated[DataSize | None, _MEMORY] = Field(
        default=None,
        description="A switch's packet memory, shared by the queues that set alpha.",
        examples=["16 MB"],
    )
    traffic: Annotated[tuple[Traffic, ...], Field(min_length=1)] = Field(
        description="The classes of traffic; at least one.",
    )
    measure: Measure = Field(default=Measure(), description="The measured window.")
    goals: Goals = Field(default=Goals(), description="What the buffer must reach.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        consistency.check(self)
        return self

    @property
    def n_flows(self) -> int:
        """The n of the laws: the flows, or users, of the `persistent` classes; may be 0."""
        return sum(group.flows for group in self.persistent)

    @property
    def persistent(self) -> tuple[Long, ...] | tuple[Session, ...]:
        """Classes whose flows are there all the time: forward long flows; else forward users."""
        return counted.persistent(self)

    @property
    def mean_rtt(self) -> Duration:
        """Mean two-way propagation delay, seconds, over the flows that count.

        Those are the `persistent` ones; where there are none, short flows as they arrive; 0
        where nothing forward runs TCP.
        """
        return counted.mean_rtt(self)

    @property
    def packet(self) -> DataSize:
        """Mean size of a full packet over the flows that count, rounded to whole bytes."""
        return counted.mean_packet(self)

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product: ``mean_rtt`` times the link's rate, in mean packets."""
        return self.link.rate * self.mean_rtt / (8 * self.packet)

    @property
    def buffer_packets(self) -> int:
        """Packets that may wait in the queue, the one being sent not counted."""
        return self.queue.size.packets(
            rate_bps=self.link.rate,
            packet_bytes=self.packet,
            bdp=self.bdp_packets,
            flows=self.n_flows,
        )

    def queue_packets(self, link: OtherLink) -> int:
        """Packets that may wait in front of a further link."""
        return link.queue.size.packets(
            rate_bps=link.rate,
            packet_bytes=self.packet,
            bdp=link.rate * self.mean_rtt / (8 * self.packet),
            flows=self.n_flows,
        )

    def with_buffer(self, packets: int) -> Scenario:
        """Return the same question for another buffer. Raises ScenarioError below 1 packet."""
        if packets < 1:
            hint = "write at least 1 packet"
            raise ScenarioError("out-of-range", f"{packets} packets", hint, field="queue.size")
        size = BufferSize(float(packets), "packets")
        return self.model_copy(update={"queue": self.queue.model_copy(update={"size": size})})

    @property
    def flows_uncertain(self) -> bool:
        """Whether a class gives its number of flows as a range."""
        return any(isinstance(g, Standing) and g.flows.is_range for g in self.traffic)

    def at_flows(self, end: End) -> Scenario:
        """Return the same question with every range of flows at its low or its high end."""
        groups = (
            g.model_copy(update={"flows": g.flows.end(end)}) if isinstance(g, Standing) else g
            for g in self.traffic
        )
        return self.model_copy(update={"traffic": tuple(groups)})

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data; quantities as text with units, goals not asked left out."""
        return self.model_dump(mode="json", exclude_none=True)

    def sha256(self) -> str:
        """Return the hash of the meaning: neither layout nor choice of unit changes it."""
        meaning = self.model_dump(mode="python", exclude_none=True)
        text = json.dumps(meaning, sort_keys=True, default=lambda part: part.canonical())
        return hashlib.sha256(text.encode()).hexdigest()
