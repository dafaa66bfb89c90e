"""The network totals of an Outcome, from simulated packets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.catalogue import KINDS
from forebay.engines.replication import problem_of
from forebay.outcome import ClassOutcome, HopsOutcome, LinkOutcome, Metric, NetworkOutcome

if TYPE_CHECKING:
    from forebay.scenario import Scenario


_HOPS = re.compile(r", (\d+) hops$")


def summarize_network(
    scenario: Scenario, links: dict[str, LinkOutcome], classes: list[ClassOutcome]
) -> tuple[dict[str, LinkOutcome], NetworkOutcome]:
    """Return the links with their class and connections, and the network's totals."""
    problem = problem_of(scenario)
    graph = problem.graph
    numbers = {name: place for place, name in enumerate(graph.link_names)}
    named = {
        name: link.model_copy(
            update={
                "link_class": graph.classes[graph.link_class[numbers[name]]],
                "flows": float(problem.flows[numbers[name]]),
                "bdp_packets": float(problem.bdp_packets[numbers[name]]),
            }
        )
        for name, link in links.items()
    }
    long = [each for each in classes if KINDS[each.kind].lasts]
    by_hops = [_of_hops(hops, long) for hops in sorted({_hops(each) for each in long})]
    return named, NetworkOutcome(
        connections=float(sum(each.flows for each in long)),
        mean_propagation_s=problem.mean_rtt_s,
        mean_rtt_s=_weighted([(each.connections, each.rtt_s) for each in by_hops]),
        mean_throughput_bps=_weighted([(e.connections, e.throughput_bps) for e in by_hops]),
        residual=None,
        by_hops=by_hops,
    )


def _of_hops(hops: int, classes: list[ClassOutcome]) -> HopsOutcome:
    mine = [each for each in classes if _hops(each) == hops]
    return HopsOutcome(
        hops=hops,
        connections=float(sum(each.flows for each in mine)),
        throughput_bps=_weighted([(e.flows, _each(e)) for e in mine]),
        rtt_s=_weighted([(e.flows, _value(e.rtt_s.mean if e.rtt_s else None)) for e in mine]),
        loss_rate=_weighted([(e.flows, _value(e.loss_rate)) for e in mine]),
    )


def _each(of: ClassOutcome) -> float | None:
    throughput = _value(of.throughput_bps)
    return None if throughput is None else throughput / of.flows


def _value(metric: Metric | None) -> float | None:
    return None if metric is None else metric.value


def _hops(each: ClassOutcome) -> int:
    found = _HOPS.search(each.name)
    return int(found[1]) if found else 0


def _weighted(values: Sequence[tuple[float, float | None]]) -> float | None:
    """Return the mean over connections; None if one of the values is None."""
    known = [(weight, value) for weight, value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(weight * value for weight, value in known) / sum(weight for weight, _ in known)
