"""The links of a network whose buffer is sized, and the worst of them; all others keep theirs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from forebay.catalogue import DISCIPLINES
from forebay.outcome import model
from forebay.outcome.model import LinkOutcome, Metric, Quantiles
from forebay.scenario import Rate, Scenario, ScenarioError
from forebay.topology.graph import Ints
from forebay.topology.problem import Problem, make_problem
from forebay.words import Fact

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class SizedLinks:
    """One link of a network, or all links of a class.

    Attributes
    ----------
    problem : the network.
    links : shape (sized,), links of its graph that some path uses.
    question : the scenario of a single link at the rate of the sized links.
    says : which links these are.
    limit : largest buffer of the search, in packets: four bdp, as for single links.
    overload : of the link that is offered most, if that is more than it carries.
    """

    problem: Problem
    links: Ints
    question: Scenario
    says: Fact
    limit: int
    overload: Fact | None

    @property
    def names(self) -> list[str]:
        """Names of the links, as in Outcomes."""
        return [self.problem.graph.link_names[link] for link in self.links]


def choose_links(
    scenario: Scenario,
    *,
    link: str | None,
    link_class: str | None,
    route: Callable[[Scenario], Problem] = make_problem,
) -> SizedLinks:
    """Return the links of that name or class; ``route`` routes the network.

    Raises ScenarioError: a link or a class does not exist, or no path uses it; a class has several
    rates; goals or queues are not supported here.
    """
    check_goals_of_links(scenario)
    problem = route(scenario)
    links = _chosen(problem, link, link_class)
    rates = np.unique(problem.graph.rate_bps[links])
    if len(rates) > 1:
        raise ScenarioError("link.rates", field="link_class", value=link_class, rates=len(rates))
    single = scenario.link.model_copy(update={"rate": Rate(rates[0])})
    kind = "sized-links.one" if link else "sized-links.of-a-class"
    return SizedLinks(
        problem,
        links,
        scenario.with_link(single),
        Fact(kind, link=link, links=len(links), link_class=link_class),
        int(np.ceil(4.0 * problem.bdp_packets[links].max())) + 64,
        _overload(problem, links),
    )


def _overload(problem: Problem, links: Ints) -> Fact | None:
    """Return what the link is offered that is offered most, if that is more than it carries."""
    offered = problem.offered_bps[links] / problem.graph.rate_bps[links]
    most = int(np.argmax(offered))
    if offered[most] <= 1.0:
        return None
    name = problem.graph.link_names[links[most]]
    return Fact("note.overload", link=name, percent=100 * offered[most])


def check_goals_of_links(scenario: Scenario) -> None:
    """Refuse queues whose size is not in packets, and goals of a traffic class."""
    if not DISCIPLINES[scenario.queue.discipline].drops_tail:
        field = "queue.discipline"
        raise ScenarioError("queue.of-a-network", field=field, value=scenario.queue.discipline)
    for index, group in enumerate(scenario.traffic):
        if getattr(group, "goals", None) is not None:
            raise ScenarioError("goals.of-a-class", field=f"traffic.{index}")


def _chosen(problem: Problem, link: str | None, link_class: str | None) -> Ints:
    graph, crossed = problem.graph, np.unique(problem.paths)
    if link is not None:
        if link not in graph.link_names:
            some = ", ".join(graph.link_names[:_MOST_NAMED])
            raise ScenarioError("link.unknown", field="link", name=link[:60], some=some)
        chosen = np.array([graph.link_names.index(link)])
    else:
        if link_class not in graph.classes:
            raise ScenarioError(
                "link.unknown-class", field="link_class", name=str(link_class)[:60],
                known=", ".join(graph.classes),
            )  # fmt: skip
        chosen = np.flatnonzero(graph.link_class == graph.classes.index(link_class))
    chosen = chosen[np.isin(chosen, crossed)]
    if not len(chosen):
        raise ScenarioError("link.not-crossed", field="link")
    return chosen


_MORE_IS_BETTER = (model.LOSS_PROBABILITY, model.UTILIZATION_PROBABILITY)


def worst_link(
    links: Sequence[LinkOutcome], filled: Sequence[LinkOutcome] | None = None
) -> LinkOutcome:
    """Return the lowest utilization, the highest loss and the longest queue of several links.

    ``filled`` are those whose load reaches a goal on utilization; None: all of them.
    """
    used = links if filled is None else filled
    return links[0].model_copy(
        update={
            "utilization": min((link.utilization for link in used), key=_value),
            "loss_rate": max((link.loss_rate for link in links), key=_value),
            "queue_packets": max((link.queue_packets for link in links), key=_mean),
            "queue_delay_s": _longest([link.queue_delay_s for link in links]),
            "goal_metrics": _goal_metrics(links),
        }
    )


def _longest(delays: Sequence[Quantiles | None]) -> Quantiles | None:
    """Return the largest mean and the largest of each quantile, over all links."""
    known = [delay for delay in delays if delay is not None]
    if not known:
        return None
    return Quantiles(
        **{
            name: max((getattr(delay, name) for delay in known), key=_value)
            for name in Quantiles.model_fields
        }
    )


def _goal_metrics(links: Sequence[LinkOutcome]) -> dict[str, Metric]:
    """Return the worst of each metric that every link has: the least if more is better."""
    shared = set(links[0].goal_metrics).intersection(*(link.goal_metrics for link in links))
    return {
        name: (min if name in _MORE_IS_BETTER else max)(
            (link.goal_metrics[name] for link in links), key=_value
        )
        for name in sorted(shared)
    }


def _value(metric: Metric | None) -> float:
    return 0.0 if metric is None else metric.value


def _mean(quantiles: Quantiles | None) -> float:
    return 0.0 if quantiles is None else _value(quantiles.mean)
