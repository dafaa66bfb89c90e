"""The shipped scenarios are what their papers say, and can be read and drawn; their traces too.

Traces of rates are drawn by the committed models, and have the published numbers.
"""

from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from benches.traces import FOLDER as TRACES
from benches.traces import MODELS, text
from tests.refused import refused

from forebay.reproduction import papers
from forebay.scenario import Scenario, dumps, load, loads, shipped
from forebay.scenario.rate_trace import RateTrace
from forebay.search.remarks import link_rates
from forebay.workload import draw

FOLDER = Path(__file__).parents[2] / "scenarios"


def test_each_is_known_by_name_wherever_one_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shipped() == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert load("oc3-gsr") == load(FOLDER / "oc3-gsr.toml")
    (tmp_path / "oc3-gsr").write_text((FOLDER / "pareto.toml").read_text())
    assert load("oc3-gsr") == load(FOLDER / "pareto.toml"), "a file of that name goes before it"


@pytest.mark.parametrize("name", ["oc3", "oc3-gsr.toml", "../scenarios/oc3-gsr", ""])
def test_another_name_is_the_path_of_a_file(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused(r"no such file; write .* name: abilene-.*, oc3-gsr"):
        load(name)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_read_written_replaced_and_drawn(path):
    scenario = load(path, overrides=["measure.duration=1 s"])
    assert loads(dumps(scenario)) == scenario
    assert len(draw(scenario, 1)) > 0
    assert scenario.replace({}) == scenario
    assert scenario.replace({"name": "other"}).replace({"name": scenario.name}) == scenario
    assert Scenario.from_dict(scenario.to_dict()).sha256() == scenario.sha256()
    asked = Scenario.from_dict(scenario.to_dict(defaults=False))
    assert asked.sha256() == scenario.sha256()
    assert asked.to_dict(defaults=False) == scenario.to_dict(defaults=False)


def test_paper_b_has_four_computers_of_ten_flows():
    """Theagarajan et al., II: 4 x 10 Mbit/s with 10 flows each, 21 Mbit/s, 117 ms, 6 % video."""
    scenario = load(FOLDER / "video-and-tcp.toml")
    tcp, video = scenario.traffic
    assert (tcp.kind, tcp.flows, video.kind, video.flows) == ("long", 40, "video", 1)
    assert tcp.access_links == 4
    assert scenario.link.rate == 21e6
    assert scenario.mean_rtt == pytest.approx(0.117)
    assert video.flow_rate(21e6) / 21e6 == pytest.approx(0.06, abs=0.005)
    workload = draw(load(FOLDER / "video-and-tcp.toml", overrides=["measure.duration=1 s"]), 1)
    assert workload.access_group[:40].tolist() == [i // 10 for i in range(40)]
    assert workload.access_group[40] == 4


def test_paper_a_s_mix_offers_80_mbit_in_short_flows():
    """Appenzeller et al. 2004, §5.1.3: 400 Mbit/s, a fifth of it short flows."""
    scenario = load(FOLDER / "mix.toml")
    short = scenario.traffic[1]
    assert short.kind == "short"
    bits = 8 * short.packet * short.length.mean_packets(short.packet)
    assert short.arrivals_per_second(400e6) * bits == pytest.approx(80e6)


def test_paper_d_s_mix_is_the_one_that_its_figures_run():
    """Yang et al. 2013, VIII: 42, 51, 30, 41 and 34 flows of five protocols; 28, 67 or 90 ms."""
    scenario = load(FOLDER / "heterogeneous-mix.toml")
    flows = {group.congestion_control: group.flows for group in scenario.traffic}
    assert list(flows) == ["reno", "bic", "cubic-beta-0.8", "cubic-beta-0.7", "compound"]
    assert list(flows.values()) == [42, 51, 30, 41, 34]
    assert scenario.link.rate == 622e6 and scenario.mean_rtt == pytest.approx(0.067)
    proof = load(Path(papers.__file__).parent / "yang_2013" / "mix.toml")
    assert (scenario.link, scenario.traffic) == (proof.link, proof.traffic)
    workload = draw(load(FOLDER / "heterogeneous-mix.toml", ["measure.duration=1 s"]), 1)
    assert len(workload) == 198 and set(workload.rtt_ps) == {67_000_000_000}


def trace_of(name: str) -> RateTrace:
    return load(name).link.rate_trace


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_files_are_what_the_models_draw(name: str) -> None:
    assert (TRACES / f"{name}.csv").read_text(encoding="utf-8") == text(name)
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
