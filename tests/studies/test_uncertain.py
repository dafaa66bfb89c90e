"""Sizes of uncertain inputs: how ranges are read, in how many draws a size holds, what moves it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta
from tests.refused import refused

import forebay
from forebay.outcome.uncertain import Draw
from forebay.scenario import Duration
from forebay.studies.sensitivity import indices_of, influences_of, sobol_points
from forebay.studies.uncertain import Uncertain, uncertain_inputs
from forebay.studies.uncertain_size import enough_draws, uncertain_size
from forebay.words import Notation

OC3 = forebay.load("oc3-gsr")


def one(path: str, form: Any, scenario: forebay.Scenario = OC3) -> Uncertain:
    (made,) = uncertain_inputs(scenario, {path: form})
    return made


@pytest.mark.parametrize(
    ("path", "form", "share", "value"),
    [
        ("traffic.0.flows", "100..400", 0.5, 250),
        ("traffic.0.flows", {"log": [100, 400]}, 0.5, 200),
        ("link.rate", "0.1 Gbit/s..200 Mbit/s", 0.5, "0.15 Gbit/s"),
        ("link.rate", "±20%", 0.75, "170500000 bit/s"),
        ("link.rate", {"scaled": [0.5, 2]}, 0.0, "77500000 bit/s"),
        ("traffic.0.flows", [50, 100], 0.49, 50),
        ("traffic.0.flows", {"values": [50, 100], "shares": [3, 1]}, 0.74, 50),
        ("traffic.0.congestion_control", ["reno", "cubic"], 0.5, "cubic"),
        ("traffic.0.congestion_control.cubic", "0..0.5", 0.5, {"reno": 0.75, "cubic": 0.25}),
        ("traffic.0.congestion_control.cubic", "0..1", 1.0, "cubic"),
        ("traffic.0.flows", {"normal": [100, 10]}, 0.5, 100),
        ("traffic.0.flows", {"normal": [100, 10]}, 0.8413447, 110),
        ("traffic.0.flows", {"lognormal": [100, 2.0]}, 0.8413447, 200),
        ("traffic.0.load", {"triangular": [0.1, 0.2, 0.5]}, 1.0, 0.5),
    ],
)  # fmt: skip
def test_a_range_has_a_value_at_each_share(path: str, form: Any, share: float, value: Any) -> None:
    scenario = forebay.load("pareto") if path == "traffic.0.load" else OC3
    assert one(path, form, scenario).at(share) == value


def test_a_range_of_the_round_trip_keeps_its_spread() -> None:
    """Round trips that are all alike synchronize windows, which nobody asked for."""
    found = one("traffic.0.rtt", "50 ms..200 ms")
    assert found.at(0.0) == {"uniform": ["40 ms", "60 ms"]}
    assert found.at(1.0) == {"uniform": ["160 ms", "240 ms"]}
    made = OC3.replace({"traffic.0.rtt": found.at(0.4)})
    assert float(made.mean_rtt) == pytest.approx(0.110)
    alike = OC3.replace({"traffic.0.rtt": "100 ms"})
    assert Duration.parse(one("traffic.0.rtt", "50 ms..200 ms", alike).at(0.0)) == 0.05


def test_no_value_is_out_of_a_distribution() -> None:
    found = one("traffic.0.flows", {"normal": [10, 20]})
    drawn = [found.at(share) for share in np.linspace(0.0, 1.0 - 2**-30, 500)]
    assert min(drawn) >= 1
    assert drawn == sorted(drawn)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "names no input"),
        ({"traffic.0.flow": "1..2"}, "traffic.0.flow.*there is no such key"),
        ({"traffic.7.flows": "1..2"}, "there is no such entry"),
        ({"traffic.9.flows": "±20%"}, r"^uncertain: traffic\.9: there is no such entry"),
        ({"traffic.0.flows": "many"}, '"many" is no range'),
        ({"traffic.0.flows": "5...40"}, '"5...40" is no range'),
        ({"traffic.0.flows": "5..5"}, "both ends are equal"),
        ({"traffic.0.flows": "0..9"}, "0 is below the least"),
        ({"traffic.0.flows": {"log": [0, 9]}}, "has no 0"),
        ({"traffic.0.flows": {"poisson": [9]}}, "poisson.*is no key here"),
        ({"traffic.0.flows": {"normal": [100]}}, "write a list of 2"),
        ({"traffic.0.flows": {"normal": [100, -1]}}, "above 0"),
        ({"traffic.0.flows": {"lognormal": [100, 0.5]}}, "factor above 1"),
        ({"traffic.0.flows": {"triangular": [3, 1, 2]}}, "the likeliest"),
        ({"traffic.0.flows": [100]}, "two or more"),
        ({"traffic.0.flows": {"values": [1, 2], "shares": [1, 0]}}, "2 numbers above 0"),
        ({"link.rate": "100..200"}, "has no unit"),
        ({"link.rate": "1 Mbit/s..2 s"}, "two kinds"),
        ({"link.rate": "±120%"}, "±1% to ±99%"),
        ({"traffic.0.congestion_control": "±10%"}, "cannot be scaled"),
        ({"traffic.0.congestion_control.reno": "0..1"}, "every flow has reno already"),
        ({"traffic.0.congestion_control.cubic": "0..2"}, "2 is no share"),
        ({"traffic.0.congestion_control.vegas2": "0..1"}, "not a known congestion control"),
        (
            {"traffic.0.congestion_control": ["reno", "bbr"],
             "traffic.0.congestion_control.cubic": "0..1"},
            "uncertain twice",
        ),
    ],
)  # fmt: skip
def test_a_bad_range_is_one_line(given: dict[str, Any], said: str) -> None:
    with refused(said):
        uncertain_inputs(OC3, given)


def test_a_value_that_another_field_does_not_allow_is_named() -> None:
    udp = {"kind": "udp", "flows": 9, "rate": "2 Mbit/s", "access_rate": "9 Mbit/s"}
    datagrams = OC3.replace({"traffic": [udp], "goals": {"loss_rate": 0.01}})
    with refused(None) as caught:
        uncertain_inputs(datagrams, {"traffic.0.access_rate": "1 Mbit/s..9 Mbit/s"})
    said = caught.value.worded(Notation.COMMAND_LINE)
    assert said.startswith("--uncertain, traffic.0.access_rate = 1 Mbit/s: traffic.0.rate: 2 M")


def sized(
    draws: Sequence[tuple[float | None, float | None]], holds: float, without: str = "no buffer"
) -> forebay.UncertainSize:
    """Return the answer of draws with these ends; those without have this state."""
    made = [
        Draw(values=(at,), least=low, largest=high, state=without if low is None else "sized")
        for at, (low, high) in enumerate(draws)
    ]
    numbers = np.arange(len(draws), dtype=float)[:, None]
    inputs = [one("traffic.0.flows", f"1..{len(draws)}")]
    return uncertain_size(
        ("of a test", "theory", "buffer"), holds, inputs, made, numbers, (7.0, 1500.0)
    )


def test_the_size_is_the_quantile_of_what_the_draws_need() -> None:
    found = sized([(float(at), None) for at in range(1, 101)], 0.95)
    assert found.buffer.packets == 95
    assert found.buffer.bytes == 95 * 1500
    assert found.held.value == 0.95
    assert found.held.low == pytest.approx(beta.ppf(0.025, 95, 6))  # Clopper and Pearson 1934
    assert found.held.high == pytest.approx(beta.ppf(0.975, 96, 5))
    # The interval's ends are the sizes whose own intervals just have 95 % in them.
    assert beta.ppf(0.975, found.buffer.low + 1, 100 - found.buffer.low) >= 0.95
    assert beta.ppf(0.975, found.buffer.low, 101 - found.buffer.low) < 0.95
    assert found.recommended == found.buffer.high == 100  # of 99 the lower end is 94.6 %
    assert found.exit_status == 0
    assert "recommends more" not in str(found)
    draws = tuple(
        each.model_copy(update={"recommended": 2 * (each.least or 0)}) for each in found.draws
    )
    said = str(found.model_copy(update={"draws": draws}))
    assert "in 50 of 100 draws a sizing recommends more, up to 200 packets" in said


def test_few_draws_recommend_nothing_and_say_how_many_would() -> None:
    assert enough_draws(0.95) == 72  # 0.025 ** (1 / 72) is above 0.95, of 71 below
    found = sized([(float(at), None) for at in range(1, 41)], 0.95)
    assert found.buffer.high is None
    assert found.recommended is None
    assert "72 or more can" in str(found.reason)
    assert found.exit_status == 3
    assert str(found).splitlines()[0].endswith(f"95 % interval {found.buffer.low} or more")


def test_a_goal_that_limits_the_size_from_above_counts() -> None:
    """Half of the draws need at least 50 packets, the other half at most 40."""
    found = sized([(50.0, None), (10.0, 40.0)] * 50, 0.95)
    assert found.buffer is None
    assert found.held.value == 0.5
    assert found.exit_status == 1
    assert found.reason == "no size meets the goals in so many draws"
    both = sized([(50.0, None), (10.0, 60.0)] * 50, 0.95)
    assert both.buffer.packets == 50
    assert both.held.value == 1.0


def test_draws_without_an_answer_are_the_reason_where_they_are() -> None:
    draws = [(20.0, None)] * 90 + [(None, None)] * 10
    lacking, found = sized(draws, 0.95), sized(draws, 0.95, "why")
    assert found.reason == "too many draws have no answer, 10 of 100" and found.exit_status == 3
    none = sized([(None, None)] * 100, 0.95, "why")
    assert none.reason == "too many draws have no answer, 100 of 100"
    assert "no size is shown to hold" in found.figure().get_suptitle()
    assert "no buffer holds" in lacking.figure().get_suptitle()


@pytest.mark.parametrize("ask", [forebay.size_uncertain, forebay.sensitivity])
def test_a_scenario_without_goals_is_refused_before_it_is_sized(ask: Any) -> None:
    with pytest.raises(forebay.SizingError, match="the scenario has none") as caught:
        ask(OC3.replace({"goals": {}}), uncertain={"link.rate": "±10%"}, engine="theory")
    assert caught.value.code == "no-goals"


def test_a_value_that_moves_another_field_out_of_its_range_is_named() -> None:
    with refused(r"uncertain, link\.rate = .*: queue\.size: "):
        uncertain_inputs(
            OC3.replace({"queue.size": "1 bdp/sqrt(n)"}), {"link.rate": "1 kbit/s..1 Gbit/s"}
        )


def test_draws_without_a_buffer_count_as_not_held() -> None:
    found = sized([(20.0, None)] * 96 + [(None, None)] * 4, 0.95)
    assert found.held.value == 0.96
    assert found.impossible == 4
    assert "no buffer at all meets the goals in 4 draws" in str(found)
    assert sized([(20.0, None)] * 90 + [(None, None)] * 10, 0.95).exit_status == 1


def test_indices_of_a_sum_are_known() -> None:
    """Of x + 2 y with equal uniform inputs: 1/5 and 4/5, and nothing together (Sobol' 2001)."""
    inputs = [one("traffic.0.flows", "1..1000"), one("queue.size", "1 packets..1000 packets")]
    points = sobol_points(inputs, 256, 1)
    packets = [x + 2.0 * float(y.split()[0]) for x, y in points]
    indices, kept = indices_of(inputs, packets, 256)
    assert kept == 256
    found = influences_of(inputs, (0.0, 1.0), points[0], packets[:5], indices)
    of = {each.path: each for each in found}
    for path, share in (("traffic.0.flows", 0.2), ("queue.size", 0.8)):
        for metric in (of[path].first, of[path].total):
            assert metric.value == pytest.approx(share, abs=0.03)
            assert metric.low < share < metric.high
    assert [each.path for each in found] == ["queue.size", "traffic.0.flows"]
    gaps = [None if at % 256 == 3 else p for at, p in enumerate(packets)]
    assert indices_of(inputs, gaps, 256)[1] == 128
    assert indices_of(inputs, [None] * len(packets), 256) == ({}, 0)


def test_three_numbers_of_flows_by_the_square_root_law(tmp_path: Path) -> None:
    """B = RTT C / sqrt(n): 95 % of draws of three equal chances need the size of the fewest."""
    store, lines = tmp_path / "draws.sqlite", []
    ranges = {"traffic.0.flows": [50, 100, 400]}
    found = forebay.size_uncertain(
        OC3, ranges, "theory", draws=16, store=store, announce=lines.append
    )
    alone = forebay.size(OC3.replace({"traffic.0.flows": 50}), "theory").buffer
    assert found.buffer.packets == alone.packets
    assert found.as_written == 128.0
    (moved,) = found.influences
    assert moved.shown
    assert moved.share == 1.0
    assert [said for said, _ in moved.levels] == ["50", "100", "400"]
    assert found == forebay.size_uncertain(
        OC3, ranges, "theory", draws=16, store=store, announce=lines.append
    )
    assert lines[0].startswith("3 sizings, about")  # equal draws are sized once
    assert lines[1].startswith("3 sizings, 3 of them stored")


def test_the_command_prints_the_answer_as_json_too(printed, tmp_path):
    picture = tmp_path / "draws.svg"
    ask = "size oc3-gsr --engine theory --draws 16 --json"
    ask += f" --uncertain 'traffic.0.flows={{ values = [90, 100] }}' --figure {picture}"
    document = json.loads(printed(ask, status=3))  # so few draws show nothing
    assert document["held"]["n"] == 16
    assert len(document["draws"]) == 16
    assert document["inputs"] == ["traffic.0.flows"]
    assert b"draws whose goals it meets" in picture.read_bytes() or picture.stat().st_size > 1000


def test_report_reads_and_draws_an_answer(tmp_path, printed):
    found = sized([(20.0, None)] * 99 + [(None, None)], 0.95)
    path, picture = tmp_path / "answer.json", tmp_path / "answer.svg"
    found.save(path)
    assert printed(f"report {path} --figure {picture}") == f"{found}\n"
    assert picture.read_bytes().startswith(b"<?xml")


def test_an_answer_without_a_size_says_so_where_it_is_shown() -> None:
    link = forebay.load("oc3-gsr")
    found = {
        holds: forebay.size_uncertain(link, {"link.rate": "±20%"}, "theory", draws=8, holds=holds)
        for holds in (0.5, 0.95)
    }
    assert f"{found[0.5].recommended} packets" in repr(found[0.5])
    assert repr(found[0.95]).endswith("theory: no size is recommended)")
