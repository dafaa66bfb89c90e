"""An answer with a very high loss rate has a warning, with a buffer that avoids it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.search.asking import size
from tests.search.conftest import KnownEngine, asked

from forebay.outcome import (
    ClassOutcome,
    LinkOutcome,
    Metric,
    Outcome,
    Provenance,
    SizeResult,
)
from forebay.search.acceptable_loss import is_acceptable, worst_loss


def engine(loss: float) -> KnownEngine:
    """Utilization is enough from 27 packets on; the loss falls with the root of the buffer."""
    curves = {
        "utilization": lambda b: 1 - 0.54 / b,
        "loss_rate": lambda b: loss / math.sqrt(b),
        "queue_delay_p99": lambda b: b * 1e-4,
    }
    return KnownEngine(curves)


def answer(loss: float, **goals: float) -> SizeResult:
    return size(asked(utilization=0.98, **goals), engine(loss), seeds=[1, 2], max_seeds=2)  # type: ignore[arg-type]


def test_the_buffer_that_keeps_the_loss_usable_is_found_in_a_few_more_runs() -> None:
    found = answer(0.2)  # 3.8 % at 27 packets; 1 % at 400
    assert found.buffer is not None and found.buffer.packets == 27
    told = found.loss_warning
    assert told is not None and told.of == "" and told.usable == 0.01
    assert told.loss == pytest.approx(0.2 / math.sqrt(27))
    assert told.packets is not None and 400 <= told.packets <= 440
    assert told.missed == ()
    document = found.to_dict()["loss_warning"]
    assert document["packets"] == told.packets and document["missed"] == []


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("loss", [0.02, 0.05, 0.1])
def test_it_is_found_in_few_runs_however_steeply_the_loss_falls(power: float, loss: float) -> None:
    known = KnownEngine({
        "utilization": lambda b: 1 - 0.54 / b,
        "loss_rate": lambda b: min(1.0, loss * (27 / b) ** power),
    })  # fmt: skip
    found = size(asked(utilization=0.98), known, seeds=[1, 2], max_seeds=2)  # type: ignore[arg-type]
    truth = 27 * (loss / 0.01) ** (1 / power)
    told = found.loss_warning
    assert told is not None and told.packets is not None
    assert truth <= told.packets <= 1.1 * truth + 1
    picture = 4 * 27
    assert len([b for b, _ in known.calls if b > picture]) <= 7


def test_a_goal_that_the_larger_buffer_misses_is_named() -> None:
    told = answer(0.2, queue_delay_p99=0.02).loss_warning
    assert told is not None and told.missed == ("queue_delay_p99",)


def test_where_no_buffer_keeps_it_the_largest_says_what_it_loses() -> None:
    told = answer(20.0).loss_warning
    assert told is not None and told.packets is None
    assert told.largest == math.ceil(4 * 1291.7) + 64
    assert told.loss_there == pytest.approx(20.0 / math.sqrt(told.largest))


@pytest.mark.parametrize(("loss", "goals"), [(0.04, {}), (0.2, {"loss_rate": 0.05})])
def test_no_warning_where_loss_is_usable_or_asked_for(loss: float, goals: dict[str, float]) -> None:
    assert answer(loss, **goals).loss_warning is None


def test_each_point_says_what_each_goal_got() -> None:
    found = answer(0.2, queue_delay_p99=0.02)
    point = next(each for each in found.curve if each.packets == 27)
    assert {goal.name: str(goal.verdict) for goal in point.goals} == {
        "utilization": "met", "queue_delay_p99": "met",
    }  # fmt: skip


def test_a_buffer_that_the_engine_refuses_does_not_cost_the_answer() -> None:
    class Refusal(ValueError):
        exit_status = 2

    known = engine(0.2)
    run = known.run

    def refuses(scenario: Any, *args: Any, **options: Any) -> Any:
        if scenario.buffer_packets > 200:
            raise Refusal("takes 99 GB")
        return run(scenario, *args, **options)

    known.run = refuses  # type: ignore[method-assign]
    found = size(asked(utilization=0.98), known, seeds=[1, 2], max_seeds=2)  # type: ignore[arg-type]
    assert found.buffer is not None and found.buffer.packets == 27
    assert found.loss_warning is not None and found.loss_warning.packets is None


@pytest.mark.parametrize(
    ("kinds", "name", "value"),
    [
        (("long", "udp"), "udp", 0.0004),
        (("long", "onoff"), "onoff", 0.0004),
        (("long", "video"), "video", 0.0004),
        (("long", "short"), "long", 0.0126),
    ],
)
def test_the_class_that_minds_loss_decides(kinds: tuple[str, str], name: str, value: float) -> None:
    """Voice loses 0.04 % and is fine, whatever flows lose that send again."""
    rates = (0.0126, 0.0004)
    outcome = _two_classes(kinds, rates)
    worst = worst_loss(outcome)
    assert worst[0] == name and worst[1] is not None and worst[1].value == value
    assert is_acceptable(outcome) == (value < 0.01)


def _two_classes(kinds: tuple[str, str], rates: tuple[float, float]) -> Outcome:
    def share(value: float) -> Metric:
        return Metric(value=value, low=value, high=value, n=5)

    nothing = dict.fromkeys(("throughput_bps", "goodput_bps", "jain", "rtt_s", "timeouts", "fct_s"))
    classes = [
        ClassOutcome(kind=kind, name=kind, flows=1, loss_rate=share(rate), **nothing)  # type: ignore[arg-type]
        for kind, rate in zip(kinds, rates, strict=True)
    ]
    link = LinkOutcome(
        utilization=share(0.99), loss_rate=share(0.012), queue_packets=None, queue_delay_s=None,
        buffer_packets=9, bdp_packets=90.0,
    )  # fmt: skip
    return Outcome(
        scenario={}, engine="simulation", links={"bottleneck": link}, classes=classes,
        broken_assumptions=[],
        provenance=Provenance(version="0", seeds=[1], scenario_sha256="0", wall_s=1.0),
    )  # fmt: skip
