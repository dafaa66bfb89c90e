"""Operators' questions, asked through the public verbs: an answer says what its evidence carries.

The first question of each kind runs with every change, the others by `make long`. Of a link that is
offered more than it carries, capacity is said before any size.
"""

import json
import math
import os
from typing import Any

import pytest

import forebay
from forebay.cli.program import call
from forebay.laws.quantities import overload


def each(first: Any, *others: Any) -> pytest.MarkDecorator:
    """Parametrize by cases of which only the first is short enough for every change."""
    return pytest.mark.parametrize(
        "case", [first, *(pytest.param(other, marks=pytest.mark.long) for other in others)]
    )


Fields = dict[str, Any]


def scenario(rate: str, traffic: Any, goals: Any = None, **more: Any) -> forebay.Scenario:
    more["link"] = {"rate": rate} | more.get("link", {})
    wanted = {} if goals is None else {"goals": goals}
    return forebay.Scenario(traffic=traffic, **wanted, **more)


def rtt(low: float, high: float) -> Fields:
    return {"uniform": [f"{low:g} ms", f"{high:g} ms"]}


def within_goals(found: forebay.SizeResult) -> bool:
    """Whether the recommended size, if there is one, meets the goals by the result itself."""
    best = found.recommended
    ends = [(part.low, math.inf if part.high is None else part.high) for part in found.region]
    return best is None or any(low <= best.packets <= high for low, high in ends)


MIX = {"cubic": 0.6, "bbr": 0.4}


@each(
    ("100 Gbit/s", 50_000, rtt(5, 80), "10 ms"),
    ("40 Gbit/s", 30_000, rtt(2, 40), "5 ms"),
    ("400 Gbit/s", 100_000, rtt(10, 60), "20 ms"),
    ("10 Gbit/s", 8000, rtt(1, 100), "8 ms"),
)
def test_a_fast_port_of_a_mix_is_given_no_handful_of_packets(case):
    rate, flows, trips, delay = case
    group = {"flows": flows, "rtt": trips, "congestion_control": MIX}
    found = forebay.size(
        scenario(rate, [group], {"utilization": 0.98, "queue_delay_p99": delay}), budget="4 s"
    )
    assert within_goals(found)
    if found.recommended is not None:
        assert found.recommended.packets >= 89  # two bursts of 64 KiB and a packet


@each(
    ("500 Mbit/s", "500 kB", "65 ms", "reno"),
    ("5 Gbit/s", "5 MB", "65 ms", "reno"),
    ("50 Mbit/s", "1 MB", "600 ms", "reno"),
    ("20 Mbit/s", "7 s", "40 ms", "cubic"),
)
def test_a_flow_that_still_climbs_has_no_interval(case):
    rate, queue, trip, control = case
    group = {"flows": 1, "rtt": trip, "congestion_control": control}
    outcome = forebay.run(scenario(rate, [group], queue={"size": queue}), seeds=2)
    assert outcome.classes[0].settled is False
    assert "not settled: warm-up of about" in (outcome.classes[0].unsettled or "")
    used = outcome.links["bottleneck"].utilization
    assert used.low is None and used.high is None


@each(
    ("10 Mbit/s", "200 Mbit/s", 0.95),
    ("30 kbit/s", "2 Mbit/s", 0.985),
    ("1 Gbit/s", "40 Gbit/s", 0.975),
    ("100 Mbit/s", "1.25 Gbit/s", 0.92),
)
def test_a_source_is_not_clipped_by_an_access_link_that_nobody_wrote(case):
    rate, source, lost = case
    group = {"kind": "udp", "flows": 1, "rate": source, "start": "0 s"}
    window = {"warmup": "2 s", "duration": "4 s"}
    outcome = forebay.run(scenario(rate, [group], queue={"size": "100 packets"}, measure=window))
    loss = outcome.links["bottleneck"].loss_rate
    assert loss.value == pytest.approx(lost, abs=0.005)
    assert any("the peak of the source" in line for line in outcome.assumptions)


@each(
    ("1 Gbit/s", "100 kB", 0.8),
    ("10 Gbit/s", "100 kB", 0.8),
    ("100 Gbit/s", "20 kB", 0.5),
    ("40 Mbit/s", "1 MB", 0.7),
)
@pytest.mark.parametrize("budget", ["0.5 s", "2 s"])
def test_short_flows_alone_have_an_answer_or_a_refusal_at_any_budget(case, budget):
    rate, length, load = case
    group = {"kind": "short", "length": length, "load": load}
    found = forebay.size(scenario(rate, [group], {"loss_rate": 0.005}), budget=budget)
    assert found.exit_status in (0, 3) and within_goals(found)
    assert found.recommended is not None or found.reason


@each(
    ("200 Mbit/s", 24, 16, 0.01),
    ("100 Mbit/s", 12, 8, 0.02),
    ("50 Mbit/s", 4, 16, 0.05),
    ("400 Mbit/s", 40, 10, 0.01),
)
def test_flows_of_bbr_are_not_judged_by_the_losses_of_their_start(case):
    shaped, cubic, bbr, loss = case
    groups = [
        {"flows": flows, "rtt": rtt(5, 180), "congestion_control": control}
        for flows, control in ((cubic, "cubic"), (bbr, "bbr"))
    ]
    link = {"shaper": {"rate": shaped, "burst": "250 kB"}}
    early = scenario("1 Gbit/s", groups, {"utilization": 0.95, "loss_rate": loss}, link=link)
    outcome = forebay.run(early, seeds=2)
    assert outcome.classes[1].settled is False
    if os.environ.get("FOREBAY_LONG") == "1":
        found = forebay.size(early, budget="90 s")
        if found.there is not None:
            beside, started = found.there.outcome.classes
            assert started.settled
            said = f"{beside.name} had not settled: {beside.unsettled}"
            assert beside.settled is not False or said in found.notes


@each(
    ("20 Mbit/s", 2, 550, 650),
    ("50 Mbit/s", 4, 595, 605),
    ("100 Mbit/s", 8, 500, 520),
    ("30 Mbit/s", 3, 270, 290),
)
def test_cubic_over_a_satellite_settles_in_its_own_epochs(case):
    rate, flows, low, high = case
    group = {"flows": flows, "rtt": rtt(low, high), "congestion_control": "cubic"}
    found = forebay.size(scenario(rate, [group], {"utilization": 0.95}), budget="60 s")
    assert found.recommended is not None, found.reason
    assert not any("settle in about" in note for note in found.notes)


def web(load: float) -> Fields:
    return {"kind": "short", "length": "15 kB", "load": load, "rtt": "20 ms"}


VIDEO = {"kind": "udp", "flows": 2, "rate": "1 Mbit/s"}
LONG = {"flows": 4, "rtt": "20 ms"}


def offered(*traffic: Fields, goal: str = "loss_rate", most: float = 0.01) -> forebay.Scenario:
    window = {"warmup": "20 s", "duration": "10 s"}
    return scenario("10 Mbit/s", list(traffic), {goal: most}, measure=window)


@pytest.mark.parametrize(
    ("traffic", "load"),
    [
        ((web(1.1), VIDEO), 1.3),
        ((web(0.9), VIDEO, LONG), 1.1),
        ((web(0.7), VIDEO, LONG), None),
        ((LONG,), None),
    ],
)
def test_only_what_comes_whatever_the_link_does_overloads_it(traffic, load):
    found = overload(offered(*traffic))
    assert found is None if load is None else found == pytest.approx(load)


def test_the_reason_begins_with_the_capacity():
    found = forebay.size(offered(web(1.1), VIDEO), seeds=2, max_seeds=2)
    assert found.buffer is None
    assert found.reason.startswith("the link is offered 130 %: add capacity; no buffer carries it;")


def test_so_does_why_a_size_where_the_goals_are_met():
    full = offered(web(1.1), VIDEO, goal="utilization", most=0.9)
    found = forebay.size(full, seeds=2, max_seeds=2).recommended
    assert found.why[0].startswith("the link is offered 130 %: add capacity")


def test_a_table_of_ports_says_it_too(tmp_path, capsys):
    path = tmp_path / "ports.csv"
    path.write_text("name,rate,load\nfull,10 Mbit/s,1.2\n")
    words = ["size", "--ports", str(path), "--budget", "6 s", "--seeds", "2", "--json"]
    assert call(words) in (1, 3)
    (port,) = json.loads(capsys.readouterr().out)["ports"]
    said = port["error"] or port["answer"]["reason"]
    assert "the link is offered 120 %: add capacity" in said
