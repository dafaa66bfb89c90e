"""Paper B's proof folders: they run, bands follow the text, a number that moves is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import forebay
from forebay.effort import Effort
from forebay.outcome import Metric
from forebay.reproduction import find
from forebay.reproduction.claims import read_claims
from forebay.reproduction.papers.theagarajan_2006 import bottleneck


def folder(name: str) -> Path:
    found = find(f"B.{name}").folder
    assert found is not None
    return found


# Claims that hold, and those whose reason for not holding is written down.
RED = {
    "fig2": set(),
    "fig3": {"film-hurst", "film-knee"},
    "fig4": {"saturation-1", "saturation-2", "buffer-1", "buffer-2", "more-with-one",
             "more-with-two"},
    "fig7": {"buffer-0", "buffer-1", "buffer-2"},
}  # fmt: skip


def load(name: str) -> Any:
    return find(f"B.{name}").load()


LONG = ("fig4", "fig7")
"""Those that take ten seconds; others are of their kind."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in RED]
)
def test_quick_holds_what_the_whole_holds(name: str) -> None:
    options = {} if name in ("fig2", "fig3") else {"quick": True}
    made = load(name).reproduce(Effort(seeds=5, jobs=1), **options)
    names = {claim.says: claim.name for claim in read_claims(folder(name))}
    out = {names[row[0]] for row, good in zip(made.rows, made.verdicts, strict=True) if not good}
    assert made.artefact == f"theagarajan-2006/{name}" and made.picture is not None
    assert out == RED[name], made.reasons
    assert not any("cause not known" in reason for reason in made.reasons)


def curve(*loss: float) -> list[tuple[int, Metric]]:
    buffers = (18, 27, 35, 48, 62, 100)
    metrics = [Metric(value=each, low=each, high=each, n=5) for each in loss]
    return list(zip(buffers, metrics, strict=True))


def test_fig5_knows_the_paper_s_curve_when_it_sees_it() -> None:
    numbers = bottleneck._losses({1: curve(6, 5, 4, 4.4, 4.6, 5)})
    assert numbers == {"falls-1": 0.5, "minimum-1": 35, "rises-1": 0.25}
    claims = {claim.name: claim for claim in read_claims(folder("fig5"))}
    assert all(not claims[name].reason(value) for name, value in numbers.items())
    falling = bottleneck._losses({1: curve(6, 5, 4, 3, 2, 1)})
    assert all(claims[name].reason(falling[name]) for name in ("minimum-1", "rises-1"))


def test_fig4_interpolates_and_never_below_the_least_buffer() -> None:
    rising = [(buffer, metric.value) for buffer, metric in curve(18, 19, 20, 20, 20, 20)]
    assert bottleneck._reaches(rising, 19.5) == pytest.approx(31.0)
    assert bottleneck._reaches(rising, 17.0) == 18.0


@pytest.mark.parametrize(
    ("claim", "value"),
    [("saturation-0", 20.08), ("saturation-1", 19.32), ("saturation-2", 18.76),
     ("buffer-0", 27), ("buffer-1", 48), ("buffer-2", 62)],
)  # fmt: skip
def test_printed_values_are_the_text_s(claim: str, value: float) -> None:
    """Section II.D."""
    found = {each.name: each for each in read_claims(folder("fig4"))}[claim]
    assert found.published == value and not found.reason(value)


def test_printed_saturation_is_a_full_link_of_payload() -> None:
    assert pytest.approx(20.08, abs=0.005) == 21 * bottleneck.PAYLOAD


def test_the_set_up_is_the_shipped_scenario() -> None:
    ours = Path(__file__).resolve().parents[3] / "scenarios" / "video-and-tcp.toml"
    paper, shipped = forebay.load(folder("fig3").parent / "scenario.toml"), forebay.load(ours)
    without_goals = shipped.model_copy(update={"goals": paper.goals})  # the paper states none
    assert without_goals.sha256() == paper.sha256()


def test_fig7_s_computers_leave_tcp_what_the_text_says() -> None:
    """Section III.B: about 2.5 Mbit/s a computer, 7.6 together; the core carries 85 %."""
    scenario = forebay.load(folder("fig7") / "scenario.toml")
    left = sum(10e6 - float(each.rate) for each in scenario.traffic if each.kind == "udp")
    assert left == pytest.approx(7.6e6, abs=0.05e6)
    for videos, core in bottleneck.CORE.items():
        assert (left + videos * 1.3e6) / (core * 1e6) == pytest.approx(0.85, abs=0.01)


def test_the_films_hurst_parameter_is_no_end_stop() -> None:
    """Of noise with the spectrum of H = 1.2 the estimate is 1.2, and 0.5 without memory."""
    rng = np.random.default_rng(1)
    white = np.fft.rfft(rng.standard_normal(2**16))
    rates = np.arange(1, white.size + 1)
    for wanted in (0.5, 0.9, 1.2):
        made = np.fft.irfft(white * rates ** (0.5 - wanted))
        assert bottleneck.local_whittle(made) == pytest.approx(wanted, abs=0.05)
