"""The governing law's band narrows an extrapolated interval, and an interval holds its answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.search.known_links import link

from forebay import laws
from forebay.search.problem import LawContext, problem_of
from forebay.search.strategies.scaling.extrapolate import Carried
from forebay.search.strategies.scaling.law_band import band, note_of, within_law

GOVERNS = SimpleNamespace(
    law="a/law", regime="", why="", would_change="", times_simulation=(1.2, 2.4)
)


def problem(packets: float | None = 1200.0, goals: str = "utilization = 0.98", **more: Any) -> Any:
    law = SimpleNamespace(
        law="a/law", packets=packets, assumptions_hold=True, broken_assumptions=(), source="",
        between=None,
    )  # fmt: skip
    context = LawContext((law,), SimpleNamespace(**{**vars(GOVERNS), **more}))
    return problem_of(link("1 Gbit/s", 500, goals), "simulation", context)


def carried(low: float, packets: float, high: float) -> Carried:
    return Carried(packets, low, high, 0.5, 0.4, 0.6)


@pytest.mark.parametrize(
    ("found", "narrowed"),
    [
        ((10.0, 600.0, 9000.0), (500.0, 600.0, 1000.0)),
        ((10.0, 50.0, 9000.0), (500.0, 500.0, 1000.0)),
        ((10.0, 4000.0, 9000.0), (500.0, 1000.0, 1000.0)),
        ((700.0, 800.0, 900.0), (700.0, 800.0, 900.0)),
        ((10.0, 20.0, 30.0), (10.0, 20.0, 30.0)),
        ((2000.0, 2500.0, 9000.0), (2000.0, 2500.0, 9000.0)),
    ],
)
def test_an_interval_is_cut_to_the_band_and_keeps_its_answer(
    found: tuple[float, float, float], narrowed: tuple[float, float, float]
) -> None:
    """The law's 1200 packets are 1.2 to 2.4 times what is needed: 500 to 1000."""
    made = within_law(carried(*found), problem())
    assert (made.low, made.packets, made.high) == pytest.approx(narrowed)
    assert made.low <= made.packets <= made.high


@pytest.mark.parametrize(
    "asked",
    [
        problem(packets=None),
        problem(goals="loss_rate = 0.01"),
        problem(goals="utilization = 0.98\nloss_rate = 0.01"),
        problem(times_simulation=None),
        problem(law=None),
    ],
)
def test_no_band_leaves_the_interval(asked: Any) -> None:
    assert band(asked) is None and note_of(asked, 10, 9000) == []
    assert within_law(carried(10.0, 600.0, 9000.0), asked) == carried(10.0, 600.0, 9000.0)


@pytest.mark.parametrize(
    ("low", "high", "said"), [(500, 1000, 1), (500, 900, 1), (600, 1000, 1), (600, 900, 0)]
)
def test_a_note_says_that_the_law_is_an_end_of_the_interval(low: int, high: int, said: int) -> None:
    notes = note_of(problem(), low, high)
    assert len(notes) == said
    assert all("a/law, which governs here, narrows the interval" in each for each in notes)


def test_a_port_of_800_gbit_s_has_the_band_of_eq_6() -> None:
    """20,000 CUBIC flows: eq. 6 says 43.5 k packets, 1.2 to 2.6 times what is needed."""
    port = link("800 Gbit/s", 20_000, "utilization = 0.99").replace(
        {"traffic.0.rtt": {"uniform": ["5 ms", "180 ms"]}}
    )
    context = LawContext(laws.for_scenario(port), laws.regime_of(port))
    found = band(problem_of(port, "simulation", context))
    assert found == pytest.approx((16_745, 36_281), rel=0.01)


@pytest.mark.parametrize(
    ("rtt", "control", "times"),
    [
        (["5 ms", "180 ms"], "cubic", (1.2, 2.6)),
        (["80 ms", "100 ms"], "cubic", (1.2, 4.5)),
        (["5 ms", "180 ms"], "reno", (0.8, 2.1)),
        (["80 ms", "100 ms"], "reno", (0.8, 4.0)),
    ],
)
def test_the_factors_are_those_of_the_sentence(
    rtt: list[str], control: str, times: tuple[float, float]
) -> None:
    changes = {"traffic.0.rtt": {"uniform": rtt}, "traffic.0.congestion_control": control}
    governs = laws.regime_of(link("1 Gbit/s", 500).replace(changes))
    assert governs.times_simulation == times
    assert f"The law gives {times[0]:g} to {times[1]:g} times the buffer" in governs.why
