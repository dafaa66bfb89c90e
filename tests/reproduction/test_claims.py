"""Claims: numbers against the bands of statements, counted apart by what they hold against what."""

import json
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.outcomes import around

from forebay.effort import Effort
from forebay.outcome import Metric
from forebay.report import Line, Panel, Picture
from forebay.reproduction import (
    CachedResult,
    Check,
    Reproduction,
    Variants,
    from_document,
    in_words,
)
from forebay.reproduction.claims import Claim
from forebay.reproduction.result import FORMULA, KERNEL, OURS, SIMULATION, count, print_reproduction
from forebay.reproduction.work import Work

CLAIMS = """
title = "Paper Z"
open = "The print can have come from delayed ACKs."
[[claim]]
name = "busy"
says = "the link is busy"
where = "1"
unit = "%"
published = 99
at_least = 98
because = "printed whole"
if_never_idle = 100
[[claim]]
name = "idle"
says = "half of it leaves it idle"
where = "1"
unit = "%"
at_most = 98
because = "direction"
if_never_idle = 100
[[claim]]
name = "set"
says = "the ring"
where = "2"
unit = "packets"
published = 43
because = "64 kB"
cannot_fail = "the scenario sets it"
[[claim]]
name = "delay"
says = "and the delay is half"
where = "3"
at_least = 0.4
at_most = 0.6
because = "a fifth"
miss = "too many flows"
"""
OURS_ALL = {"busy": 99.0, "idle": 99.0, "set": 43, "delay": 0.5}


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """The work of an artefact, "z/fig1"."""
    folder = tmp_path / "z" / "fig1"
    folder.mkdir(parents=True)
    (folder / "claims.toml").write_text(CLAIMS)
    return Work(folder, False, Effort())


metric = partial(around, n=3)


def test_a_claim_within_its_band_holds_and_one_outside_says_why(work: Work) -> None:
    used = metric(99.5, 1.0)
    made = work.judge(OURS_ALL | {"busy": used, "delay": 0.7})
    assert (made.artefact, made.title) == ("z/fig1", "Paper Z")
    assert made.verdicts == [True, False, False]
    assert made.reasons[2] == "0.7, band 0.4 to 0.6; too many flows"
    assert made.rows[0] == ["the link is busy", "1", 99, "at least 98", used, "%"]


def test_the_testbed_s_column_is_held_against_the_same_band(work: Work) -> None:
    played = metric(97.0, 1.0)
    made = work.judge(OURS_ALL, testbed={"busy": played})
    assert made.columns == ["claim", "where", "published", "band", "ours", "Exp. ours", "unit"]
    assert [row[-3:] for row in made.rows[::2]] == [[99.0, played, "%"], [0.5, None, ""]]
    assert made.reasons[0] == "Exp. ours: 97 %, band at least 98; cause not known"
    assert made.drawn == ("published", "ours", "Exp. ours")
    assert work.judge(OURS_ALL | {"idle": 9}, testbed={}).agrees, "not played: not judged"


def test_each_of_two_misses_has_its_own_cause(work: Work) -> None:
    ours, played = OURS_ALL | {"delay": 0.7}, {"delay": 0.9}
    reason = work.judge(ours, testbed=played).reasons[2]
    assert reason.endswith("Exp. ours: 0.9, band 0.4 to 0.6; the same cause")
    with (work.folder / "claims.toml").open("a") as file:
        file.write('testbed_miss = "another kernel"\n')
    assert work.judge(ours, testbed=played).reasons[2] == (
        "0.7, band 0.4 to 0.6; too many flows; Exp. ours: 0.9, band 0.4 to 0.6; another kernel"
    )


@pytest.mark.parametrize(
    ("busy", "reason"),
    [
        (metric(97.9, 1.0), "97.9 %, band at least 98; cause not known"),  # the interval reaches it
        (None, "not measured"),
        (math.nan, "not measured"),
    ],
)
def test_what_is_out_of_the_band_or_not_measured_does_not_hold(work, busy, reason):
    assert work.judge(OURS_ALL | {"busy": busy}).reasons[0] == reason


@pytest.mark.parametrize(
    ("change", "testbed", "wrong"),
    [
        ({"speed": 2.0}, None, "z/fig1: speed stand on one side only"),
        ({}, {"speed": 1.0}, "z/fig1: no claim is called speed"),
    ],
)
def test_numbers_and_statements_must_match(work, change, testbed, wrong):
    with pytest.raises(ValueError, match=wrong):
        work.judge(OURS_ALL | change, testbed=testbed)
    with pytest.raises(ValueError, match="delay stand on one side only"):
        work.judge({name: OURS_ALL[name] for name in ("busy", "idle", "set")})


def test_a_claim_needs_a_band_and_a_known_cause() -> None:
    with pytest.raises(ValueError, match="write at_least, at_most, or both"):
        Claim("a", "says", "1", "why")
    with pytest.raises(ValueError, match="cause is none of"):
        Claim("a", "says", "1", "why", at_least=1, cause="the moon")


def test_shares_fill_one_after_the_other() -> None:
    seen: list[float] = []
    for part in Effort(progress=seen.append).shares(2):
        assert part.progress is not None
        part.progress(0.5)
        part.progress(1.0)
    assert seen == [0.25, 0.5, 0.75, 1.0]
    assert list(Effort().shares(2)) == [Effort(), Effort()]


def test_each_comparison_counts_in_its_own_kind(work: Work) -> None:
    simulated, kernel = count([work.judge(OURS_ALL, testbed={"busy": 97.0})])
    assert (simulated.kind, simulated.rows, simulated.inside) == (SIMULATION, 3, 2)
    assert (simulated.published, simulated.open_to_full, simulated.of_utilization) == (1, 1, 2)
    assert (kernel.kind, kernel.rows, kernel.inside, kernel.published) == (KERNEL, 1, 0, 1)
    said = in_words([simulated, kernel])
    assert said[0] == (
        f"{SIMULATION}: 2 of 3 rows in their band; 1 of the 3 have a number in print"
    )
    assert "2 would also pass with a link that is never idle" in said[-1]
    with (work.folder / "claims.toml").open("a") as file:
        file.write(f'kind = "{FORMULA}"\n')  # a claim's own goes before its artefact's
    kinds = [each.kind for each in work.judge(OURS_ALL).checks]
    assert kinds == [SIMULATION, SIMULATION, FORMULA]


def test_what_cannot_fail_is_shown_and_not_judged(work, capsys):
    found = work.judge(OURS_ALL | {"delay": 0.7})
    assert len(found.rows) == len(found.verdicts) == 3
    assert found.unjudged == ["the ring (2): 43 packets, printed 43; the scenario sets it"]
    print_reproduction(found)
    shown = " ".join(capsys.readouterr().out.split())
    assert "No verdict: the ring (2): 43 packets" in shown and "1 of 3 rows" in shown


def test_what_a_quick_run_leaves_out_is_named_not_shown(work: Work) -> None:
    found = work.judge(OURS_ALL, left_out=("idle", "delay"))
    assert [row[0] for row in found.rows] == ["the link is busy"]
    assert "Not tried by a quick run: half of it leaves it idle." in found.notes


def test_a_maker_that_says_nothing_claims_least() -> None:
    found = Reproduction("Z.a", "Z", ["x"], [[1], [2]], ["", "far"])
    assert found.checks == [Check(OURS, True, False), Check(OURS, False, False)]
    with pytest.raises(ValueError, match="no kind of comparison"):
        Reproduction("Z.a", "Z", ["x"], [[1]], [""], checks=[Check("a guess", True, False)])


def variants(work: Work) -> Variants:
    return work.variants(
        {
            "each packet": {"busy": 97.0, "idle": 90.0},
            "delayed": {"busy": metric(98.4, 0.2), "idle": 99.0},
            "large": {"busy": 10231.4, "idle": 0.0333333},
        },
        left_out=("delay",),
    )


def test_variants_stand_side_by_side_and_the_first_gives_the_verdict(work, capsys):
    found = variants(work)
    assert found.columns == ["row", "band", "each packet (verdict)", "delayed", "large"]
    assert found.cells() == [
        ["the link is busy", "at least 98", "97 out", "98.4 ±0.2", "10231"],
        ["half of it leaves it idle", "at most 98", "90", "99 out", "0.03333"],
        ["in their band, of 2", "", "1", "1", "2"],
    ]
    print_reproduction(work.judge(OURS_ALL, variants=found))
    assert "can have come from delayed ACKs" in " ".join(capsys.readouterr().out.split())


def test_kept_results_come_back_equal(work: Work) -> None:
    bounds = ((2.5, 3.5), (4.0, 4.5))
    lines = [Line([1, 2], [3.0, 4.0], "a", "dots"), Line([1, 2], [3.0, 4.0], y_bounds=bounds)]
    open_ended = Metric(value=1.5, low=1.0, high=None, n=3)
    drawn = Reproduction(
        "Z.tab1", "Table 1", ["a", "b", "c"], [["r", open_ended, None]], ["far"], notes=["n"],
        labels=2, drawn=("b",), unit="%", units=["ms"],
        picture=Picture([Panel(lines, "x", "y", "t")], 2),
    )  # fmt: skip
    of_numpy = Reproduction("Z.a", "t", ["a"], [[np.float64(0.5)]], [""])
    for made in (drawn, of_numpy, work.judge(OURS_ALL, variants=variants(work))):
        kept = CachedResult(made, seeds=4, quick=True, wall_s=1.25)
        assert from_document(json.loads(json.dumps(kept.to_document()))) == kept
