"""Predict the cost of a simulation before it runs, and refuse one that costs too much.

The prediction is the processor time per packet, by controller and number of flows.

Each packet accesses its flow's state once, so with many flows a packet waits for memory. A BBR
packet also computes rates. The table was measured with benches/packet_cost.py on one machine.
`Speed` estimates the speed and load of this machine from the first run on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.catalogue import CONTROLS, kinds_that
from forebay.errors import ForebayError
from forebay.scenario import Requests, Scenario, Short, Standing, Tcp, Traffic, Transfers
from forebay.words import Fact, option

_FLOWS = (100.0, 1_000.0, 10_000.0, 100_000.0)
_US_BY_LOSS = (0.07, 0.10, 0.25, 0.93)
_US_BY_MODEL = (0.24, 0.41, 1.1, 3.0)
"""Microseconds per packet by number of flows: for loss-based controllers, and for BBR variants."""

_TAKE_THE_REST = kinds_that(lambda kind: kind.lasts or kind.waits_for_itself)
_SHORT_LIVES_S = 1.0
_RUN_S = 0.004
"""Fixed time of a replication: random draws, event queue, readings."""
_FLOW_S = 2e-6
"""Time to draw a flow, to make it, and to read it."""
_MOMENT_S = 0.05
_FIRST_S = 0.02
"""Weight of the load that is seen before the first run, as seconds of a run."""


def packets_per_second(scenario: Scenario) -> float:
    """Return the approximate number of packets through the bottleneck per simulated second."""
    others = [
        group
        for group in scenario.traffic
        if group.kind not in _TAKE_THE_REST or isinstance(group, Requests)
    ]
    loads = [_load(scenario, group) for group in others]
    whole = max(1.0, sum(loads))
    sizes = [float(getattr(group, "packet", scenario.packet)) for group in others]
    share_per_byte = sum(load / whole / size for load, size in zip(loads, sizes, strict=True))
    if len(others) < len(scenario.traffic):  # long flows take what the others leave
        share_per_byte += max(0.0, 1.0 - sum(loads)) / float(scenario.packet)
    return float(scenario.link.capacity) / 8 * share_per_byte


def cost_s(scenario: Scenario, simulated_s: float) -> float:
    """Return the processor time, in seconds, of ``simulated_s`` on the table's machine."""
    flows_s = _FLOW_S * sum(float(g.flows) for g in scenario.traffic if isinstance(g, Standing))
    return flows_s + packets_s(scenario, packets_per_second(scenario) * simulated_s)


def packets_s(scenario: Scenario, packets: float) -> float:
    """Return the processor time, in seconds, of ``packets`` on the table's machine."""
    flows, share = max(_flows(scenario), 1.0), model_share(scenario)
    by_loss, by_model = (_at(flows, row) for row in (_US_BY_LOSS, _US_BY_MODEL))
    return _RUN_S + 1e-6 * ((1 - share) * by_loss + share * by_model) * packets


def _at(flows: float, row: tuple[float, ...]) -> float:
    """Interpolate in logarithms; beyond the table, use half the slope of the last two columns."""
    logs = np.log(_FLOWS)
    if flows <= _FLOWS[-1]:
        return float(np.exp(np.interp(math.log(flows), logs, np.log(row))))
    steep = math.log(row[-1] / row[-2]) / (logs[-1] - logs[-2])
    return float(row[-1] * (flows / _FLOWS[-1]) ** (steep / 2))


def _flows(scenario: Scenario) -> float:
    """Return the approximate number of concurrent flows."""
    standing = sum(float(g.flows) for g in scenario.traffic if isinstance(g, Standing))
    arriving = [g for g in scenario.traffic if isinstance(g, Short | Transfers)]
    return standing + sum(
        group.arrivals_per_second(scenario.link.capacity) * _SHORT_LIVES_S for group in arriving
    )


def model_share(scenario: Scenario) -> float:
    """Return the share of the flows whose controller models the path."""
    weights = [(max(float(g.flows), 1.0), g) for g in scenario.traffic if isinstance(g, Tcp)]
    total = sum(weight for weight, _ in weights)
    shares = (
        weight
        * sum(part for name, part in g.shares.items() if CONTROLS[name].packet_cost == "model")
        for weight, g in weights
    )
    return sum(shares) / total if total else 0.0


def _load(scenario: Scenario, group: Traffic) -> float:
    """Return the load of a class's first transmissions as a share of the link rate."""
    rate = float(scenario.link.capacity)
    if isinstance(group, Requests):
        bits = 8 * float(group.packet) * group.response.mean_packets(group.packet)
        alone_s = bits * float(group.flows) / rate  # all answers of a round cross the link
        cycle_s = float(group.think.mean) + float(group.service_time.mean) + float(group.rtt.mean)
        return min(1.0, alone_s / (alone_s + cycle_s))
    return (group.offered(rate) or 0.0) / rate


@dataclass(slots=True)
class Speed:
    """The price of a simulation on this machine: what is predicted, corrected by the runs so far.

    ``jobs`` replications run in parallel. Fewer replications leave threads idle and take as long.
    ``price`` are the processor's seconds of so many simulated seconds, on the table's machine.
    """

    jobs: int
    price: Callable[[Scenario, float], float] = cost_s
    predicted_s: float = 0.0
    passed_s: float = 0.0

    @classmethod
    def under_load(cls, jobs: int, clock: Callable[[], float]) -> Speed:
        """Return the speed of a machine that may do other work, which takes a moment to see."""
        load = slowdown(clock)
        return cls(jobs, predicted_s=_FIRST_S, passed_s=_FIRST_S * load)

    def add(self, predicted_s: float, passed_s: float) -> None:
        """Add one run: its predicted and its elapsed time."""
        self.predicted_s = 0.5 * self.predicted_s + predicted_s  # later runs weigh more
        self.passed_s = 0.5 * self.passed_s + passed_s

    @property
    def factor(self) -> float:
        """Elapsed seconds per predicted second; 1 before the first run."""
        return self.passed_s / self.predicted_s if self.predicted_s > 0.0 else 1.0

    def wall_s(self, scenario: Scenario, simulated_s: float, seeds: int) -> float:
        """Return the elapsed time of ``seeds`` replications on this machine."""
        rounds = math.ceil(seeds / self.jobs)
        return self.factor * rounds * self.price(scenario, simulated_s)

    def replication_s(self, scenario: Scenario) -> float:
        """Return the predicted seconds of one replication, before they are corrected."""
        return self.price(scenario, float(scenario.measure.warmup + scenario.measure.duration))


def slowdown(clock: Callable[[], float]) -> float:
    """Return how many times slower a thread is because of others, from a moment of work."""
    began, used = clock(), time.thread_time()
    while time.thread_time() < used + _MOMENT_S:
        pass
    return max(1.0, (clock() - began) / _MOMENT_S)


class TooLittleTime(ForebayError):
    """The time is too short for the link, and no smaller link can represent it.

    Attributes
    ----------
    why : why no smaller link can represent it.
    of_network : it is a link of a network, which the network engine can also size.
    needs_s, budget_s : approximate seconds for the whole link on this machine, and the time limit.
        The former is never less: where less was predicted, the time was used and not enough.
    theory_answers : published laws answer the same question.
    kept_in : the store that has the finished simulations; None without one.
    """

    exit_status = 3

    def __init__(
        self,
        why: str | Fact,
        needs_s: float,
        budget_s: float,
        *,
        of_network: bool = False,
        theory_answers: bool = False,
        kept_in: str | None = None,
    ) -> None:
        self.why, self.needs_s, self.budget_s = str(why), max(needs_s, budget_s), budget_s
        self.of_network, self.theory_answers = of_network, theory_answers
        self.kept_in = kept_in
        was_wrong = self.needs_s <= budget_s  # against the prediction
        other: Fact | str = Fact("too-little-time.or-theory") if theory_answers else ""
        other = Fact("too-little-time.or-network") if of_network else other
        super().__init__(
            "too-little-time", why=why, budget=in_words(budget_s), of_network=of_network,
            needs=in_words(self.needs_s), more_than=was_wrong,
            more=option("budget", in_words((_FAR_MORE if was_wrong else _MORE) * self.needs_s)),
            other=other,
            kept="" if kept_in is None else Fact("too-little-time.kept", store=kept_in),
        )  # fmt: skip

    def told(self, **facts: Any) -> TooLittleTime:
        """Return the same refusal with other facts, named as its attributes."""
        return type(self)(**{name: getattr(self, name) for name in _FACTS} | facts)


_FACTS = ("why", "needs_s", "budget_s", "of_network", "theory_answers",
          "kept_in")  # fmt: skip
_MORE, _FAR_MORE = 1.25, 2.0
"""Ratio of the time that a refusal recommends to the predicted time; the larger where that was
wrong, as on a machine with other work."""
_UNITS = ((3600.0, "h"), (60.0, "min"))


def in_words(seconds: float) -> str:
    """Return a time with about two digits, in a unit that a scenario file accepts: "2 min"."""
    for size, unit in _UNITS:
        if seconds >= 1.5 * size:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(seconds)} s"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
