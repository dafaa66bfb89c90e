"""What all classes of traffic have in common, whatever they send."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import Field, Strict

from forebay.errors import entry
from forebay.scenario.base import DAY, MAX_FLOWS, RATES, ScenarioModel
from forebay.scenario.bounds import Between
from forebay.scenario.distribution import AnyDistribution, Distribution
from forebay.scenario.errors import ScenarioError
from forebay.scenario.flow_count import FlowCount
from forebay.scenario.goals import ClassGoals
from forebay.scenario.quantity import DataSize, Duration, Rate

RTTS = Between(Duration(1e-6), Duration(60))
PACKETS = Between(DataSize(64), DataSize(65_535))
LOADS = Between(1e-6, 10.0, "share of link.rate")
NAME = r"^[A-Za-z0-9_.-]{1,64}$"
"""Of a link and of a class of traffic."""


S = TypeVar("S", bound="Source")


class Source(ScenarioModel):
    """A class of traffic: flows that are alike but for what is drawn for each."""

    kind: str
    name: Annotated[str | None, Strict(), Field(pattern=NAME)] = Field(
        default=None,
        description="What answers call the class; letters, digits, '_', '.' and '-', each class "
        'another. Not set: its kind and its place in the list, "long-0" for the first.',
        examples=["voip"],
    )
    direction: Literal["forward", "reverse"] = Field(
        default="forward",
        description="Which way the data crosses the link; the ACKs cross the other way, behind "
        "the data of classes that go there.",
    )
    route: tuple[str, ...] = Field(
        default=(),
        description="Links that the data crosses in turn, by name; not set: the bottleneck alone.",
        examples=[["bottleneck", "core"]],
    )
    goals: ClassGoals | None = Field(default=None, description="What this class must get.")
    return_route: tuple[str, ...] = Field(
        default=(), description="Links that the ACKs cross in turn; not set: none where they queue."
    )
    access_rate: Annotated[Rate | None, RATES] = Field(
        default=None,
        description="Rate of each flow's own link to the first queue; not set: ten times the "
        "bottleneck's. An access link no faster than the bottleneck lets one flow fill it evenly "
        "and lock the others out.",
        examples=["1 Gbit/s"],
    )

    def access(self, link_rate: float) -> float:
        """Return the rate of a flow's own link, bit/s, before a bottleneck of so many bit/s."""
        return 10 * link_rate if self.access_rate is None else self.access_rate


class Standing(Source):
    """A class with a given number of flows, each of which starts once."""

    flows: Annotated[FlowCount, Between(1, MAX_FLOWS, "flows")] = Field(
        description="How many flows this class has; of sessions: how many users. "
        '"8000..12000" where it is only known to lie between the two: one number then stands for '
        "the middle, and a sizing serves both ends.",
        examples=[100, "8000..12000"],
    )
    start: Annotated[AnyDistribution, Between(Duration(0), DAY)] = Field(
        default=Distribution.uniform_between(Duration(0), Duration(10)),
        description="When a flow starts, from the beginning of the run: a distribution.",
        examples=[{"uniform": ["0 s", "10 s"]}],
    )
    access_sharing: Annotated[int, Strict(), Between(1, MAX_FLOWS, "flows")] = Field(
        default=1,
        description="How many flows share one access link of access_rate, in groups of this size; "
        "the last group may be smaller.",
    )

    @property
    def access_links(self) -> int:
        """Access links of this class: its flows over `access_sharing`, rounded up."""
        return -(-self.flows // self.access_sharing)


class Sized(Source):
    """A class whose full packets are all of one size."""

    packet: Annotated[DataSize, PACKETS] = Field(
        default=DataSize(1500), description="Size of a full packet on the link, headers included."
    )


def exactly_one(source: S, first: str, second: str, example: tuple[str, object]) -> S:
    """Return the class if just one of two fields is set. Raises ScenarioError."""
    given = [name for name in (first, second) if getattr(source, name) is not None]
    if len(given) == 1:
        return source
    if given:
        wrong, hint = f"{first} is given too", f"write either {first} or {second}"
        raise ScenarioError("contradiction", wrong, hint, field=second)
    wrong = f"neither {first} nor {second} is given"
    raise ScenarioError("missing", wrong, f"write one of them, such as {entry(*example)}")
