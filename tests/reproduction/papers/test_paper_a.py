"""Paper A's claims: their files are whole, their bands follow, and a quick run says the same."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cases import cases

import forebay
from forebay.effort import Effort
from forebay.reproduction import find
from forebay.reproduction.claims import Claim, read_claims
from forebay.reproduction.page import draw_reproduction
from forebay.reproduction.papers.appenzeller_2004 import short


def folder(name: str) -> Path:
    found = find(f"A.{name}").folder
    assert found is not None
    return found


# What a quick run says is red: findings, each with its reason in the artefact's page. The runs are
# deterministic, so that a change of any of them is a change of the simulator.
RED: dict[str, set[str]] = {
    "fig4": set(),
    "fig5": set(),
    "fig6": set(),
    "fig7": set(),
    "fig8": {"deviation", "normal"},
    "fig9": {"follows"},
    "fig10": {"law", "slower-access"},
    "fig11": {"holds"},
    "fig12": set(),
    "fig13": {"enough", "lengths"},
    "fig14": set(),
    "oc3-campaign": {"need-250"},
    "fig16": {"matches"},  # of the testbed's runs
    "headline": set(),
    "one-nth": {"needed"},
    "scope": {"limited-6", "latency-linux"},
    "pareto": {"utilization"},
    "villamizar-song": set(),
    "morris": {"utilization"},
    "red": {"many", "few"},
    "goodput-loss-fairness": {"law", "law-least", "fairness"},
}


def load(name: str) -> Any:
    return find(f"A.{name}").load()


def claim(artefact: str, name: str) -> Claim:
    return next(each for each in read_claims(folder(artefact)) if each.name == name)


SLOW = (
    "red", "fig11", "fig12", "fig13", "fig14", "fig4", "fig8", "goodput-loss-fairness", "headline",
    "oc3-campaign", "one-nth", "scope", "fig10", "fig16",
)  # fmt: skip


@pytest.mark.parametrize("name", cases(sorted(RED), lambda name: name not in SLOW))
def test_a_quick_run_says_what_the_page_says_and_draws(name: str, tmp_path: Path) -> None:
    made = load(name).reproduce(Effort(seeds=1, jobs=2), quick=True)
    assert made.artefact == f"appenzeller-2004/{name}"
    names = {each.says: each.name for each in read_claims(folder(name))}
    red = {names[row[0]] for row, good in zip(made.rows, made.verdicts, strict=True) if not good}
    assert red == RED[name], made.reasons
    draw_reproduction(made, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 5_000


@pytest.mark.parametrize("name", sorted(RED))
def test_the_files_are_whole(name: str) -> None:
    page = (folder(name) / "README.md").read_text()
    assert page.startswith("# Appenzeller et al. 2004") and f"forebay reproduce A.{name}" in page
    claims = read_claims(folder(name))
    assert len({each.name for each in claims}) == len(claims)
    assert all(each.because and each.says and each.where for each in claims)
    assert forebay.load(folder(name) / "scenario.toml").name
    missing = [each.name for each in claims if each.name in RED[name] and not each.miss]
    assert not missing, "a red row says why"


def test_the_headline_s_bands_are_eq_6() -> None:
    """Section 3.2: at least erf(3 sqrt 3 / (2 sqrt 2) B sqrt n / (2 T C + B))."""
    bdp = {rate: rate * 0.25 / 12_000 for rate in (2.5e9, 10e9)}
    oc48 = eq_6(0.01 * bdp[2.5e9], 10_000, bdp[2.5e9])
    assert claim("headline", "oc48").at_least == pytest.approx(100 * oc48, abs=0.005)
    assert claim("headline", "oc48-lost").at_most == pytest.approx(100 * (1 - oc48), abs=0.005)
    oc192 = eq_6(10e6 / 12_000, 50_000, bdp[10e9])
    assert claim("headline", "oc192").at_least == pytest.approx(100 * oc192, abs=0.01)


def eq_6(buffer: float, n: int, bdp: float) -> float:
    return math.erf(3 * math.sqrt(3) / (2 * math.sqrt(2)) * buffer * math.sqrt(n) / (bdp + buffer))


def test_the_sawtooth_s_period_is_appendix_b_s() -> None:
    """T = 1.5 B^2 / C = 30.2 s with B = 142 packets and 1000 packets/s."""
    period = claim("fig4", "period")
    assert period.published == pytest.approx(1.5 * 142**2 / 1000, abs=0.05)
    assert period.at_least == pytest.approx(30.2 * 0.95, abs=0.05)
    assert period.at_most == pytest.approx(30.2 * 1.05, abs=0.05)
    away = max(math.sqrt(2 * s + 1) - 1 - s / 1.5 for s in (i / 1000 for i in range(1501)))
    assert away == pytest.approx(0.0833, abs=1e-4)  # a straight line would be out of the band
    root = claim("fig4", "root").at_most
    assert root is not None and root < 100 * away


def test_half_a_buffer_s_band_is_the_fluid_sawtooth_s() -> None:
    """Window 0.75 to 1.5 bdp: below bdp it grows by one a round trip, above by C/W."""
    short, long = 0.25, (1.5**2 - 1) / 2
    used = 100 * ((1 - 0.75**2) / 2 + long) / (short + long)
    assert used == pytest.approx(96.4, abs=0.05)
    band = claim("fig5", "utilization")
    assert (band.at_least, band.at_most) == pytest.approx((used - 1, used + 1), abs=0.05)
    assert "96.4" in claim("villamizar-song", "half-1").because


@pytest.mark.parametrize("length, error", [(14, 0.022), (62, 0.042)])
def test_figure_10_s_band_is_its_noise(length: int, error: float) -> None:
    """Reflected Brownian motion: relative error sqrt(2 s^2 / (T (1 - rho)^2))."""
    bursts = forebay.laws.bursts.Bursts.of_lengths([length])
    variance = 0.8 * bursts.moment(2) / bursts.mean
    packet_times = 5 * 80_000 / 0.8
    found = math.sqrt(2 * variance / (packet_times * 0.2**2))
    assert found == pytest.approx(error, abs=0.001)
    band = claim("fig10", "coincide").at_most
    assert band is not None and band >= 100 * 3.5 * found


def test_figure_10_s_peaks_are_the_law_s() -> None:
    """Section 4: 14 packets queue more than 16; largest bursts are likeliest at 2^k - 2."""
    law = short.law
    for peak, beside in ((14, (10, 16)), (30, (26, 36)), (62, (56, 70))):
        assert all(law(peak) > law(other) for other in beside)
    assert law(14) == pytest.approx(11.60) and law(14, as_printed=True) == pytest.approx(
        10.13, 1e-3
    )


def test_figure_16_s_model_is_shorter_than_the_exact_queue_of_its_bursts() -> None:
    """What its red row is put down to: 16 % at 0.1 %, without any simulation."""
    bursts = forebay.laws.bursts.Bursts.of_lengths([short.LENGTH])
    exact = forebay.laws.finite_queue.exact_queue(short.LOAD, bursts)
    far = short.reached(exact.tail(range(400)), 0.001) / short.tail_model(0.001) - 1
    assert far == pytest.approx(0.158, abs=0.002)
    band = claim("fig16", "matches").at_most
    assert band is not None and 100 * far > band


def test_figure_16_reads_a_tail_between_whole_packets() -> None:
    tail = 0.5 ** np.arange(12.0)
    assert short.reached(tail, 0.5**3.25) == pytest.approx(3.25)


def test_morris_s_bdp_is_the_printed_one() -> None:
    scenario = forebay.load(folder("morris") / "scenario.toml")
    assert scenario.bdp_packets == pytest.approx(217, abs=0.5)


def test_shares_that_go_by_rtt_squared_make_the_index_that_the_band_names() -> None:
    """Rates 1/RTT^2, RTT uniform over 60 to 100 ms."""
    first = (1 / 0.06 - 1 / 0.1) / 0.04
    second = (1 / 0.06**3 - 1 / 0.1**3) / 3 / 0.04
    assert first**2 / second == pytest.approx(0.92, abs=0.005)
    assert "0.92" in claim("goodput-loss-fairness", "fairness-little").because
