"""What a goal reads of two outcomes: known answers for every mean, ratio and interval."""

import math

import pytest
from tests.outcomes import around, class_of, link_of, metric, outcome_of, quantiles

from forebay.outcome import FCT_INCREASE, ClassOutcome, Metric, Outcome, Verdict
from forebay.search.evidence import Evidence, completion_part, judge


def kind(
    flows: int = 1,
    *,
    fct: Metric | None = None,
    least: Metric | None = None,
    sent: Metric | None = None,
    lost: Metric | None = None,
) -> ClassOutcome:
    return class_of(
        kind="short", flows=flows, throughput_bps=sent, loss_rate=lost,
        fct_s=fct and quantiles(mean=fct), fct_least_s=least and quantiles(mean=least),
    )  # fmt: skip


def outcome(*kinds: ClassOutcome, **goal_metrics: Metric) -> Outcome:
    return outcome_of(link_of(goal_metrics=goal_metrics), *kinds)


def increase(here: list[ClassOutcome], there: list[ClassOutcome] | None) -> Metric | None:
    unlimited = None if there is None else outcome(*there)
    return Evidence(outcome(*here), unlimited).completion_increase()


def bound(found: Metric | None) -> tuple[float, float]:
    """Value and lower end of a metric that has no upper end."""
    assert found.low is not None and found.high is None
    return found.value, found.low


def test_half_an_interval_is_its_larger_half():
    assert metric(1.0, 0.7, 1.1).half_width == pytest.approx(0.3)
    assert metric(1.0, 0.9, 1.5).half_width == pytest.approx(0.5)
    assert metric(1.0, 0.9).half_width is None and metric(1.0).half_width is None


def test_an_open_completion_time_is_the_lower_end_of_what_it_is_at_least():
    assert completion_part(kind(fct=metric(3.0)), "mean") == metric(3.0)
    assert completion_part(kind(least=around(2.0, 0.5)), "mean") == metric(2.0, 1.5, None)
    assert completion_part(kind(least=metric(2.0)), "mean") == metric(2.0, 2.0, None)
    assert completion_part(kind(), "mean") is None
    assert completion_part(kind(fct=metric(3.0)), "p99") is None


def test_classes_weigh_by_their_flows_and_their_intervals_add_as_independent_ones():
    here = [kind(1, fct=around(2.0, 0.3)), kind(3, fct=around(6.0, 0.4))]
    there = [kind(1, fct=around(1.0, 0.1)), kind(3, fct=around(3.0, 0.2))]
    found = increase(here, there)
    above, below = math.hypot(0.3, 3 * 0.4) / 4, math.hypot(0.1, 3 * 0.2) / 4
    assert found.value == pytest.approx(5.0 / 2.5 - 1)
    half = 2.0 * math.hypot(above / 5.0, below / 2.5)
    assert found.high - found.value == pytest.approx(half)
    assert found.value - found.low == pytest.approx(half)


def test_no_increase_without_something_to_compare_with():
    one = [kind(fct=metric(2.0))]
    assert increase(one, None) is None
    assert increase(one, [kind()]) is None and increase([kind()], one) is None
    assert increase(one, [kind(fct=metric(0.0))]) is None
    assert increase([kind(0, fct=metric(1.0))], one) is None  # nothing weighs


def test_an_increase_that_the_engine_knows_itself_is_taken():
    seen = Evidence(outcome(kind(), **{FCT_INCREASE: metric(0.1)}))
    assert seen.completion_increase() == metric(0.1)
    assert seen.completion_increase(0) is None  # it is that of all classes together


def test_what_has_not_ended_here_bounds_the_increase_from_below():
    found = increase([kind(least=metric(4.0))], [kind(fct=around(2.0, 0.1))])
    assert bound(found) == pytest.approx((1.0, 1.0 - 2.0 * 0.1 / 2.0))  # 4/2 times the error of 2
    unknown = increase([kind(fct=around(4.0, 1.0))], [kind(least=metric(2.0))])
    assert unknown == metric(-1.0, -1.0, None)
    assert unknown is not None and judge(unknown, 0.1, at_least=False) is Verdict.UNDECIDED


def test_the_bound_of_what_has_not_ended_keeps_the_noise_of_its_estimate():
    """4 ± 1 over 2 ± 0.1, less 1, is at least 1 less 2 hypot(1/4, 0.1/2), not at least 1."""
    found = increase([kind(least=around(4.0, 1.0))], [kind(fct=around(2.0, 0.1))])
    assert found is not None
    low = 1.0 - 2.0 * math.hypot(1.0 / 4.0, 0.1 / 2.0)
    assert bound(found) == pytest.approx((1.0, low))
    assert judge(found, 0.6, at_least=False) is Verdict.UNDECIDED
    assert judge(found, 0.4, at_least=False) is Verdict.MISSED


def test_real_time_loss_weighs_by_what_was_sent():
    """1 of 10 Mbit/s and 30 of 40 Mbit/s lost is 31 of 50."""
    kinds = [kind(sent=metric(9e6), lost=metric(0.1)), kind(sent=metric(10e6), lost=metric(0.75))]
    seen = Evidence(outcome(*kinds))
    both = seen.realtime_loss([0, 1])
    assert both.value == pytest.approx(31 / 50)
    assert (both.low, both.high) == (None, None)
    assert seen.realtime_loss([1]) == metric(0.75)


@pytest.mark.parametrize(
    "unknown",
    [kind(lost=metric(0.1)), kind(sent=metric(1.0)), kind(sent=metric(1.0), lost=metric(1.0))],
)
def test_real_time_loss_is_not_known_of_some_classes(unknown):
    sure = kind(sent=metric(1.0), lost=metric(0.0))
    assert Evidence(outcome(sure, unknown)).realtime_loss([0, 1]) is None


def test_real_time_loss_has_the_interval_of_independent_classes():
    kinds = [
        kind(sent=metric(3.0), lost=around(0.5, 0.1)),
        kind(sent=metric(2.0), lost=around(0.0, 0.2)),
    ]
    found = Evidence(outcome(*kinds)).realtime_loss([0, 1])
    half = math.hypot(6 * 0.1, 2 * 0.2) / 8
    assert found.value == pytest.approx(3 / 8)
    assert found.high - found.low == pytest.approx(2 * half)
