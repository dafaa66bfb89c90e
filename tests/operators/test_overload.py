"""A link that is offered more than it carries: capacity is said before any size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import forebay
from forebay.cli.program import call
from forebay.laws.quantities import overload
from forebay.scenario import Scenario, loads

LINK = '[link]\nrate = "10 Mbit/s"\n[measure]\nwarmup = "20 s"\nduration = "10 s"\n'
WEB = '[[traffic]]\nkind = "short"\nlength = "15 kB"\nload = {}\nrtt = "20 ms"\n'
VIDEO = '[[traffic]]\nkind = "udp"\nflows = 2\nrate = "1 Mbit/s"\n'
LONG = '[[traffic]]\nflows = 4\nrtt = "20 ms"\n'


def scenario(*traffic: str, goals: str = "loss_rate = 0.01") -> Scenario:
    return loads(LINK + "".join(traffic) + f"[goals]\n{goals}\n")


@pytest.mark.parametrize(
    ("traffic", "load"),
    [
        ((WEB.format(1.1), VIDEO), 1.3),
        ((WEB.format(0.9), VIDEO, LONG), 1.1),
        ((WEB.format(0.7), VIDEO, LONG), None),
        ((LONG,), None),
    ],
)
def test_only_what_comes_whatever_the_link_does_overloads_it(
    traffic: tuple[str, ...], load: float | None
) -> None:
    found = overload(scenario(*traffic))
    assert found is None if load is None else found == pytest.approx(load)


def test_the_reason_begins_with_the_capacity() -> None:
    found = forebay.size(scenario(WEB.format(1.1), VIDEO), seeds=2, max_seeds=2)
    assert found.buffer is None and found.reason is not None
    assert found.reason.startswith("the link is offered 130 %: add capacity; no buffer carries it;")


def test_so_does_why_a_size_where_the_goals_are_met() -> None:
    full = scenario(WEB.format(1.1), VIDEO, goals="utilization = 0.9")
    found = forebay.size(full, seeds=2, max_seeds=2).recommended
    assert found is not None
    assert found.why[0].startswith("the link is offered 130 %: add capacity")


def test_a_table_of_ports_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ports.csv"
    path.write_text("name,rate,load\nfull,10 Mbit/s,1.2\n")
    assert call(["size", "--ports", str(path), "--budget", "6 s", "--seeds", "2", "--json"]) in (
        1,
        3,
    )
    (port,) = json.loads(capsys.readouterr().out)["ports"]
    said = port["error"] or port["answer"]["reason"]
    assert "the link is offered 120 %: add capacity" in said
