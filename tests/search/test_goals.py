"""Goals, verdicts, and how many seeds a verdict takes."""

import math

import pytest
from tests.outcomes import around
from tests.outcomes import metric as between
from tests.scenarios import scenario

import forebay
from forebay.outcome import Metric, Verdict
from forebay.search.evidence import all_of, judge
from forebay.search.goals import GOAL_KINDS, Goal, goals_of

KIND = {kind.name: kind for kind in GOAL_KINDS}


def metric(value: float, half: float | None = None) -> Metric:
    return between(value) if half is None else around(value, half)


@pytest.mark.parametrize(
    ("value", "half", "expected"),
    [
        (0.99, 0.005, "met"),
        (0.985, 0.01, "undecided"),
        (0.975, 0.01, "undecided"),
        (0.97, 0.005, "missed"),
        (0.98, None, "met"),  # on the target, exactly known
        (0.98, 0.0, "met"),
        (0.9799, None, "missed"),
    ],
)
def test_at_least(value, half, expected):
    assert judge(metric(value, half), 0.98, at_least=True) == expected
    mirrored = metric(1 - value, half)  # 1 - u at most 1 - target is the same question
    if half or abs(value - 0.98) > 1e-9:  # 1 - 0.98 is not exact in floating point
        assert judge(mirrored, 1 - 0.98, at_least=False) == expected


def test_all_goals_must_be_met_and_one_missed_is_enough():
    met, missed, undecided = Verdict.MET, Verdict.MISSED, Verdict.UNDECIDED
    assert all_of([met, met]) is met
    assert all_of([met, undecided]) is undecided
    assert all_of([undecided, missed, met]) is missed


def test_excess_compares_goals_of_different_units():
    assert Goal(KIND["utilization"], 0.98).normalized_excess(metric(0.96)) == pytest.approx(2)
    assert Goal(KIND["loss_rate"], 0.01).normalized_excess(metric(0.02)) == pytest.approx(2)
    assert Goal(KIND["utilization"], 1.0).normalized_excess(metric(0.999)) == math.inf
    assert Goal(KIND["utilization"], 1.0).normalized_excess(metric(1.0)) == 1


@pytest.mark.parametrize("discipline", ["drop-tail", "fq_codel"])
def test_a_class_has_its_own_goal_on_delay_under_any_discipline(discipline):
    goals = {"queue_delay_p99": "30 ms", "queue_delay_mean": "25 ms"}
    stream = {"name": "voice", "kind": "udp", "flows": 10, "rate": "80 kbit/s", "packet": "200 B"}
    bulk = {"name": "bulk", "flows": 6, "rtt": {"uniform": ["10 ms", "60 ms"]}}
    asked = scenario({
        "queue": {"discipline": discipline}, "traffic": [bulk, stream | {"goals": goals}],
        "measure": {"warmup": "3 s", "duration": "6 s"}, "goals.utilization": 0.7,
    })  # fmt: skip
    found = forebay.size(asked, seeds=1, max_seeds=2)
    names = [goal.name for goal in found.goals]
    assert names[1:] == ["traffic.1.queue_delay_mean", "traffic.1.queue_delay_p99"]
    assert found.buffer is not None
    voice = found.there.outcome.classes[1].queue_delay_s
    reached = found.there.reached("traffic.1.queue_delay_p99")
    assert reached.value == voice.p99.value <= 0.03


def test_times_and_rates_have_four_digits_and_no_exponent():
    goals = {"goals.queue_delay_p99": "1 ms", "traffic.0.goals": {"throughput": "1 Mbit/s"}}
    asked = scenario(goals)
    delay, rate = (goal for goal in goals_of(asked) if goal.kind.unit)
    shown = [delay.show(seconds) for seconds in (0.0123456, 9.9994, 10.0, 15.54)]
    assert shown == ["12.35 ms", "9999 ms", "10000 ms", "15540 ms"]
    assert [rate.show(bps) for bps in (1e10, 9.9994e9, 123456.0)] == [
        "10000 Mbit/s", "9999 Mbit/s", "0.1235 Mbit/s",
    ]  # fmt: skip
