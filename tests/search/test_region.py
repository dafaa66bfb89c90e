"""The feasible region, what must give way where it is empty, goals that are met either way."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.asking import size

from forebay.outcome import Relaxation, SizeResult
from forebay.scenario import Duration
from forebay.search.goals import GoalNotAnswered

SECOND = 12_000 / 155e6  # a packet on the link


def solve(scenario: Any, engine: Any, **options: Any) -> SizeResult:
    chosen: dict[str, Any] = {"seeds": (1, 2, 3, 4, 5), "max_seeds": 20}
    return size(scenario, engine, **(chosen | options))


def spans(result: SizeResult) -> list[tuple[int, int | None]]:
    return [(interval.low, interval.high) for interval in result.region]


def relaxed(result: SizeResult) -> dict[str, Relaxation]:
    return {relaxation.name: relaxation for relaxation in result.relaxations}


def three(known: SimpleNamespace, scale: float, loss: float) -> Any:
    return known.Engine(
        {
            "utilization": known.saturating(scale),
            "loss_rate": lambda b: loss / (1 + b / 50),
            "queue_delay_mean": known.delay_at(0.5),
            "queue_delay_maximum": known.delay_at(1.0),
        }
    )


@given(
    scale=st.floats(2.0, 200.0),
    target=st.floats(0.8, 0.999),
    loss=st.floats(0.001, 0.05),
    most=st.integers(1, 2000),
)
@settings(max_examples=60)
def test_the_region_of_an_exact_engine_is_exact_and_relaxations_are_the_least(
    known: SimpleNamespace, scale: float, target: float, loss: float, most: int
) -> None:
    """Against brute force over every buffer up to the limit."""
    maximum = Duration(most * SECOND * (1 + 1e-12))
    scenario = known.asked(utilization=target, loss_rate=0.005, queue_delay={"maximum": maximum})
    engine = three(known, scale, loss)
    result = solve(scenario, engine)
    curves = engine.curves
    sizes = range(1, result.limit + 1)
    meets = {
        "utilization": [curves["utilization"](b) >= target for b in sizes],
        "loss_rate": [curves["loss_rate"](b) <= 0.005 for b in sizes],
        "queue_delay_maximum": [curves["queue_delay_maximum"](b) <= maximum for b in sizes],
    }
    all_met = [b for b in sizes if all(met[b - 1] for met in meets.values())]
    if all_met:
        high = None if all_met[-1] == result.limit else all_met[-1]
        assert spans(result) == [(all_met[0], high)]
        assert result.relaxations == ()
        return
    assert result.buffer is None and result.region == ()
    assert [r.name for r in result.relaxations] == list(meets)
    for name, given_up in relaxed(result).items():
        others = [met for other, met in meets.items() if other != name]
        feasible = [b for b in sizes if all(met[b - 1] for met in others)]
        check_least(given_up, curves[name], feasible)


def check_least(given_up: Relaxation, curve: Any, feasible: list[int]) -> None:
    if not feasible:
        assert given_up.relaxed is None and given_up.packets is None
        return
    assert given_up.packets in feasible and given_up.relaxed is not None
    at_most = given_up.sense == "at most"
    best = (min if at_most else max)(curve(b) for b in feasible)
    there = curve(given_up.packets)
    assert there <= given_up.relaxed if at_most else there >= given_up.relaxed
    harm, least = (given_up.relaxed, best) if at_most else (1 - given_up.relaxed, 1 - best)
    assert least <= harm + 1e-12 and harm <= least * 1.0011 + 1e-12  # rounded to four digits


def test_the_goals_that_bind_are_named_at_both_ends(known: SimpleNamespace) -> None:
    delay = {"maximum": Duration(200.5 * SECOND)}
    scenario = known.asked(utilization=0.98, loss_rate=0.015, queue_delay=delay)
    result = solve(scenario, three(known, 40, 0.02))
    (interval,) = result.region
    assert (interval.low, interval.high) == (129, 200)
    assert interval.binding_low == ("utilization",)
    assert interval.binding_high == ("queue_delay_maximum",)
    open_ = solve(known.asked(utilization=0.98), three(known, 40, 0.02)).region[0]
    assert (open_.high, open_.binding_high) == (None, ())


def valley(at: float, depth: float) -> Any:
    """Loss of real-time packets: least at one size, more on both sides (paper B, Figure 5)."""
    return lambda b: depth * (1 + math.log(b / at) ** 2)


def mixed(known: SimpleNamespace, loss: Any, **goals: Any) -> tuple[Any, Any]:
    groups = (known.group("long", 40), known.group("udp", 1))
    engine = known.Engine(
        {"utilization": known.saturating(10), "traffic.1.loss_rate": loss, "loss_rate": loss}
    )
    return replace(known.asked(**goals), traffic=groups), engine


def test_a_goal_with_a_minimum_bounds_the_region_on_both_sides(known: SimpleNamespace) -> None:
    scenario, engine = mixed(known, valley(35, 0.01), utilization=0.9, realtime_loss=0.012)
    result = solve(scenario, engine)
    wide = math.exp(math.sqrt(0.2))
    assert spans(result) == [(math.ceil(35 / wide), math.floor(35 * wide))]
    (interval,) = result.region
    assert interval.binding_low == interval.binding_high == ("realtime_loss",)
    assert result.binding == ("realtime_loss",)


@given(at=st.floats(3.0, 3000.0), margin=st.floats(1e-4, 1.0))
@settings(max_examples=40)
def test_a_narrow_valley_is_found(known: SimpleNamespace, at: float, margin: float) -> None:
    loss = valley(at, 0.01)
    target = loss(max(1, round(at))) * (1 + margin)
    scenario, engine = mixed(known, loss, realtime_loss=target)
    result = solve(scenario, engine)
    met = [b for b in range(1, result.limit + 1) if loss(b) <= target]
    assert spans(result) == [(met[0], None if met[-1] == result.limit else met[-1])]


def test_the_least_of_a_valley_is_the_relaxation(known: SimpleNamespace) -> None:
    scenario, engine = mixed(known, valley(35, 0.01), utilization=0.9, realtime_loss=0.005)
    result = solve(scenario, engine)
    assert result.buffer is None and result.reason is not None
    assert (
        "not met at any size from 17 to 5231 packets; least missed with 35 packets" in result.reason
    )
    given_up = relaxed(result)["realtime_loss"]
    assert (given_up.packets, given_up.relaxed) == (35, 0.01)
    assert relaxed(result)["utilization"].relaxed is None


def test_several_intervals_are_said_to_be_several(known: SimpleNamespace) -> None:
    def waves(b: float) -> float:
        return 0.01 * (1 + math.cos(math.log(b)))

    scenario, engine = mixed(known, waves, realtime_loss=0.005)
    result = solve(scenario, engine)
    met = [b for b in range(1, result.limit + 1) if waves(b) <= 0.005]
    edges = [b for b in met if b - 1 not in met]
    assert len(edges) == 2
    assert [low for low, _ in spans(result)] == edges
    assert result.buffer is not None and result.buffer.packets == edges[0]
    assert "2 separate ranges" in result.notes[-1]


def test_noise_leaves_relaxations_on_the_safe_side(known: SimpleNamespace) -> None:
    delay = {"maximum": Duration(60.5 * SECOND)}
    scenario = known.asked(utilization=0.98, queue_delay=delay)
    engine = three(known, 40, 0.0)
    engine.noise = {"utilization": 0.003}
    given_up = relaxed(solve(scenario, engine))["utilization"]
    assert given_up.packets == 60 and given_up.relaxed is not None and given_up.reached is not None
    assert given_up.reached.low is not None
    assert given_up.reached.low - 1e-3 < given_up.relaxed <= given_up.reached.low


def test_probabilities_and_quantiles_are_goals_of_their_own(known: SimpleNamespace) -> None:
    """Yang, Zhang, Xu 2013, section III: P(utilization) >= tau and P(loss) >= rho."""
    scenario = known.asked(
        utilization={"at_least": 0.95, "probability": 0.98},
        loss_rate={"at_most": 0.01, "probability": 0.9},
        queue_delay={"quantile": 0.999, "at_most": Duration(400.5 * SECOND)},
    )
    engine = known.Engine(
        {
            "utilization_probability": known.saturating(40),
            "loss_rate_probability": known.saturating(100),
            "queue_delay_p99.9": known.delay_at(1.0),
        }
    )
    result = solve(scenario, engine)
    assert spans(result) == [(known.meets_at(100, 0.9), 400)]
    titles = [goal.title for goal in result.goals]
    assert titles[0] == "share of round trips with utilization of at least 95 %"
    assert titles[2] == "99.9 % quantile of the queue delay"
    with pytest.raises(GoalNotAnswered, match="utilization_probability"):
        solve(scenario, known.Engine({"utilization": known.saturating(40)}))


def test_completion_times_are_compared_with_a_buffer_that_drops_nothing(
    known: SimpleNamespace,
) -> None:
    """AFCT + 12.5 % (paper A, Figure 12); loss ends at 30,000 packets here."""
    engine = known.Engine(
        {
            "traffic.0.fct_mean": lambda b: 0.2 + 1.0 / b,
            "loss_rate": lambda b: max(0.0, 1e-4 * (1 - b / 30_000)),
        }
    )
    scenario = replace(known.asked(fct_increase=0.125), traffic=(known.group("short"),))
    result = solve(scenario, engine)
    unlimited = 0.2 + 1 / (16 * result.limit)  # the first of limit, 4 limit, … without loss
    assert result.buffer is not None
    assert result.buffer.packets == math.ceil(1 / (1.125 * unlimited - 0.2))
    assert (16 * result.limit, (1, 2, 3, 4, 5)) in engine.calls
    assert f"compared with {16 * result.limit} packets, where nothing" in result.notes[-1]


def test_goals_of_a_class_are_read_from_that_class(known: SimpleNamespace) -> None:
    groups = (known.group("long"), known.group("short", 50, loss_rate=0.002))
    engine = known.Engine(
        {"traffic.0.loss_rate": lambda b: 1.0, "traffic.1.loss_rate": lambda b: 0.02 / (1 + b / 50)}
    )
    result = solve(replace(known.asked(), traffic=groups), engine)
    assert spans(result) == [(450, None)]
    assert result.binding == ("traffic.1.loss_rate",)


def by_flows(known: SimpleNamespace, scale: Any, share: Any = lambda n: 1.0) -> Any:
    return known.Engine(
        lambda scenario: {
            "utilization": known.saturating(scale(scenario.n_flows)),
            "queue_delay_maximum": known.delay_at(share(scenario.n_flows)),
        }
    )


def test_a_range_of_flows_is_served_at_both_ends(known: SimpleNamespace) -> None:
    scenario = replace(known.asked(utilization=0.98), flows_between=(100, 400))
    result = solve(scenario, by_flows(known, lambda n: 400 / math.sqrt(n)))
    few, many = known.meets_at(40, 0.98), known.meets_at(20, 0.98)
    assert result.buffer is not None and result.buffer.packets == few
    assert [(e.flows, e.buffer and e.buffer.packets) for e in result.ends] == [
        (100, few), (400, many),
    ]  # fmt: skip
    document = json.loads(json.dumps(result.to_dict()))
    assert [end["flows"] for end in document["flows"]] == [100, 400]


def test_a_range_that_no_buffer_serves_says_what_must_give_way(known: SimpleNamespace) -> None:
    """Few flows need 129 packets; many would then wait too long, though they need but 65."""
    delay = {"maximum": Duration(150.5 * SECOND)}
    scenario = replace(known.asked(utilization=0.98, queue_delay=delay), flows_between=(100, 400))
    engine = by_flows(known, lambda n: 400 / math.sqrt(n), lambda n: 1.0 if n == 100 else 2.0)
    result = solve(scenario, engine)
    assert result.buffer is None and result.reason is not None
    assert "100 flows need 129 packets, where 400 flows miss" in result.reason
    (given_up,) = result.relaxations
    assert (given_up.name, given_up.packets) == ("queue_delay_maximum", 129)
    assert given_up.relaxed == pytest.approx(258 * SECOND, rel=1e-3)
    assert given_up.relaxed >= 258 * SECOND


def test_an_end_without_an_answer_is_named_and_its_relaxation_holds_at_both(
    known: SimpleNamespace,
) -> None:
    delay = {"maximum": Duration(100.5 * SECOND)}
    scenario = replace(known.asked(utilization=0.98, queue_delay=delay), flows_between=(100, 400))
    result = solve(scenario, by_flows(known, lambda n: 400 / math.sqrt(n)))
    assert result.buffer is None and result.reason is not None
    assert result.reason.startswith("with 100 flows: the goals contradict")
    given_up = relaxed(result)
    assert given_up["utilization"].packets == 100
    assert given_up["queue_delay_maximum"].packets == 129


def test_the_document_of_a_result_is_plain_json(known: SimpleNamespace) -> None:
    delay = {"maximum": Duration(60.5 * SECOND)}
    result = solve(known.asked(utilization=0.98, queue_delay=delay), three(known, 40, 0.0))
    document = json.loads(json.dumps(result.to_dict()))
    assert document["region"] == []
    first = document["relaxations"][0]
    assert (first["name"], first["packets"], first["target"]) == ("utilization", 60, 0.98)
    assert set(first["reached"]) == {"value", "low", "high", "n"}


def test_a_buffer_that_drops_nothing_is_looked_for_up_to_64_times_the_limit(
    known: SimpleNamespace,
) -> None:
    engine = known.Engine(
        {"traffic.0.fct_mean": lambda b: 0.2 + 1.0 / b, "loss_rate": lambda b: 0.1}
    )
    scenario = replace(known.asked(fct_increase=0.125), traffic=(known.group("short"),))
    result = solve(scenario, engine)
    assert f"compared with {64 * result.limit} packets, where 0.1 is still lost" in result.notes[-1]


@pytest.mark.parametrize(("low", "high"), [(1, 1), (1, 40), (100, 140), (500, 700)])
def test_a_goal_that_larger_buffers_miss_again_is_met_between(
    known: SimpleNamespace, low: int, high: int
) -> None:
    engine = known.Engine({"utilization": lambda b: 0.99 if low <= b <= high else 0.96})
    result = solve(known.asked(utilization=0.98), engine)
    assert result.buffer is not None and result.buffer.packets == low
    ((first, last),) = spans(result)
    assert first == low and last is not None and low <= last <= high


def test_the_picture_reaches_from_a_quarter_to_four_times_the_answer() -> None:
    from forebay.search.strategies.bisection.region import picture

    sizes = list(picture(1000, 10**6))
    assert (sizes[0], sizes[-1]) == (250, 4000)
    ratios = [above / below for below, above in pairwise(sizes)]
    assert max(ratios) == pytest.approx(min(ratios), rel=0.01)
