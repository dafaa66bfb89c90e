"""How a network goes from one state to its steady state."""

from collections.abc import Sequence
from typing import Any, Self

from pydantic import computed_field, model_validator

from forebay.outcome.document import Closed, Document, Floats, WithArrays, alike


class SteadyLinks(Closed):
    """Means over the links of a class in the steady state, as `LinkSeries` has them over time."""

    utilization: float
    loss_rate: float
    queue_packets: float


class LinkSeries(WithArrays):
    """Means over the links of a class; arrays of shape (samples,).

    Attributes
    ----------
    links : how many some connection crosses.
    utilization : share of the capacity that is used.
    loss_rate : share of the packets that a link drops.
    queue_packets : packets waiting; may be above the buffer, because the slides cut off no queue.
    buffer_packets : mean buffer.
    steady : the same in the steady state; None where the solver found none.
    """

    links: int
    utilization: Floats
    loss_rate: Floats
    queue_packets: Floats
    buffer_packets: float
    steady: SteadyLinks | None


class HopsSeries(WithArrays):
    """Connections over so many links; ``throughput_bps`` of one of them, shape (samples,)."""

    hops: int
    connections: float
    throughput_bps: Floats
    steady_throughput_bps: float | None


class Oscillation(Closed):
    """A queue that still swings in the last quarter of the time.

    Attributes
    ----------
    low_packets, high_packets : its least and its most in that quarter.
    period_s : mean time from one maximum to the next.
    """

    link: str
    buffer_packets: float
    low_packets: float
    high_packets: float
    period_s: float


class Transient(Document, WithArrays):
    """A network's way through time by the slides' equations, Hisamatsu 2007 (schema 1).

    Attributes
    ----------
    scenario : the scenario, as `Scenario.to_dict` gives it.
    start : "cold", windows of one packet and empty queues; or "steady", the steady state of
        ``start_scenario``.
    step_s, steps : the time slot of the equations, and how many of them.
    at_s : shape (samples,), the instants, first and last included.
    links : by class of links.
    hops : fewest first.
    throughput_bps, rtt_s : shape (samples,), means over all connections.
    steady_throughput_bps, steady_rtt_s : the same in the steady state, None where there is none.
    residual : at the end, the largest relative difference between what connections bring to a link
        and what it carries: its capacity while it has a queue.
    distance : at the end, the largest relative difference from the steady state, over the
        utilizations of classes and the throughputs by hops; None where there is no steady state.
    oscillating_links : links whose queue still swings, by more than 1 % of its buffer (and a
        packet) and at least twice, in the last quarter of the time.
    oscillations : the largest of them, over their buffers.
    cpu_s : of stepping.
    """

    scenario: dict[str, Any]
    start: str
    start_scenario: dict[str, Any] | None
    step_s: float
    steps: int
    at_s: Floats
    links: dict[str, LinkSeries]
    hops: list[HopsSeries]
    throughput_bps: Floats
    rtt_s: Floats
    steady_throughput_bps: float | None
    steady_rtt_s: float | None
    residual: float
    distance: float | None
    oscillating_links: int
    oscillations: list[Oscillation]
    cpu_s: float

    @model_validator(mode="after")
    def _of_one_length(self) -> Self:
        alike(self.columns())
        return self

    @computed_field
    @property
    def instants(self) -> int:
        """Number of instants."""
        return self.at_s.size

    def columns(self) -> dict[str, Sequence[float]]:
        """Return every series by name, with the unit at the end of the name's first part."""
        series: dict[str, Sequence[float]] = {
            "at_s": self.at_s.tolist(),
            "throughput_bps": self.throughput_bps.tolist(),
            "rtt_s": self.rtt_s.tolist(),
        }
        for name, link in self.links.items():
            for field in ("utilization", "loss_rate", "queue_packets"):
                series[f"{field}.{name}"] = getattr(link, field).tolist()
        for hop in self.hops:
            series[f"throughput_bps.hops_{hop.hops}"] = hop.throughput_bps.tolist()
        return series

    def __repr__(self) -> str:
        name = self.scenario.get("name", "network")
        return f"Transient({name!r}, {self.at_s[-1]:g} s in {self.steps} steps)"

    __str__ = __repr__
