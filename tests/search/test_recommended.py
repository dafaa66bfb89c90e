"""The recommended size: its rule, that it never leaves the goals, and when there is none."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from forebay.outcome import (
    Buffer,
    CurvePoint,
    GoalResult,
    Interval,
    LinkOutcome,
    LossWarning,
    Metric,
    Outcome,
    Provenance,
    Recommended,
    Scaled,
    SizeResult,
    Verdict,
)
from forebay.search.evaluations import Evaluations
from forebay.search.problem import LawContext
from forebay.search.recommended import with_recommended

FLOOR = 89
"""Packets of 1500 B: two bursts of 65,536 B and one packet of 1500 B."""


def problem(rate: float = 155e6, loss: Any = None, goals: Any = None, packet: int = 1500) -> Any:
    scenario = SimpleNamespace(
        link=SimpleNamespace(capacity=rate), packet=packet, largest_packet=1500,
        goals=SimpleNamespace(loss_rate=goals), flows_uncertain=False,
        bdp_packets=1292, n_flows=400, traffic=(),
    )  # fmt: skip
    return SimpleNamespace(scenario=scenario, limit=5000, law_context=LawContext(loss=loss))


def size(
    low: int, packets: int, high: int, region: list[tuple[int, int | None]], **more: Any
) -> SizeResult:
    parts = [Interval(low=a, high=b, binding_low=(), binding_high=()) for a, b in region]
    buffer = Buffer(packets=packets, bytes=1500 * packets, seconds=1e-3, low=low, high=high)
    return SizeResult(buffer=buffer, region=tuple(parts), **more)


def recommended(found: SizeResult, **asked: Any) -> Recommended:
    made = with_recommended(problem(**asked), found)
    assert made.recommended is not None and made.reason is None and made.exit_status == 0
    return made.recommended


def warned(usable: int | None, missed: tuple[str, ...] = (), largest: int = 900) -> LossWarning:
    return LossWarning(
        loss=0.03, of="", usable=0.01, source="a rule", packets=usable, missed=missed,
        largest=largest, loss_there=0.02,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("bounds", "region", "packets"),
    [
        ((100, 100, 100), [(100, None)], 100),
        ((90, 100, 100), [(100, None)], 100),
        ((90, 100, 130), [(100, None)], 130),
        ((90, 100, 130), [(100, 120)], 120),
        ((90, 100, 130), [(100, 110), (125, 140)], 130),
        ((90, 100, 120), [(100, 110), (125, 140)], 125),
    ],
)
def test_it_is_the_upper_end_of_the_interval_within_the_goals(
    bounds: tuple[int, int, int], region: list[tuple[int, int | None]], packets: int
) -> None:
    best = recommended(size(*bounds, region))
    assert (best.packets, best.bytes) == (packets, 1500 * packets)
    assert best.seconds == pytest.approx(packets * 12_000 / 155e6)
    assert best.why and best.floor is None


@pytest.mark.parametrize(
    ("warning", "end", "packets", "says"),
    [
        (warned(300), None, 300, "usable"),
        (warned(300), 300, 300, "usable"),
        (warned(300, ("queue_delay_p99",)), 200, 100, "not meet queue_delay_p99: no size within"),
        (warned(300), 299, 100, "no size within the goals has a usable loss"),
        (warned(None), 900, 100, "no size within the goals has a usable loss of 1 %: 2 % with 900"),
        (warned(None), 901, 100, "was not found: 2 % with 900 packets, the largest that was tried"),
        (warned(None), None, 100, "was not found"),
    ],
)
def test_it_has_a_usable_loss_where_the_goals_have_room(
    warning: LossWarning, end: int | None, packets: int, says: str
) -> None:
    best = recommended(size(90, 100, 100, [(100, end)], loss_warning=warning))
    assert best.packets == packets
    assert says in "; ".join(best.why)


@pytest.mark.parametrize(
    ("rate", "end", "packets", "says"),
    [
        (1e9, None, FLOOR, "holds two bursts of 64 KiB and one largest packet"),
        (800e9, FLOOR, FLOOR, "holds two bursts"),
        (1e9, FLOOR - 1, 7, "leave no room for two bursts of 64 KiB and one largest packet (89"),
        (0.99e9, None, 7, ""),
    ],
)
def test_a_fast_link_holds_the_bursts_of_hosts(
    rate: float, end: int | None, packets: int, says: str
) -> None:
    best = recommended(size(7, 7, 7, [(7, end)]), rate=rate)
    assert best.packets == packets and says in "; ".join(best.why)
    assert best.floor is None if rate < 1e9 else best.floor.packets == FLOOR  # type: ignore[union-attr]


def test_the_floor_counts_packets_of_the_mean_size() -> None:
    best = recommended(size(7, 7, 7, [(7, None)]), rate=1e9, packet=750)
    assert best.packets == 177  # 132,572 B over 750 B, rounded up


def test_a_floor_that_the_answer_already_has_changes_nothing() -> None:
    best = recommended(size(500, 500, 500, [(500, None)]), rate=1e9)
    assert best.packets == 500 and best.floor is not None
    assert not any("bursts" in each for each in best.why)


@pytest.mark.parametrize(("low", "packets", "high"), [(1, 3, 40), (563, 7000, 356_695), (2, 2, 20)])
def test_a_guess_is_not_recommended(low: int, packets: int, high: int) -> None:
    found = size(low, packets, high, [(packets, None)])
    made = with_recommended(problem(), found.model_copy(update={"scaled": SCALED}))
    assert made.recommended is None and made.exit_status == 3
    assert made.reason is not None and f"{low} to {high} packets" in made.reason
    assert recommended(found).packets == high, "the link itself: its upper end was simulated"


@pytest.mark.parametrize("direction", ["decreasing", "non-monotone", "increasing"])
def test_an_undecided_goal_that_limits_the_buffer_is_not_recommended(direction: Any) -> None:
    goal = GoalResult(
        name="queue_delay_p99", sense="at most", direction=direction, unit="s", target=0.01,
        reached=Metric(value=0.0099, low=0.009, high=0.011, n=5), verdict=Verdict.UNDECIDED,
        binding=False,
    )  # fmt: skip
    made = with_recommended(problem(), size(9, 9, 9, [(9, None)], goals=(goal,)))
    if direction == "increasing":  # the interval is about these
        assert made.recommended is not None
        return
    assert made.recommended is None and made.exit_status == 3
    assert made.reason == "with 9 packets, queue_delay_p99 is undecided"


def test_no_buffer_stays_no_buffer() -> None:
    none = SizeResult(buffer=None, reason="the goals contradict each other")
    assert with_recommended(problem(), none) == none and none.exit_status == 1


ONE = Metric(value=0.0, low=-0.1, high=0.1, n=6)
SCALED = Scaled(factor=50.0, error=ONE, links=(), exponent=ONE, flows_share=0.5)


def smaller_windows(packets: int = 1000) -> SizeResult:
    link = LinkOutcome(
        utilization=Metric(value=0.99, low=0.98, high=1.0, n=6), loss_rate=None,
        queue_packets=None, queue_delay_s=None, buffer_packets=packets, bdp_packets=6e6,
    )  # fmt: skip
    outcome = Outcome(
        scenario={}, engine="simulation", links={"bottleneck": link}, classes=[],
        broken_assumptions=[],
        provenance=Provenance(version="0", seeds=[1], scenario_sha256="0", wall_s=1.0),
    )  # fmt: skip
    evaluations = Evaluations((), "simulation")
    evaluations.record(packets, outcome)
    from forebay.search.result import curve_of

    found = size(900, packets, packets, [(packets, 4000)], scaled=SCALED)
    return found.model_copy(update={"curve": curve_of(evaluations)})


def falling(at_1000: float) -> Callable[[Any, int], Any]:
    """A band of a factor of four each way, which falls as the square of the buffer."""

    def law(_: Any, packets: int) -> Any:
        value = at_1000 * (1000 / packets) ** 2
        return SimpleNamespace(low=value / 4, high=4 * value)

    return law


@pytest.mark.parametrize(
    ("at_1000", "packets", "says"),
    [
        (0.00002, 1000, "the loss law gives at most 0.008 %, which is usable"),
        (0.0025, 1000, "at most 1 %"),
        (0.01, 2000, "here at most 1 %, which is usable"),
        (1.0, 1000, "or more with any size within the goals: none has a usable loss of 1 %"),
    ],
)
def test_smaller_windows_leave_the_loss_to_the_law(at_1000: float, packets: int, says: str) -> None:
    best = recommended(smaller_windows(), loss=falling(at_1000))
    assert best.packets == packets and says in "; ".join(best.why)


@pytest.mark.parametrize(
    ("law", "says"),
    [
        (None, "no law gives that of the whole link"),
        (lambda scenario, packets: None, "no law gives that of the whole link"),
        (falling(0.1), "is not decided"),
    ],
)
def test_a_loss_that_no_law_decides_is_not_recommended(law: Any, says: str) -> None:
    made = with_recommended(problem(loss=law), smaller_windows())
    assert made.recommended is None and made.exit_status == 3
    assert made.reason is not None and says in made.reason


def test_a_goal_on_the_loss_decides_it_without_a_law() -> None:
    assert recommended(smaller_windows(), goals=0.01).packets == 1000


def tried(**losses: float) -> tuple[CurvePoint, ...]:
    """Return points by "p100" packets, with their loss."""

    def point(packets: int, loss: float) -> CurvePoint:
        lost = Metric(value=loss, low=loss, high=loss, n=5)
        link = LinkOutcome(
            utilization=None, loss_rate=lost, queue_packets=None, queue_delay_s=None,
            buffer_packets=packets, bdp_packets=1000.0,
        )  # fmt: skip
        provenance = Provenance(version="", seeds=[1], scenario_sha256="", wall_s=0.0)
        outcome = Outcome(
            scenario={}, engine="simulation", links={"bottleneck": link}, classes=[],
            broken_assumptions=[], provenance=provenance,
        )  # fmt: skip
        return CurvePoint(packets=packets, seeds=5, verdict=Verdict.MET, outcome=outcome)

    return tuple(point(int(name[1:]), loss) for name, loss in losses.items())


@pytest.mark.parametrize(
    ("curve", "packets", "says"),
    [
        (tried(p100=0.10, p200=0.07, p400=0.05, p850=0.05), 400, "400 is the smallest"),
        (tried(p100=0.10, p200=0.09, p850=0.085), 100, "1 %: 8.5 % with 850 packets"),
        (tried(p100=0.10, p400=0.15, p850=0.15), 100, "1 %: 15 % with 850 packets"),
        (tried(p100=0.10, p850=0.09, p2000=0.02), 100, "1 %: 9 % with 850 packets"),
    ],
)
def test_where_no_size_has_a_usable_loss_it_loses_little_more_than_the_least(
    curve: tuple[CurvePoint, ...], packets: int, says: str
) -> None:
    warning = warned(None, largest=2000)
    best = recommended(size(90, 100, 100, [(100, 900)], loss_warning=warning, curve=curve))
    assert best.packets == packets
    assert says in "; ".join(best.why)


def test_without_a_goal_on_the_delay_no_larger_size_is_taken_for_its_loss() -> None:
    """400 flows over an OC3 lost 9 % with 30 packets, and 1 % only with four BDP."""
    curve = tried(p100=0.10, p200=0.07, p900=0.02)
    warning = warned(None, largest=900)
    best = recommended(size(90, 100, 100, [(100, None)], loss_warning=warning, curve=curve))
    assert best.packets == 100


def test_a_least_of_one_packet_gives_way_to_the_square_root_rule() -> None:
    """BBR keeps a satellite link busy with one packet, and loses one in eight."""
    curve = tried(p1=0.13, p65=0.09, p900=0.02)
    warning = warned(None, largest=900)
    best = recommended(size(1, 1, 1, [(1, None)], loss_warning=warning, curve=curve))
    assert best.packets == 65
    assert "is 65 packets, where 9 % are lost" in best.why[-1]


@pytest.mark.parametrize(("end", "packets"), [(64, 1), (None, 65)])
def test_the_rule_is_taken_within_the_goals_also_where_nothing_larger_was_tried(
    end: int | None, packets: int
) -> None:
    found = size(1, 1, 1, [(1, end)], loss_warning=warned(None, largest=1), curve=tried(p1=0.13))
    assert recommended(found).packets == packets


@pytest.mark.parametrize("at_1000", [0.00001, 0.002, 0.1])
def test_where_nothing_larger_was_tried_the_law_says_how_the_measured_loss_falls(
    at_1000: float,
) -> None:
    """3 % with 100 packets are 1 % with √3 times as many, whatever loss the law itself gives."""
    found = size(
        100, 100, 100, [(100, None)], loss_warning=warned(None, largest=100), curve=tried(p100=0.03)
    )
    best = recommended(found, loss=falling(at_1000))
    assert best.packets == 174
    assert "no larger buffer was tried" in best.why[-1] and "174 lose the 1 %" in best.why[-1]


def test_a_first_reason_that_is_of_another_size_names_it() -> None:
    """Beside a configuration of 130 packets it said "this is the upper end" of 90 to 100."""
    lossy = {"loss_warning": warned(130), "curve": tried(p100=0.03, p130=0.009)}
    found = recommended(size(90, 100, 100, [(90, None)], **lossy))
    assert found.packets == 130
    assert found.why[0] == "the least lies between 90 and 100 packets, and 100 is its upper end"
    exact = recommended(size(100, 100, 100, [(100, None)], **lossy))
    assert exact.why[0] == "100 is the least that was shown to meet the goals"
    alone = recommended(size(90, 100, 100, [(90, None)]))
    assert alone.why == ("the least lies between 90 and 100 packets, and this is the upper end",)


def test_a_loss_near_what_is_usable_is_taken_though_the_goals_have_no_end() -> None:
    """BBR at a size on the edge: noise alone decided between 731 packets and 65, 15 % lost."""
    curve = tried(p1=0.2, p65=0.15, p731=0.0154, p900=0.0150)
    warning = warned(None, largest=900)
    best = recommended(size(1, 1, 1, [(1, None)], loss_warning=warning, curve=curve))
    assert best.packets == 731
    assert "731 is the smallest that loses little more than the least" in best.why[-1]
    far = tried(p1=0.2, p65=0.15, p731=0.031, p900=0.03)
    found = size(1, 1, 1, [(1, None)], loss_warning=warning, curve=far)
    assert recommended(found).packets == 65
