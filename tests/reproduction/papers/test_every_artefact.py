"""Every artefact: its files are whole, and a run of it says what its page says."""

from typing import Any

import pytest
from matplotlib.figure import Figure
from tests.cases import cases

import forebay
from forebay.effort import Effort
from forebay.report.figures import style
from forebay.reproduction import Entry, entries, find
from forebay.reproduction.claims import Claim, read_claims
from forebay.reproduction.page import draw_reproduction

GREEN = """
A.eq6 A.fig4 A.fig5 A.fig6 A.fig7 A.fig12 A.fig12-model A.fig14 A.headline A.villamizar-song
B.fig2 B.text D.delay D.fig1 D.fig4 D.fig5 D.fig6 D.fig7 D.table2 D.table3 D.text
"""
RED = {
    **dict.fromkeys(GREEN.split(), ""),
    "A.fig8": "deviation normal",
    "A.fig9": "follows",
    "A.fig10": "law slower-access",
    "A.fig11": "holds",
    "A.fig13": "enough lengths",
    "A.fig16": "matches",  # of the testbed's runs
    "A.goodput-loss-fairness": "law law-least fairness",
    "A.memory": "sram",
    "A.morris": "utilization",
    "A.oc3-campaign": "need-250",
    "A.one-nth": "needed",
    "A.pareto": "utilization",
    "A.red": "many few",
    "A.scope": "limited-6 latency-linux",
    "B.fig3": "film-hurst film-knee",
    "B.fig4": "saturation-1 saturation-2 buffer-1 buffer-2 more-with-one more-with-two",
    "B.fig7": "buffer-0 buffer-1 buffer-2",
    "C.fast-edge": None,
    "C.hops": None,
    "D.curves": "between-right",
    "D.deployment": "reno ctcp",
    "D.fig1-simulated": "distance-200",
    "D.fig9": "utilization-67 utilization-90",
    "D.fig10": "deviation-28 deviation-67 deviation-90",
    "D.fig11": "utilization drops-28",
    "D.fig12": "spare-28 spare-67 spare-90",
    "D.table3-simulated": "mean-bic mean-cubic-beta-0.8 mean-cubic-beta-0.7",
}
"""What a quick run says is red: findings, each with its reason in the artefact's page; None if that
is the page's alone. The runs are deterministic: a change of one is a change of the simulator.
"""
WHOLE = {"B.fig2", "B.fig3", "C.fast-edge", "C.hops"}
"""Those that are not quick, but take no longer."""
NEAR = {"ratio-67", "ratio-90", "nearer-50", "nearer-200"}
"""Claims of paper D on the edge of their bands: a quick run may see either side."""
SLOW = {
    "A.fig4", "A.fig8", "A.fig10", "A.fig11", "A.fig12", "A.fig13", "A.fig14", "A.fig16",
    "A.goodput-loss-fairness", "A.headline", "A.oc3-campaign", "A.one-nth", "A.red", "A.scope",
    "B.fig4", "B.fig7", "C.fast-edge",
}  # fmt: skip
PAGES = {"A": "# Appenzeller et al. 2004", "D": "# Yang et al. 2013"}


def claims_of(entry: Entry) -> list[Claim]:
    """Return an artefact's claims; some judge printed rows instead."""
    return read_claims(entry.folder) if (entry.folder / "claims.toml").exists() else []


@pytest.mark.parametrize("name", cases(RED, lambda name: name not in SLOW))
def test_a_run_says_what_the_page_says_and_is_drawn(name, tmp_path):
    entry, seeds = find(name), 5 if name.startswith("B") else 1
    made = entry.load().reproduce(Effort(seeds=seeds, jobs=2), quick=name not in WHOLE)
    claims = {claim.says: claim for claim in claims_of(entry)}
    out = [row[0] for row, good in zip(made.rows, made.verdicts, strict=True) if not good]
    red = {claims[says].name if claims else says for says in out}
    assert made.artefact == entry.name
    assert RED[name] is None or red - NEAR == set(RED[name].split()), made.reasons
    assert all(claims[says].miss for says in out), "a red row says why"
    assert len(made.rows) == len(claims) or RED[name] is not None
    if name[0] in "AD":
        draw_reproduction(made, tmp_path / "figure.svg")
        assert (tmp_path / "figure.svg").stat().st_size > 5_000


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_its_files_are_whole(entry):
    page, claims = (entry.folder / "README.md").read_text(), claims_of(entry)
    assert page.startswith(PAGES.get((entry.alias or "")[:1], "# "))
    asked = f"forebay reproduce {entry.alias or entry.name.replace('/', '.')}"
    assert asked in page or entry.paper == "hisamatsu-2007", "paper C has one page for all"
    assert len({each.name for each in claims}) == len({each.says for each in claims}) == len(claims)
    assert all(each.because and each.where and each.says for each in claims)
    scenario = entry.folder / "scenario.toml"
    assert not scenario.exists() or forebay.load(scenario).name


def test_every_claim_can_fail_or_has_no_verdict():
    """A number that a scenario sets is no evidence, whatever band is put around it."""
    found = {
        (entry.alias, claim.name)
        for entry in entries() for claim in claims_of(entry) if claim.cannot_fail
    }  # fmt: skip
    assert found == {
        ("A.fig16", "hidden"), ("A.morris", "bdp"), ("A.morris", "fraction"),
        ("A.fig4", "halves"), ("A.fig5", "halves"), ("A.fig6", "halves"),
        ("B.fig2", "rate"), ("B.fig3", "rate"), ("B.fig3", "hurst"), ("B.fig3", "knee"),
        ("B.fig4", "lower"), ("A.oc3-campaign", "runs"), ("A.campaign", "runs"),
        ("A.appendix-a", "first"),
    }  # fmt: skip


def test_no_empty_axes_are_drawn(tmp_path, monkeypatch):
    """Five panels in two columns leave a sixth place: nothing stands there."""
    seen: list[Figure] = []
    monkeypatch.setattr(style, "save", lambda figure, path: seen.append(figure))
    made: Any = find("D.table3-simulated").load().reproduce(Effort(seeds=1, jobs=1), quick=True)
    draw_reproduction(made, tmp_path / "a.svg")
    assert [axes.axison for axes in seen[0].axes] == [True] * 5 + [False]
