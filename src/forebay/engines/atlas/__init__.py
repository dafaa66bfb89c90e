"""The atlas: a model of simulations of today's mixes, which answers in milliseconds.

Nothing was replicated, so n = 0; intervals are of 95 %, calibrated on links that the model had not
seen (`forebay.engines.atlas.model`). Metrics that no model has are None.
"""

import time
from collections.abc import Sequence

import numpy as np

from forebay.catalogue.metrics import BOTTLENECK
from forebay.effort import DEFAULT, Effort
from forebay.engines.atlas.model import Model, load
from forebay.engines.atlas.scope import FAMILIES, Point, buffers, point_of
from forebay.engines.base import Engine, exact, mean_alone
from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Quantiles, checked
from forebay.outcome.model import ControllerOutcome
from forebay.scenario import Long, Scenario
from forebay.words import Fact
from forebay.workload.drawing import apportion

_UNKNOWN = (0.0, 0.0, 1.0)


class AtlasEngine(Engine):
    """Answers a scenario by a model of simulations of such links, in about a millisecond."""

    name = "atlas"

    def buffers(self, scenario: Scenario) -> tuple[int, int]:
        """Return the least and the largest buffer of a link that is covered, packets."""
        return buffers(scenario)

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Answer `scenario`; `seeds` are recorded, but do not change the result.

        Raises OutsideAtlas: no such links were simulated; it has the bound that is passed.
        """
        started = time.perf_counter()
        point = point_of(scenario)
        model = load(point.controls)
        outcome = checked(_outcome(scenario, point, model, list(seeds), started))
        effort.tell(1.0)
        return outcome


Ends = tuple[float, float, float]
"""Value, low and high."""


def _outcome(
    scenario: Scenario, point: Point, model: Model, seeds: list[int], started: float
) -> Outcome:
    ends: dict[str, Ends] = {
        name: (float(value[0]), float(low[0]), float(high[0]))
        for name, (value, low, high) in model.answer([point]).items()
    }
    measure, notes, settled_s = scenario.measure, [], FAMILIES[point.controls]
    warmup = float(measure.warmup)
    if warmup < settled_s and "warmup" in measure.model_fields_set:
        notes = [Fact("atlas.unsettled", warmup_s=warmup, settled_s=settled_s)]
    idle = ends["idle"]
    wait_s = point.packets / point.pps
    link = LinkOutcome(
        utilization=_metric((1.0 - idle[0], 1.0 - idle[2], 1.0 - idle[1])),
        loss_rate=_metric(ends["loss"]),
        queue_packets=_quantiles(ends["queue_mean"], ends["queue_p99"], float(point.packets)),
        queue_delay_s=_quantiles(ends["delay_mean"], ends["delay_p99"], wait_s),
        buffer_packets=point.packets,
        bdp_packets=scenario.bdp_packets,
        capacity_bps=float(scenario.link.capacity),
    )
    shares = _shares(point, ends.get("share", _UNKNOWN))
    classes = [
        _class(group, name, scenario, link, shares)
        for group, name in zip(scenario.traffic, scenario.class_names, strict=True)
        if isinstance(group, Long)
    ]
    facts = {
        "seeds": seeds,
        "wall_s": time.perf_counter() - started,
        "atlas": str(Fact("atlas.model", **model.stamp)),
    }
    return Outcome.of(scenario, "atlas", {BOTTLENECK: link}, classes, facts, broken=notes)


def _shares(point: Point, second: Ends) -> dict[str, tuple[int, Ends]]:
    """Return the flows of each control, and its share of the goodput."""
    first, other = point.controls
    if point.second in (0, point.flows):
        return {first if point.second == 0 else other: (point.flows, (1.0, 1.0, 1.0))}
    value, low, high = second
    return {
        first: (point.flows - point.second, (1.0 - value, 1.0 - high, 1.0 - low)),
        other: (point.second, second),
    }


def _class(
    group: Long,
    name: str,
    scenario: Scenario,
    link: LinkOutcome,
    shares: dict[str, tuple[int, Ends]],
) -> ClassOutcome:
    """Return a class: of each control's goodput as much as it has of that control's flows."""
    counts = {control: n for control, n in apportion(int(group.flows), group.shares).items() if n}
    parts = {control: n / shares[control][0] for control, n in counts.items()}
    used, alone = link.utilization, len(scenario.traffic) == 1
    own = [sum(parts[control] * shares[control][1][end] for control in parts) for end in range(3)]
    own = [1.0, 1.0, 1.0] if alone else own
    assert used is not None and used.low is not None and used.high is not None, "just made"
    rate = float(scenario.link.capacity)
    most = min(own[2] * used.high, 1.0) * rate
    whole = all(part == 1.0 for part in parts.values())
    controllers = {}
    for control, part in parts.items():  # with an interval if the class has all its flows
        of_all = shares[control][1]
        share = _metric(of_all) if whole else exact(part * of_all[0] / own[0])
        controllers[control] = ControllerOutcome(
            flows=counts[control], goodput_bps=None, goodput_share=share, jain=None, loss_rate=None
        )
    wait = link.queue_delay_s
    assert wait is not None and wait.mean is not None, "just made"
    return ClassOutcome(
        kind=group.kind, name=name, flows=int(group.flows), flows_active=exact(group.flows),
        link=BOTTLENECK,
        throughput_bps=_metric((own[0] * used.value * rate, own[1] * used.low * rate, most)),
        goodput_bps=None, jain=None, rtt_s=mean_alone(float(group.rtt.mean) + wait.mean.value),
        loss_rate=link.loss_rate if alone else None, timeouts=None, fct_s=None,
        queue_delay_s=wait if alone else None,
        controllers=controllers if len(counts) > 1 else None,
    )  # fmt: skip


def _metric(ends: Ends) -> Metric:
    return Metric(value=ends[0], low=ends[1], high=ends[2], n=0)


def _quantiles(mean: Ends, p99: Ends, unit: float) -> Quantiles:
    """Return parts of a whole in its unit; a mean is at most one hundredth above its p99."""
    least = max((mean[0] - 0.01) / 0.99, 0.0)
    top = (max(p99[0], least), min(p99[1], max(p99[0], least)), max(p99[2], least))
    middle = np.array(mean) * unit, np.array(top) * unit
    of_mean, of_top = (_metric((float(v), float(lo), float(hi))) for v, lo, hi in middle)
    return Quantiles(mean=of_mean, p50=None, p95=None, p99=of_top)
