"""Classes that send whatever becomes of their packets: datagrams at a rate, on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, Strict, model_validator

from forebay.scenario.base import DAY, RATES
from forebay.scenario.bounds import Between
from forebay.scenario.distribution import AnyDistribution
from forebay.scenario.quantity import Duration, Rate
from forebay.scenario.source import LOADS, Sized, Standing, exactly_one

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import OnOffFields, UdpFields


class Rated(Standing, Sized):
    """A class that offers a given rate."""

    rate: Annotated[Rate | None, RATES] = Field(
        default=None,
        description="Mean rate of each flow, headers included; either this or load.",
        examples=["64 kbit/s"],
    )
    load: Annotated[float | None, Strict(), LOADS] = Field(
        default=None,
        description="All the class's flows together as a share of the link's rate; either this "
        "or rate.",
        examples=[0.1],
    )

    @model_validator(mode="after")
    def _offered_once(self) -> Self:
        return exactly_one(self, "rate", "load", ("rate", "1 Mbit/s"))

    def flow_rate(self, link_rate: float) -> float:
        """Return the mean rate of one flow, bit/s, on a link of so many bit/s."""
        if self.rate is not None:
            return self.rate
        return (self.load or 0.0) * link_rate / self.flows

    def packets_in(self, seconds: float, link_rate: float) -> float:
        """Return the expected packets of all flows in so many seconds."""
        return self.flows * (1 + seconds * self.flow_rate(link_rate) / (8 * self.packet))


class Udp(Rated):
    """Datagrams of one size at a constant rate, or one by one as a Poisson process."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[UdpFields]) -> None: ...

    kind: Literal["udp"] = Field(default="udp", description="What the flows do: send datagrams.")
    arrivals: Literal["constant", "poisson"] = Field(
        default="constant",
        description='Gaps between the datagrams of a flow: all alike, or exponential ("poisson").',
    )


class OnOff(Standing, Sized):
    """Datagrams at a peak rate in the on times, none in the off times; a flow starts on."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[OnOffFields]) -> None: ...

    kind: Literal["onoff"] = Field(
        default="onoff", description="What the flows do: send datagrams on and off."
    )
    peak_rate: Annotated[Rate, RATES] = Field(
        description="Rate of each flow while it is on, headers included.", examples=["1 Mbit/s"]
    )
    on: Annotated[AnyDistribution, Between(Duration(0), DAY)] = Field(
        description="How long a flow sends: a distribution.",
        examples=[{"exponential": "350 ms"}],
    )
    off: Annotated[AnyDistribution, Between(Duration(0), DAY)] = Field(
        description="How long it pauses after that: a distribution.",
        examples=[{"pareto": {"mean": "650 ms", "shape": 1.5, "high": "100 s"}}],
    )

    def periods(self, seconds: float) -> float:
        """Return about how many on times one flow has in so many seconds."""
        cycle = self.on.mean_within(seconds) + self.off.mean_within(seconds)
        return 1 + seconds / max(cycle, 1e-12)

    def flow_rate(self, link_rate: float) -> float:
        """Return the mean rate of one flow, bit/s; the link's changes nothing."""
        cycle = self.on.mean + self.off.mean
        return self.peak_rate * self.on.mean / cycle if cycle else self.peak_rate

    def packets_in(self, seconds: float, link_rate: float) -> float:
        """Return about how many packets all flows send in so many seconds: each starts on."""
        sending = min(seconds, self.on.mean_within(seconds) * self.periods(seconds))
        return self.flows * (1 + sending * self.peak_rate / (8 * self.packet))
