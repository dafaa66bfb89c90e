"""One class of traffic: flows that are alike but for what is drawn for each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict

from forebay.scenario.bounds import Between
from forebay.scenario.congestion import CONGESTION_CONTROLS, CongestionControl
from forebay.scenario.distribution import Distribution
from forebay.scenario.flow_count import FlowCount
from forebay.scenario.goals import ClassGoals
from forebay.scenario.quantity import DataSize, Duration, Rate

RATES = Between(Rate(1e3), Rate(1e13))
MAX_FLOWS = 10_000_000
DAY = Duration(86_400)


class Room(BaseModel):
    """A frozen table of a scenario file; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Traffic(Room):
    """Long-lived flows: each has more to send than the run lasts."""

    kind: Literal["long"] = Field(
        default="long", description="What the flows do: send without end."
    )
    flows: Annotated[FlowCount, Between(1, MAX_FLOWS, "flows")] = Field(
        description='How many flows this class has; "8000..12000" where it is only known to lie '
        "between the two: one number then stands for the middle, and a sizing serves both ends.",
        examples=[100, "8000..12000"],
    )
    congestion_control: CongestionControl = Field(
        default="reno",
        description="Linux name of the congestion control, or a table of names with the share "
        f"of the flows that each gets; shares sum to 1. Known: {', '.join(CONGESTION_CONTROLS)}.",
    )
    rtt: Annotated[Distribution, Between(Duration(1e-6), Duration(60))] = Field(
        default=Distribution.constant(Duration(0.1)),
        description="Two-way propagation delay of a flow, without any queueing or transmission: "
        "a constant, or { uniform = [low, high] } drawn for each flow.",
        examples=["100 ms", {"uniform": ["80 ms", "120 ms"]}],
    )
    start: Annotated[Distribution, Between(Duration(0), DAY)] = Field(
        default=Distribution.uniform(Duration(0), Duration(10)),
        description="When a flow starts, from the beginning of the run.",
        examples=[{"uniform": ["0 s", "10 s"]}],
    )
    sender: Literal["linux", "ns2"] = Field(
        default="linux",
        description='The sending stack: "linux" (SACK, delayed ACKs) or "ns2" (NewReno, no SACK, '
        "an ACK for every packet).",
    )
    initial_window: Annotated[int | None, Strict(), Between(1, 1000, "packets")] = Field(
        default=None,
        description="Congestion window of a new flow; not set: as the sender's stack has it.",
    )
    sack: Annotated[bool | None, Strict()] = Field(
        default=None,
        description="Whether receivers report what they hold (RFC 2018); not set: "
        "as the sender's stack has it.",
    )
    delayed_ack: Annotated[bool | None, Strict()] = Field(
        default=None,
        description="Whether receivers may acknowledge every second packet only; not set: "
        "as the sender's stack has it.",
    )
    min_rto: Annotated[Duration | None, Between(Duration(1e-3), Duration(60))] = Field(
        default=None,
        description="Least retransmission timeout; not set: as the sender's stack has it.",
        examples=["200 ms"],
    )
    max_window: Annotated[int | None, Strict(), Between(1, 100_000_000, "packets")] = Field(
        default=None,
        description="Most packets in flight that the receiver allows; not set: as "
        "the sender's stack has it.",
    )
    packet: Annotated[DataSize, Between(DataSize(64), DataSize(65_535))] = Field(
        default=DataSize(1500), description="Size of a full packet on the link, headers included."
    )
    access_rate: Annotated[Rate, RATES] = Field(
        default=Rate(1e9), description="Rate of each flow's own link to the bottleneck."
    )
    goals: ClassGoals | None = Field(default=None, description="What this class must get.")

    @property
    def shares(self) -> dict[str, float]:
        """Share of the flows that each congestion control gets; the shares sum to 1."""
        control = self.congestion_control
        return {control: 1.0} if isinstance(control, str) else dict(control)
