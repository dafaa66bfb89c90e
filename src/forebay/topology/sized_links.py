"""The links of a network whose buffer is sized, and the worst of them; all others keep theirs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from forebay.catalogue import DISCIPLINES
from forebay.outcome import model
from forebay.outcome.model import LinkOutcome, Metric, Quantiles
from forebay.scenario import Scenario, ScenarioError
from forebay.topology.graph import Ints
from forebay.topology.problem import Problem, make_problem

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class SizedLinks:
    """One link of a network, or all links of a class.

    Attributes
    ----------
    problem : the network.
    links : shape (sized,), links of its graph that some path uses.
    question : the scenario of a single link at the rate of the sized links.
    says : text that names these links.
    limit : largest buffer of the search, in packets: four bdp, as for single links.
    overload : the clause on the link that is offered most, if that is more than it carries, or "".
    """

    problem: Problem
    links: Ints
    question: Scenario
    says: str
    limit: int
    overload: str

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
        wrong = f'links of class "{link_class}" have {len(rates)} rates'
        raise _refused("link_class", wrong, "size them one by one with link")
    single = scenario.link.model_copy(update={"rate": type(scenario.link.rate)(rates[0])})
    one = link or f"each of the {len(links)} links of class {link_class}, by the worst of them"
    return SizedLinks(
        problem,
        links,
        scenario.model_copy(update={"link": single}),
        f"the buffer is that of {one}; all others are those of the scenario",
        int(np.ceil(4.0 * problem.bdp_packets[links].max())) + 64,
        _overload(problem, links),
    )


def _overload(problem: Problem, links: Ints) -> str:
    """Return the clause on the link that is offered most, if that is more than it carries."""
    offered = problem.offered_bps[links] / problem.graph.rate_bps[links]
    most = int(np.argmax(offered))
    if offered[most] <= 1.0:
        return ""
    name = problem.graph.link_names[links[most]]
    return f"{name} is offered {100 * offered[most]:.0f} %: add capacity; no buffer carries it"


def check_goals_of_links(scenario: Scenario) -> None:
    """Refuse queues whose size is not in packets, and goals of a traffic class."""
    if not DISCIPLINES[scenario.queue.discipline].drops_tail:
        wrong = f"for links of a network {scenario.queue.discipline} cannot be sized"
        raise ScenarioError("queue", wrong, "write drop-tail", field="queue.discipline")
    for index, group in enumerate(scenario.traffic):
        if getattr(group, "goals", None) is not None:
            wrong = "links of a network are sized only for goals of links"
            hint = "write them under [goals]"
            raise ScenarioError("goals", wrong, hint, field=f"traffic.{index}")


def _chosen(problem: Problem, link: str | None, link_class: str | None) -> Ints:
    graph, crossed = problem.graph, np.unique(problem.paths)
    if link is not None:
        if link not in graph.link_names:
            some = ", ".join(graph.link_names[:_MOST_NAMED])
            raise _refused("link", f'there is no link "{link[:60]}"', f"write one such as {some}")
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


def _refused(field: str, wrong: str, hint: str) -> ScenarioError:
    return ScenarioError("link", wrong, hint, field=field)


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
