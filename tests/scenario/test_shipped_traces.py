"""The shipped traces of rates: drawn by the committed models, and with the published numbers."""

from itertools import pairwise
from statistics import median

import pytest
from benches.traces import FOLDER, MODELS, text

from forebay.scenario import load
from forebay.scenario.rate_trace import RateTrace
from forebay.search.remarks import link_rates


def trace_of(name: str) -> RateTrace:
    trace = load(name).link.rate_trace
    assert trace is not None
    return trace


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_files_are_what_the_models_draw(name: str) -> None:
    assert (FOLDER / f"{name}.csv").read_text(encoding="utf-8") == text(name)
    assert trace_of(name).length_s == pytest.approx(
        150 if name == "leo-satellite" else round(trace_of(name).length_s, -1)
    )


def test_4g_has_the_median_of_huang_2012_and_wanders_as_in_winstein_2013() -> None:
    """13 Mbit/s; 200 of 1000 packets/s per root of a second is a fifth of the largest rate."""
    rates = link_rates(load("cellular-4g"))["bottleneck"]
    assert rates.p50_bps == pytest.approx(13e6, rel=0.02)
    steps = trace_of("cellular-4g").rates
    values = [rate for _, rate in steps]
    moves = [(b - a) ** 2 for a, b in pairwise(values)]
    per_root_second = (sum(moves) / len(moves) / 0.1) ** 0.5
    assert per_root_second / max(values) == pytest.approx(0.2, rel=0.15)


def test_5g_falls_to_4g_and_pauses_between() -> None:
    rates = link_rates(load("cellular-5g"))["bottleneck"]
    assert 100e6 < rates.p50_bps < 200e6, "Narayanan et al. 2020, mid-band"
    assert rates.p5_bps < 20e6 and rates.longest_zero_s == pytest.approx(0.1)


def test_a_satellite_is_assigned_anew_every_15_s() -> None:
    """Mohan et al. 2024; a median of 105 Mbit/s (Ookla)."""
    trace, rates = trace_of("leo-satellite"), link_rates(load("leo-satellite"))["bottleneck"]
    assert rates.p50_bps == pytest.approx(105e6, rel=0.02)
    assert [time for time, rate in trace.rates if not rate] == [15.0 * n for n in range(10)]
    slots = [[r for t, r in trace.rates if r and t // 15 == n] for n in range(10)]
    middles = [median(slot) for slot in slots]
    assert max(middles) > 2 * min(middles)
    assert all(max(slot) < 2.0 * min(slot) for slot in slots)


def test_wi_fi_has_the_rates_of_802_11n() -> None:
    on_air = {13, 26, 39, 52, 78, 104, 117, 130}
    shares = {round(0.7 * rate / others, 1) for rate in on_air for others in (1, 2, 3)}
    assert {rate / 1e6 for _, rate in trace_of("wi-fi").rates} <= shares | {0.0}
