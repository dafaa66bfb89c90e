"""The search against links whose curves are known: what it finds, and what it says in any time."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.search.conftest import KnownEngine, asked, delay_at, meets_at, saturating, size

from forebay.effort import DEFAULT
from forebay.outcome import SizeResult
from forebay.scenario import Goals
from forebay.search.goals import SizingError

ONE = {"seeds": [1], "max_seeds": 1}


def exact(**curves: Any) -> KnownEngine:
    return KnownEngine(curves)


@settings(max_examples=examples(60))
@given(scale=st.floats(1.0, 900.0), target=st.floats(0.6, 0.995))
def test_the_least_is_exact_where_the_engine_is(scale, target):
    found = size(asked(utilization=target), exact(utilization=saturating(scale)), **ONE)
    assert (found.buffer.packets, found.buffer.low) == (meets_at(scale, target),) * 2


@settings(max_examples=examples(40))
@given(scale=st.floats(5.0, 300.0), share=st.floats(0.2, 1.0), longest=st.floats(2e-4, 0.1))
def test_a_delay_ends_the_region_or_leaves_none(scale, share, longest):
    engine = exact(utilization=saturating(scale), queue_delay_p99=delay_at(share))
    found = size(asked(utilization=0.95, queue_delay_p99=longest), engine, **ONE)
    need, most = meets_at(scale, 0.95), math.floor(longest * 155e6 / 12_000 / share + 1e-9)
    if need <= most:
        assert found.buffer.packets == need
        assert found.recommended.packets <= most
        assert found.region[0].high == most or most >= (found.limit or 0)
    else:
        assert found.exit_status == 1 and found.buffer is None
        assert (found.reason and "contradict" in found.reason) or "missed with each" in found.reason


@pytest.mark.parametrize("world", range(12))
def test_noise_leaves_an_interval_that_holds_the_truth(world):
    scale, target = 40.0 * 1.4**world, 0.97
    engine = KnownEngine({"utilization": saturating(scale)}, {"utilization": 0.003}, world=world)
    found = size(asked(utilization=target, flows=4), engine)
    truth = meets_at(scale, target)
    assert found.buffer.low <= truth <= 1.05 * found.buffer.high
    assert found.buffer.packets <= 1.6 * truth


def test_an_engine_that_answers_from_fewer_seeds_than_asked_ends_the_search_too():
    class Fewer(KnownEngine):
        def run(self, scenario, seeds, effort=DEFAULT):
            return super().run(scenario, seeds[:1], effort)

    engine = Fewer({"utilization": saturating(40.0)}, {"utilization": 0.01}, stop_after=60)
    found = size(asked(utilization=0.97), engine, seeds=[1, 2, 3], max_seeds=3)
    assert found.buffer.low <= meets_at(40.0, 0.97) <= found.buffer.high and not found.interrupted


def test_the_region_of_a_goal_that_is_met_between_two_misses_is_found():
    """Real-time loss that falls with the buffer and rises again (paper B, Figure 5)."""

    def lost(b: float) -> float:
        return 0.01 + 0.02 * (math.log(b / 60.0)) ** 2

    scenario = asked(loss_rate=0.015, utilization=0.001)
    found = size(scenario, exact(utilization=lambda b: 0.9, loss_rate=lost), **ONE)
    low = next(b for b in range(1, 200) if lost(b) <= 0.015)
    assert found.buffer.packets == low


def test_a_range_of_flows_is_served_at_both_ends():
    def curves(scenario: Any) -> Any:
        return {"utilization": saturating(4000.0 / scenario.n_flows)}

    found = size(asked(utilization=0.95, flows="50..200"), KnownEngine(curves), **ONE)
    few, many = (end.buffer for end in found.ends)
    assert few.packets == meets_at(80.0, 0.95) == found.buffer.packets
    assert many.packets >= meets_at(20.0, 0.95)
    assert [end.flows for end in found.ends] == [50, 200]


def large(rate: str = "100 Gbit/s", flows: int = 20_000, **goals: Any) -> Any:
    return asked(rate=rate, flows=flows, **({"utilization": 0.97} | goals))


def grows(scenario: Any) -> Any:
    """A small buffer grows as the number of flows to the power of 0.4."""
    scale = 3.0 * max(1, scenario.n_flows) ** 0.4
    return {
        "utilization": saturating(scale), "loss_rate": lambda b: 0.0,
        "queue_delay_p99": lambda b: b * 12_000 / float(scenario.link.rate),
    }  # fmt: skip


def timed(scenario: Any, budget_s: float, packets_per_s: float = 2e7, **more: Any) -> SizeResult:
    engine = KnownEngine(
        grows, {"utilization": 0.001}, name="simulation", packets_per_s=packets_per_s
    )
    found = size(scenario, engine, budget_s=budget_s, clock=engine.clock, **more)
    assert engine.now <= 1.6 * budget_s
    return found


@pytest.mark.parametrize("budget_s", [3.0, 10.0, 60.0, 600.0])
def test_any_time_has_an_answer_from_smaller_links(budget_s):
    found = timed(large(), budget_s)
    truth = meets_at(3.0 * 20_000**0.4, 0.97)
    assert found.scaled is not None
    assert found.buffer.low <= truth <= found.buffer.high
    assert 0.5 * truth <= found.buffer.packets <= 2.0 * truth


def test_more_time_comes_nearer_to_the_link_and_its_answer():
    truth = meets_at(3.0 * 20_000**0.4, 0.97)
    each = [timed(large(), budget_s) for budget_s in (5.0, 100.0)]
    factors = [found.scaled.factor for found in each if found.scaled is not None]
    assert factors == sorted(factors, reverse=True) and len(factors) == 2
    widths = [math.log(found.buffer.high / found.buffer.low) for found in each if found.buffer]
    assert widths[1] < widths[0]
    assert abs(math.log(each[1].buffer.packets / truth)) < 0.5  # type: ignore[union-attr]


def test_a_link_that_fits_is_run_itself():
    found = timed(large("155 Mbit/s", 100), 60.0)
    assert found.scaled is None
    assert found.buffer.packets == pytest.approx(meets_at(3.0 * 100**0.4, 0.97), rel=0.35)


def test_a_goal_that_is_out_of_reach_on_a_smaller_link_ends_the_search():
    def lossy(scenario: Any) -> Any:
        return grows(scenario) | {"loss_rate": lambda b: 0.13}

    engine = KnownEngine(lossy, {"loss_rate": 0.001}, name="simulation", packets_per_s=2e7)
    scenario = large(loss_rate=0.005)
    found = size(scenario, engine, budget_s=60.0, clock=engine.clock)
    assert found.exit_status == 1 and engine.now < 30.0
    assert "loss of at most 0.5 % is missed with each size" in (found.reason or "")


def test_a_time_that_ends_early_says_what_was_seen():
    engine = KnownEngine(grows, name="simulation", packets_per_s=1e5)
    found = size(large(), engine, budget_s=1.0, clock=engine.clock)
    assert len(engine.calls) <= 2 and found.exit_status in (0, 3)
    assert found.curve or "fits into the time" in (found.reason or "")


def test_progress_never_goes_back_and_ends_whole():
    seen: list[float] = []
    engine = exact(utilization=saturating(30.0))
    found = size(asked(utilization=0.9), engine, progress=seen.append, **ONE)
    assert seen == sorted(seen) and seen[-1] == 1.0
    others = len(found.curve) - 1  # before the last run: their share of themselves and six more
    assert seen[-2] == pytest.approx(others / (others + 6))


def test_where_no_size_meets_the_two_largest_that_are_undecided_get_more_seeds_first():
    engine = KnownEngine({"utilization": lambda _: 0.8999}, {"utilization": 0.002}, 1.0, world=1)
    size(asked(utilization=0.9), engine, max_seeds=10)
    sizes = [int(call.split()[0]) for call in engine.calls if ", 5 seeds" in call]
    again = [int(call.split()[0]) for call in engine.calls if ", 10 seeds" in call]
    assert again[:2] == sorted(sizes)[-2:] and again[2] == sizes[0]


def test_bad_seeds_are_refused():
    engine = exact(utilization=saturating(30.0))
    with pytest.raises(SizingError, match="seeds"):
        size(asked(utilization=0.9), engine, seeds=[1, 1])


def ends_of_goals() -> list[tuple[str, float]]:
    """Return the least and the most that the goals of the link may be, by the schema."""
    fields = Goals.model_json_schema()["properties"]
    ends = ("minimum", "maximum")
    return [(name, fields[name][end]) for name in ("utilization", "loss_rate") for end in ends]


@pytest.mark.parametrize(("goal", "target"), ends_of_goals())
@pytest.mark.parametrize("budget_s", [None, 10.0])
def test_the_ends_of_a_goals_range_are_goals(goal, target, budget_s):
    """A loss of nothing had ended with a NaN."""
    curves = {
        "utilization": lambda b: min(1.0, 0.5 + b / 100),
        "loss_rate": lambda b: max(0.0, 0.1 - b / 500),
    }
    engine = KnownEngine(curves, name="simulation", packets_per_s=1e7)
    goals = {"utilization": 0.5} | {goal: target}
    found = size(asked(**goals), engine, budget_s=budget_s, clock=engine.clock)
    assert found.exit_status == 0
    wanted = {("utilization", 1.0): 50, ("loss_rate", 0.0): 50}.get((goal, target), 1)
    assert found.buffer.packets == wanted
