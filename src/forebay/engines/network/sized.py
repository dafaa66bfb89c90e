"""One link of a network, or all of a class, under a buffer that is looked for.

Everything but these links' buffers stays as the scenario says, so that the network is built and
routed once. What is read of several links is the worst of each: a goal that is met there is met at
every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.errors import CannotPlay
from forebay.engines.network.engine import NetworkEngine
from forebay.outcome import LINK
from forebay.scenario import ScenarioError

if TYPE_CHECKING:
    from forebay.network.graph import Ints
    from forebay.outcome import LinkOutcome, Metric, Outcome, Quantiles
    from forebay.progress import Progress
    from forebay.scenario import Scenario

_MOST_NAMED = 5


class SizedLinks:
    """Answers `scenario` with the buffer of some of its links set to that of ``queue.size``.

    Attributes
    ----------
    question : the scenario of a single link at the rate of those that are sized.
    says : which links these are.
    limit : largest buffer worth trying, packets: four bdp, as of single links.

    Raises
    ------
    ScenarioError
        A link or a class that is not there; goals or queues that are not sized here.
    CannotPlay
        There is no network.
    """

    name = "network"

    def __init__(self, scenario: Scenario, *, link: str | None, link_class: str | None) -> None:
        if scenario.topology is None:
            raise CannotPlay(self.name, "a single link", "topology")
        from forebay.network import make_problem

        check_goals_of_links(scenario)
        self.scenario, self.problem = scenario, make_problem(scenario)
        self.topology = scenario.topology
        self.links = self._chosen(link, link_class)
        graph = self.problem.graph
        one = (
            link or f"each of the {len(self.links)} links of class {link_class}, read at the worst"
        )
        self.says = f"the buffer is that before {one}; all others are as the scenario says"
        rates = np.unique(graph.rate_bps[self.links])
        if len(rates) > 1:
            wrong = f'links of class "{link_class}" have {len(rates)} rates'
            raise _refused("link_class", wrong, "size them one by one with link")
        rate = type(scenario.link.rate)(rates[0])
        single = scenario.link.model_copy(update={"rate": rate})
        self.question = scenario.model_copy(update={"link": single})
        self.limit = int(np.ceil(4.0 * self.problem.bdp_packets[self.links].max())) + 64

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Solve with `scenario`'s buffer before the sized links; their worst is ``bottleneck``."""
        from forebay.engines.network.balance import make_balance
        from forebay.engines.network.solver import solve

        buffers = self.problem.buffer_packets.copy()
        buffers[self.links] = max(1, scenario.buffer_packets)
        balance = make_balance(replace(self.problem, buffer_packets=buffers), self.topology)
        found = NetworkEngine().outcome(
            self.scenario, list(seeds), solve(balance, progress=progress), 0.0
        )
        names = self.problem.graph.link_names
        sized = [found.links[names[each]] for each in self.links if names[each] in found.links]
        return found.model_copy(update={"links": {LINK: _worst(sized), **found.links}})

    def _chosen(self, link: str | None, link_class: str | None) -> Ints:
        graph, crossed = self.problem.graph, np.unique(self.problem.paths)
        if link is not None:
            if link not in graph.link_names:
                some = ", ".join(graph.link_names[:_MOST_NAMED])
                raise _refused(
                    "link", f'there is no link "{link[:60]}"', f"write one such as {some}"
                )
            chosen = np.array([graph.link_names.index(link)])
        else:
            if link_class not in graph.classes:
                known = ", ".join(graph.classes)
                wrong = f'there is no class of links "{str(link_class)[:60]}"'
                raise _refused("link_class", wrong, f"write one of {known}")
            chosen = np.flatnonzero(graph.link_class == graph.classes.index(link_class))
        chosen = chosen[np.isin(chosen, crossed)]
        if not len(chosen):
            wrong = "no connection crosses it, so no buffer is too small"
            raise _refused("link", wrong, "name another, or write a demand over it")
        return chosen


def check_goals_of_links(scenario: Scenario) -> None:
    """Refuse queues that no packets size, and goals of a class of traffic."""
    if scenario.queue.discipline not in ("drop-tail", "bfifo"):
        wrong = f"the network engine sizes no {scenario.queue.discipline}"
        raise ScenarioError("queue", wrong, "write drop-tail", field="queue.discipline")
    for index, group in enumerate(scenario.traffic):
        if getattr(group, "goals", None) is not None:
            wrong = "links of a network are sized for goals of links"
            raise ScenarioError(
                "goals", wrong, "write them under [goals]", field=f"traffic.{index}"
            )


def _refused(field: str, wrong: str, hint: str) -> ScenarioError:
    return ScenarioError("link", wrong, hint, field=field)


def _worst(links: Sequence[LinkOutcome]) -> LinkOutcome:
    """Return the lowest utilization, the highest loss and the longest queue of several links."""
    return links[0].model_copy(
        update={
            "utilization": min((each.utilization for each in links), key=_value),
            "loss_rate": max((each.loss_rate for each in links), key=_value),
            "queue_packets": max((each.queue_packets for each in links), key=_mean),
            "queue_delay_s": max((each.queue_delay_s for each in links), key=_mean),
        }
    )


def _value(metric: Metric | None) -> float:
    return 0.0 if metric is None else metric.value


def _mean(quantiles: Quantiles | None) -> float:
    return 0.0 if quantiles is None else _value(quantiles.mean)
