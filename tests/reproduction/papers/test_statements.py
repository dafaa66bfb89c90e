"""Statements of papers A, B and D with artefacts of their own: whole files, and what is red."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from forebay.reproduction import Effort, Work, entries, find
from forebay.reproduction.claims import read_claims
from forebay.reproduction.papers.appenzeller_2004 import arithmetic
from forebay.reproduction.papers.appenzeller_2004.windows import growth
from forebay.reproduction.papers.yang_2013 import mix


def folder(name: str) -> Path:
    found = find(name).folder
    assert found is not None
    return found


CALCULATED = {
    "A/memory": {"sram"},
    "B/text": set(),
    "D/deployment": {"reno", "ctcp"},
    "D/curves": {"between-right"},
}
SIMULATED = (
    "A/appendix-a",
    "A/campaign",
    "A/flood",
    "A/short-flows",
    "A/synchronization",
    "A/small-windows",
    "D/eq19",
    "D/fig2",
    "D/fig3",
)


def load(name: str) -> Any:
    return find(name).load()


@pytest.mark.parametrize("name", CALCULATED)
def test_what_is_calculated_says_what_its_page_says(name: str) -> None:
    made = load(name).reproduce()
    names = {each.says: each.name for each in read_claims(folder(name))}
    red = {names[row[0]] for row, good in zip(made.rows, made.verdicts, strict=True) if not good}
    assert made.artefact == find(name).name and red == CALCULATED[name], made.reasons
    assert not any("cause not known" in reason for reason in made.reasons)


@pytest.mark.parametrize("name", [*CALCULATED, *SIMULATED])
def test_the_files_are_whole(name: str) -> None:
    page = (folder(name) / "README.md").read_text()
    assert page.startswith("# ")
    assert f"forebay reproduce {name.replace('/', '.')}" in page
    claims = read_claims(folder(name))
    assert len({each.name for each in claims}) == len({each.says for each in claims}) == len(claims)
    assert all(each.because and each.where for each in claims)


def test_figure_15_s_ram_is_worked_out() -> None:
    assert [arithmetic.ram(packets) for packets in (64, 387, 37)] == [1, 8, 0.5]
    rows = {row[0]: row[4] for row in load("A/memory").reproduce().rows}
    assert math.ceil(10e9 / 36e6) == 278 in rows.values()


def test_the_deployment_s_bounds_are_those_of_the_claims() -> None:
    for claim in read_claims(folder("D.deployment")):
        assert (claim.at_least, claim.at_most) == pytest.approx(mix.bounds(claim.name), abs=0.005)


def test_every_claim_can_fail_or_has_no_verdict() -> None:
    """A number that a scenario sets is no evidence, whatever band is put around it."""
    set_by_the_scenario = {
        ("A.fig16", "hidden"), ("A.morris", "bdp"), ("A.morris", "fraction"),
        ("A.fig4", "halves"), ("A.fig5", "halves"), ("A.fig6", "halves"),
        ("B.fig2", "rate"), ("B.fig3", "rate"), ("B.fig3", "hurst"), ("B.fig3", "knee"),
        ("B.fig4", "lower"),
        ("A.oc3-campaign", "runs"), ("A.campaign", "runs"),
    ("A.appendix-a", "first"),
    }  # fmt: skip
    found = {
        (entry.alias, claim.name)
        for entry in entries()
        if entry.folder is not None and (entry.folder / "claims.toml").exists()
        for claim in read_claims(entry.folder)
        if claim.cannot_fail
    }
    assert found == set_by_the_scenario


def test_delayed_acks_halve_what_a_round_trip_adds() -> None:
    """Appendix A's growth is that of an ACK for each packet; a receiver that delays halves it."""
    work = Work(folder("A/appendix-a"), quick=False, effort=Effort())
    each = growth(work, ())
    delayed = growth(work, ["traffic.0.delayed_ack=true"])
    assert each["doubles"] == pytest.approx(2, abs=0.1)
    assert each["adds"] == pytest.approx(1, abs=0.1)
    assert delayed["adds"] == pytest.approx(each["adds"] / 2, rel=0.1)


def test_inequality_10_takes_the_deviation_measured() -> None:
    eq_6, wide = mix.least_buffer(1500, 1451), mix.least_buffer(1500, 1451, 4.0)
    assert wide - eq_6 == pytest.approx(3 * 2.05 * mix.spread() * 1500 * 0.99)
