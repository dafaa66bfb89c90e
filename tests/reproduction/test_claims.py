"""Claims: a number against the band of a statement."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from forebay.effort import Effort
from forebay.outcome import Metric
from forebay.reproduction.claims import Claim, judge

FILE = """
[[claim]]
name = "full"
says = "the link is full"
where = "2"
unit = "%"
published = 100
at_least = 99
because = "full"

[[claim]]
name = "delay"
says = "and the delay is half"
where = "3"
at_least = 0.4
at_most = 0.6
because = "a fifth"
miss = "too many flows"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "claims.toml").write_text(FILE)
    return tmp_path


def test_a_claim_within_its_band_holds_and_one_outside_says_why(folder: Path) -> None:
    used = Metric(value=99.5, low=98.0, high=100.0, n=3)
    made = judge("X.y", "title", folder, {"full": used, "delay": 0.7})
    assert made.verdicts == [True, False]
    assert made.reasons == ["", "0.7, band 0.4 to 0.6; too many flows"]
    assert made.rows[0] == ["the link is full", "2", 100, "at least 99", used, "%"]


def test_the_testbed_s_column_is_held_against_the_same_band(folder: Path) -> None:
    ours, played = {"full": 99.5, "delay": 0.5}, Metric(value=98.0, low=97.0, high=99.0, n=2)
    made = judge("X.y", "title", folder, ours, testbed={"full": played})
    assert made.columns == ["claim", "where", "published", "band", "ours", "Exp. ours", "unit"]
    assert [row[-3:] for row in made.rows] == [[99.5, played, "%"], [0.5, None, ""]]
    assert made.reasons == ["Exp. ours: 98 %, band at least 99; cause not known", ""]
    assert made.drawn == ("published", "ours", "Exp. ours")
    assert judge("X.y", "title", folder, ours, testbed={}).agrees, "not played: not judged"


def test_each_of_two_misses_has_its_own_cause(folder: Path) -> None:
    ours, played = {"full": 99, "delay": 0.7}, {"delay": 0.9}
    made = judge("X.y", "title", folder, ours, testbed=played)
    assert made.reasons[1].endswith("Exp. ours: 0.9, band 0.4 to 0.6; the same cause")
    with (folder / "claims.toml").open("a") as file:
        file.write('testbed_miss = "another kernel"\n')
    made = judge("X.y", "title", folder, ours, testbed=played)
    assert made.reasons[1] == (
        "0.7, band 0.4 to 0.6; too many flows; Exp. ours: 0.9, band 0.4 to 0.6; another kernel"
    )
    with pytest.raises(ValueError, match="no claim is called speed"):
        judge("X.y", "title", folder, {"full": 99, "delay": 0.5}, testbed={"speed": 1.0})


def test_an_interval_does_not_widen_the_band(folder: Path) -> None:
    used = Metric(value=98.9, low=98.0, high=99.9, n=3)
    made = judge("X.y", "title", folder, {"full": used, "delay": 0.5})
    assert made.reasons[0] == "98.9 %, band at least 99; cause not known"


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_what_was_not_measured_does_not_hold(folder: Path, nothing: float | None) -> None:
    made = judge("X.y", "title", folder, {"full": nothing, "delay": 0.5})
    assert made.reasons == ["not measured", ""]


def test_numbers_and_statements_must_match(folder: Path) -> None:
    with pytest.raises(ValueError, match="delay, speed stand on one side only"):
        judge("X.y", "title", folder, {"full": 1.0, "speed": 2.0})


def test_a_claim_needs_a_band() -> None:
    with pytest.raises(ValueError, match="write at_least, at_most, or both"):
        Claim("a", "says", "1", "why")


def test_shares_fill_one_after_the_other() -> None:
    seen: list[float] = []
    for part in Effort(progress=seen.append).shares(2):
        assert part.progress is not None
        part.progress(0.5)
        part.progress(1.0)
    assert seen == [0.25, 0.5, 0.75, 1.0]
    assert list(Effort().shares(2)) == [Effort(), Effort()]
